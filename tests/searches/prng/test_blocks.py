"""Few values of V8 do not show where its block of 64 numbers ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.searches.prng.conftest import Analyse
from weft.searches.prng.blocks import block_size, draws_to_block_end
from weft.searches.prng.families import family_named
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis, Skips

V8 = family_named("v8")
STATE = V8.state_text(V8.seeding(2024))


def at(start: int, skip: int = 0) -> Hypothesis:
    skips = Skips.constant(skip)
    return Hypothesis("v8", "scaled", 1 << 32, state=STATE, skips=skips, start=start)


@pytest.mark.parametrize(
    ("start", "skip", "draws", "left"),
    [
        (0, 0, 10, 54),
        (0, 0, 63, 1),
        (0, 0, 64, None),
        (60, 0, 3, 1),
        (60, 0, 5, None),
        (0, 2, 10, 12),
        (128, 0, 10, 54),
        (0, 0, 0, None),
    ],
)
def test_next_draws_end_with_the_block_unless_its_end_is_known(
    start: int, skip: int, draws: int, left: int | None
) -> None:
    assert draws_to_block_end(at(start, skip), draws) == left


def test_a_seed_gives_the_place_and_others_have_no_blocks() -> None:
    seeded = Hypothesis("v8", "scaled", 1 << 32, seed=5)
    assert draws_to_block_end(seeded, 10) is None
    assert block_size(Hypothesis("java", "bounded", 10, seed=5)) == 0


def test_a_state_within_a_block_knows_what_is_left_of_it() -> None:
    state = V8.read_state(STATE)
    for _ in range(10):
        V8.step(state)
    inside = Hypothesis("v8", "scaled", 1 << 32, state=V8.state_text(state))
    assert draws_to_block_end(inside, 4) == 50


def test_varying_skips_count_as_far_as_they_are_known() -> None:
    listed = Hypothesis("v8", "scaled", 1 << 32, state=STATE, skips=Skips((0, 3), (1, 2, 0)))
    assert draws_to_block_end(listed, 9) == 64 - 7


@pytest.mark.parametrize(("start", "draws"), [(0, 12), (40, 12), (3, 70)])
def test_predictions_of_v8_stay_within_what_is_known(
    analyse: Analyse, tmp_path: Path, start: int, draws: int
) -> None:
    """Draws of one block are continued at most to its end, and the text says so.

    From start 40, twelve more are right; the draws alone do not show that.
    """
    stream = generate(at(start), draws + 120)
    file = tmp_path / "draws.txt"
    file.write_text("".join(f"{draw}\n" for draw in stream[:draws]))
    plain = ("--skips", "0", "--starts", "0", "--corrupt", "0", "--backend", "serial", "-q")
    words = (file, "--families", "v8", "--modulus", str(1 << 32), *plain)
    answer = json.loads(analyse(*words, "--json").stdout)["answer"]
    predicted = answer["found"][0]["next"]
    known = 100 if draws >= 64 else 64 - start - draws
    assert len(predicted) == (100 if draws >= 64 else 64 - draws)
    assert predicted[:known] == stream[draws : draws + known]
    assert ("do not show how many" in analyse(*words).stdout) == (draws < 64)
