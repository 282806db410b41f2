"""Histories of real runtimes are found, with the next 50 draws exact.

`make test` searches some recorded ones with small seeds. In `make chaos`, every entry is generated
by its runtime with a random seed, and searched through the whole command's request with the call
named; WEFT_PRNG_ZOO names a file of histories generated elsewhere (`zoo.fresh`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.searches.prng.zoo.exhibits import (
    ENTRIES,
    NEXT,
    RUNTIMES,
    ZooEntry,
    named_request,
)
from tests.searches.prng.zoo.fresh import (
    HISTORIES,
    fresh_history,
    make_history,
    predicted,
    workers_for,
)
from tests.searches.prng.zoo.record import KEPT, RECORDED
from weft.runs.execution import Execution
from weft.searches.prng import verdict
from weft.searches.prng.answer import StreamCandidate
from weft.searches.prng.attack import AttackPlan, Units
from weft.searches.prng.attacks.brute import ATTACK

BY_NAME = {entry.name: entry for entry in ENTRIES}


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


def test_history_made_elsewhere_is_taken_from_the_file_that_is_named(
    tmp_path: Path, require_tool: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = BY_NAME["python randrange(m) m=1000"]
    history = make_history(entry, tmp_path)
    path = tmp_path / "histories.jsonl"
    path.write_text(history.to_line(), encoding="utf-8")
    assert (len(history.draws), len(history.next)) == (entry.count, NEXT)
    assert fresh_history(entry, tmp_path, require_tool) != history
    monkeypatch.setenv(HISTORIES, str(path))
    assert fresh_history(entry, tmp_path, require_tool) == history


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_history_made_afresh_is_found_and_predicted(
    entry: ZooEntry, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    history = fresh_history(entry, tmp_path, require_tool)
    print(f"{entry.name} seed {history.seed}", flush=True)
    execution = Execution(tmp_path / "run", workers_for(entry, history))
    assert predicted(entry, history, execution) == history.next
