"""Histories of real runtimes: found, with the next 50 draws exact.

Some recorded ones, with small seeds, in `make test`. In `make chaos` every entry is made afresh
by its runtime with a random seed, and searched through the whole command's request with the call
named; WEFT_PRNG_ZOO_SEEDS=small takes seeds below 2^20, where a full turn would take too long.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.searches.prng.zoo.exhibits import (
    ENTRIES,
    NEXT,
    RUNTIMES,
    make_draws,
    named_request,
)
from tests.searches.prng.zoo.record import KEPT, RECORDED
from weft.runs.execution import Execution
from weft.searches.prng import verdict
from weft.searches.prng.answer import StreamCandidate
from weft.searches.prng.attack import AttackPlan, Units
from weft.searches.prng.attacks.brute import ATTACK
from weft.searches.prng.history import History
from weft.searches.prng.run import execute

BY_NAME = {entry.name: entry for entry in ENTRIES}
LEAST_FOUND = 95
"""Per cent of the zoo that must be found."""


def recorded_cases() -> list[tuple[str, int, tuple[int, ...], list[int]]]:
    lines = [json.loads(line) for line in RECORDED.read_text(encoding="utf-8").splitlines()]
    return [(line["entry"], line["seed"], tuple(line["draws"]), line["next"]) for line in lines]


def test_zoo_has_sixty_entries_of_all_runtimes() -> None:
    assert len({entry.name for entry in ENTRIES}) == len(ENTRIES) >= 60
    assert {entry.runtime for entry in ENTRIES} == set(RUNTIMES)
    assert [name for name, *_ in recorded_cases()] == list(KEPT)


@pytest.mark.parametrize(("name", "seed", "draws", "following"), recorded_cases())
def test_recorded_history_with_a_small_seed_is_found_and_predicted(
    name: str, seed: int, draws: tuple[int, ...], following: list[int]
) -> None:
    entry = BY_NAME[name]
    request = named_request(entry)
    case = request.case(draws)
    (plan,) = [item for item in ATTACK.plan(case) if isinstance(item, AttackPlan)
               and (item.family, item.output) == entry.covered_by]  # fmt: skip
    matches = ATTACK.run(case, plan, Units(0, 1))
    candidates = [StreamCandidate("", match.hypothesis, plan.tried) for match in matches]
    ranked = verdict.score_all(candidates, {"": draws}, request)
    assert verdict.is_certain(ranked, request)
    assert ranked[0].hypothesis.seed == seed
    assert list(ranked[0].next[:NEXT]) == following


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_zoo_made_afresh_is_found_and_predicted(
    tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    for words in RUNTIMES.values():
        require_tool(words[0])
    bits = 20 if os.environ.get("WEFT_PRNG_ZOO_SEEDS") == "small" else 31
    chosen = os.environ.get("WEFT_PRNG_ZOO_ONLY", "")
    source, lost = random.Random(), []
    entries = [entry for entry in ENTRIES if chosen in entry.name]
    for number, entry in enumerate(entries):
        seed = source.getrandbits(bits)
        draws, following = make_draws(entry, seed, tmp_path)
        run = execute(History(draws), named_request(entry), Execution(tmp_path / str(number), 2))
        answer = run.answer if isinstance(run.answer, dict) else {}
        found = answer.get("found") or [{"next": []}]
        exact = list(found[0]["next"][:NEXT]) == following
        print(f"{'found' if exact else 'LOST '} {entry.name} seed {seed}", flush=True)
        if not exact:
            lost.append(entry.name)
    print(
        f"zoo: {len(entries) - len(lost)} of {len(entries)} found, next {NEXT} exact; lost: {lost}"
    )
    assert 100 * (len(entries) - len(lost)) >= LEAST_FOUND * len(entries)
