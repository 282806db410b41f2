"""The order of guesses: planted facts decide it, answers stay first, and the tool's twin agrees."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from weft.searches.arc import verdict
from weft.searches.arc.evidence import Evidence
from weft.searches.arc.invariants import OutputInvariants
from weft.searches.arc.plausibility import BROKEN_BITS, MOST_CONSTANTS, Breaks, Plausibility
from weft.searches.arc.program import Program, parse
from weft.searches.arc.ranking import FEATURES, MOST, Ranking, points, weights
from weft.searches.arc.reasons import weighed
from weft.searches.arc.score import is_weighed_right
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid, ValueStage, encode
from weft.searches.arc.verdict import LIKELY, MARGIN, Confidence, Group, decide, ordered

GIVEN = [[1, 0], [0, 0]], [[0, 1], [0, 0]], [[0, 0], [1, 0]]
OUTPUTS = [[1, 2], [2, 2]], [[2, 1], [2, 2]], [[2, 2], [1, 2]]
TASK = ArcTask(
    "fill",
    tuple(Pair(Grid.of(a), Grid.of(b)) for a, b in zip(GIVEN, OUTPUTS, strict=True)),
    (Grid.of([[0, 0], [0, 1]]),),
)
LIKE_TRAINING, UNLIKE = Grid.of([[2, 2], [2, 1]]), Grid.of([[3, 3, 3]])


def candidate(text: str, output: Grid, bits: int) -> ProgramCandidate:
    return ProgramCandidate(parse(text), bits * 1000, encode(ValueStage.GRID, output), 1)


def guess(number: int, output: Grid, bits: int, rule: str = "cells") -> ProgramCandidate:
    text = {"cells": f"own={number} -> 2; else own", "scanned": "top_left: else own"}[rule]
    return candidate(f'return {rule}(I, "{text}")\n', output, bits)


def group_of(output: Grid, bits: int, **other: Any) -> Group:
    return Group(
        (output,), (Program((), "cells", "else own"),), bits * 1000, bits * 1000, 1, **other
    )


def test_output_unlike_all_of_training_is_guessed_after_a_longer_program() -> None:
    guesses = [guess(1, UNLIKE, 40), guess(2, LIKE_TRAINING, 44)]
    by_cost = decide([], guesses, exhausted=False)
    ranking = Ranking(Plausibility(TASK), (), guesses)
    ranked = decide([], guesses, exhausted=False, rank=ranking.points)
    assert [g.outputs[0] for g in by_cost.groups] == [UNLIKE, LIKE_TRAINING]
    assert [g.outputs[0] for g in ranked.groups] == [LIKE_TRAINING, UNLIKE]


def test_features_say_what_is_known_of_a_group() -> None:
    guesses = [guess(n, UNLIKE, 90) for n in range(1, 5)]
    short = candidate("return transpose(I)\n", LIKE_TRAINING, 9)
    ranking = Ranking(Plausibility(TASK), [short], guesses)
    likely = ranking.features(group_of(LIKE_TRAINING, 9, evidence=Evidence(3, 2, inconsistent=2)))
    assert likely == {
        **dict.fromkeys(FEATURES, 0), "bits_to_40": 49, "inconsistent": 1,
    }  # fmt: skip
    unlikely = ranking.features(group_of(UNLIKE, 90))
    assert tuple(unlikely) == FEATURES == tuple(weights())
    assert [unlikely[name] for name in ("bits_to_40", "bits_to_80", "bits_to_140")] == [
        80,
        40,
        2,
    ], "four programs of 90 bits weigh as much as one of 82"
    assert unlikely["guessed"] == unlikely["violated"] == 1
    assert unlikely["output_constants"] == MOST["output_constants"], "more are not counted"


def test_breaks_lengthen_programs_by_kind_and_are_looked_for_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outputs = Plausibility(TASK)
    assert outputs.of((LIKE_TRAINING,)) == Breaks(0, 0, 0)
    unlike = outputs.of((UNLIKE,))
    assert unlike.violated > 0
    assert unlike.constants > MOST_CONSTANTS
    assert unlike.bits == BROKEN_BITS * (1 + MOST_CONSTANTS), "no change where sizes differ"
    assert Breaks(0, 1, 3).bits == 2 * BROKEN_BITS
    monkeypatch.setattr(OutputInvariants, "broken", None)
    assert outputs.of((UNLIKE,)) is unlike


@pytest.mark.parametrize("name", FEATURES)
def test_each_weight_has_the_sign_of_what_it_counts(name: str) -> None:
    features = {**dict.fromkeys(FEATURES, 0), name: 1}
    own = points(weights(), features)
    assert own <= 0 if name == "independent" else own >= 0
    assert own == math.fsum(weights()[key] * value for key, value in features.items())


# -- the weighed explanation ----------------------------------------------------------------------


def verdict_at(permille: int, needed: int) -> verdict.TaskVerdict:
    """Judge an unlikely explanation, and a guess that ranks before it."""
    explanation = candidate("return transpose(I)\n", UNLIKE, 30)
    guesses = [guess(1, LIKE_TRAINING, 35)]
    return decide(
        [explanation], guesses, exhausted=False, needed_permille=needed,
        examine=lambda *_: Evidence(2, 2, inconsistent=3),
        assess=lambda *_: Confidence(permille, {}, {}),
        rank=Ranking(Plausibility(TASK), [explanation], guesses).points,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("permille", "needed", "place"),
    [(LIKELY - 1, 950, 1), (LIKELY, 950, 0), (300, 300, 0), (299, 300, 1)],
)
def test_explanation_is_first_if_likely_or_answered(permille: int, needed: int, place: int) -> None:
    own = verdict_at(permille, needed)
    assert own.weighing is not None
    assert own.weighing.place == place
    assert own.groups[place].outputs == (UNLIKE,), "the weighed one, wherever it is"
    assert (own.outcome is verdict.Outcome.SOLVED) == (permille >= needed)


def test_confidence_is_counted_and_told_of_the_weighed_group() -> None:
    raw: dict[str, Any] = {
        "price_millibits": 1, "alone_millibits": 0, "limit_millibits": 9, "margin_millibits": None,
        "needed_millibits": None, "needed_permille": 950, "place": 1,
        "confidence": {"permille": 120, "features": {}, "points": {}},
    }  # fmt: skip
    assert weighed(raw) == "refused: confidence in guess 2 0.120, 0.950 needed"
    groups = [{"outputs": [grid.rows()]} for grid in (LIKE_TRAINING, UNLIKE)]
    answer: Any = {"groups": groups, "weighing": raw}
    assert is_weighed_right(answer, (UNLIKE,))
    assert not is_weighed_right(answer, (LIKE_TRAINING,))


# -- fitting --------------------------------------------------------------------------------------


@pytest.fixture
def fitting(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "tools")
    return importlib.import_module("fit_arc_ranking")


def planted(count: int, right: Callable[[int], int]) -> list[dict[str, Any]]:
    """Puzzles of three groups with varied features; `right` gives the right group of each."""
    spread = [[n % 40, 0, 0, n % 2, (n // 2) % 2, 0, n % 3, 0, n % 4] for n in range(count + 2)]
    return [{"groups": spread[n : n + 3], "right_groups": [right(n)]} for n in range(count)]


def test_fit_finds_the_planted_weight_and_keeps_signs(fitting: Any) -> None:
    def fewest(n: int) -> int:
        constants = [(n + k) % 3 for k in range(3)]
        return constants.index(min(constants))

    fitted = fitting.fit(planted(120, fewest))
    assert max(fitted, key=lambda name: abs(fitted[name])) == "output_constants"
    assert fitted["independent"] <= 0 <= fitted["guessed"]


def test_tool_places_groups_as_the_product_orders_them(fitting: Any) -> None:
    kinds = ["cells", "scanned", "cells", ""]
    for n in range(60):
        features = [[(n * 7 + k * 5) % 41, 0, 0, 0, (n + k) % 2, 0, 0, 0, k % 4] for k in range(4)]
        groups = [_group(k, kinds[k]) for k in range(4)]
        values = [points(weights(), dict(zip(FEATURES, f, strict=True))) for f in features]
        for permille in (LIKELY - 1, LIKELY):
            order = ordered(groups, _points_of(groups, values), _weighing(permille))
            row = {"groups": features, "right_groups": [n % 4]}
            assert fitting.place(row, weights(), permille) == order.index(groups[n % 4])


def _points_of(groups: Sequence[Group], values: Sequence[int]) -> verdict.Rank:
    return lambda group: values[list(groups).index(group)]


def _group(number: int, rule: str, millibits: int = 1) -> Group:
    output = Grid.of([[number]])
    program = Program(("transpose",), rule, "else own")
    return Group((output,), (program,), millibits, millibits, 1)


def _weighing(permille: int) -> verdict.Weighing:
    return verdict.Weighing(1, 0, 9, None, None, Confidence(permille, {}, {}), 950)


def test_without_a_ranking_another_kind_comes_second_within_its_bits() -> None:
    for behind, expected in ((MARGIN, [0, 2, 1]), (MARGIN + 1, [0, 1, 2])):
        groups = [_group(0, "cells"), _group(1, "cells"), _group(2, "scanned", 1 + behind)]
        assert [groups.index(g) for g in ordered(groups, None)] == expected
