"""Confidence: integer arithmetic equals a plain twin, is monotone, and decides real searches."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.arcruns import TINY, Here, made, scattered, solved, write_tasks
from weft.errors import UsageError
from weft.searches.arc.confidence import (
    LIMITED,
    RIVAL_BITS,
    SURE,
    ConfidenceModel,
    FeaturePoints,
    model,
)
from weft.searches.arc.ops.registry import REGISTRY
from weft.searches.arc.options import permille
from weft.searches.arc.program import Program
from weft.searches.arc.recorded import read_run
from weft.searches.arc.support import (
    BEHAVIOUR,
    FAR,
    FEATURES,
    MOST_BITS,
    SUPPORT,
    independent,
    joint_bits,
    outweighs,
    repeated_outputs,
    runs,
    symmetry_gap,
    target_bits,
)
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid

pytestmark = pytest.mark.xdist_group("arc-runs")
MODELS = ("whole", "behaviour", "support", "behaviour+support")
BEST = {
    "pairs": 9, "surplus_bits": 999, "independent": 9, "agreeing": 7,
    "price_margin_bits": 99, "posterior_bits": 99, "plausible_bits": 99, "lists_agree": 9,
    "tests": 1,
}  # fmt: skip
"""The best value of each feature whose best value is not 0."""
PLAIN = {"price_margin_bits": 99, "repeated_outputs": 0}
"""The values that a model without features still reads."""


def plain_permille(own: ConfidenceModel, features: dict[str, int]) -> float:
    """The plain twin: exact sums, and the logistic function on floats."""
    total = Fraction(own.base_points)
    for feature in own.features:
        reached = [t for t in feature.thresholds if features[feature.name] >= t]
        total += Fraction(feature.points[len(reached)])
    if total > own.bend_points:
        total = own.bend_points + (total - own.bend_points) * Fraction(own.slope_permille, 1000)
    same = features["repeated_outputs"] >= 1
    most = LIMITED if same or features["price_margin_bits"] < RIVAL_BITS else 1000
    return min(most, 1000 / (1 + math.exp(-float(total / 1000))))


@pytest.mark.parametrize("name", MODELS)
def test_integer_confidence_equals_the_logistic_function(name: str) -> None:
    own = model(name)
    for step in range(400):
        features = {f: (step * (7 + i) // 3) % (3 + i * 5) for i, f in enumerate(FEATURES)}
        assert abs(own.confidence_permille(features) - plain_permille(own, features)) <= 0.63, (
            "half a permille, and less than a point"
        )


def test_rival_limits_the_confidence_whatever_else_speaks_for_an_answer() -> None:
    best = {**dict.fromkeys(FEATURES, 0), **BEST}
    rivalled, clear = ({**best, "price_margin_bits": bits} for bits in (3, 4))
    assert model().confidence_permille(rivalled) == LIMITED < SURE
    assert model().confidence_permille(clear) > SURE


@pytest.mark.parametrize("name", MODELS)
def test_pairs_with_equal_outputs_limit_the_confidence(name: str) -> None:
    best = {**dict.fromkeys(FEATURES, 0), **BEST}
    assert model(name).confidence_permille(best) > LIMITED
    assert model(name).confidence_permille({**best, "repeated_outputs": 1}) == LIMITED


def test_points_above_the_bend_count_by_its_slope() -> None:
    feature = FeaturePoints("price_margin_bits", (4, 5), (0, 1000, 3000))
    table = model().least_points
    for slope, bent in ((1000, 3000), (500, 2000), (2000, 5000)):
        own = ConfidenceModel(0, 1000, slope, (feature,), table)
        at, above = (own.confidence_permille({**PLAIN, "price_margin_bits": n}) for n in (4, 5))
        assert at == 731
        assert abs(above - 1000 / (1 + math.exp(-bent / 1000))) < 1


def test_table_is_the_logistic_function_rounded_and_ascending() -> None:
    table = model().least_points
    assert len(table) == 999
    assert list(table) == sorted(set(table))
    for n, least in enumerate(table, 1):
        assert abs(1000 / (1 + math.exp(-least / 1000)) - (n - 0.5)) < 0.2


@pytest.mark.parametrize("name", MODELS)
def test_confidence_never_falls_with_more_evidence(name: str) -> None:
    """Every feature is monotone: its points only fall away from its best value."""
    for feature in model(name).features:
        points = list(feature.points)
        rising = feature.name in BEST and feature.name != "tests"
        assert points == sorted(points, reverse=not rising), feature.name


@pytest.mark.parametrize(
    ("name", "left_out"), [("behaviour", BEHAVIOUR), ("support", SUPPORT), ("whole", ())]
)
def test_models_of_ablations_do_without_their_features(
    name: str, left_out: tuple[str, ...]
) -> None:
    names = {feature.name for feature in model(name).features}
    assert names <= set(FEATURES) - set(left_out)


@pytest.mark.parametrize("name", MODELS)
def test_few_pairs_need_more(name: str) -> None:
    best = {**dict.fromkeys(FEATURES, 0), **BEST}
    sure = model(name).confidence_permille(best)
    assert sure >= model(name).confidence_permille({**best, "pairs": 2})


def test_threshold_counts_from_its_own_value_on() -> None:
    feature = FeaturePoints("bits", (10, 20), (0, -5, -9))
    assert [feature.of(n) for n in (9, 10, 19, 20, 99)] == [0, -5, -5, -9, -9]


def test_features_are_counted_as_documented() -> None:
    alike = [Program(("mirror_rows",)), Program(("mirror_rows", "trim")), Program(("trim",))]
    assert independent(alike) == 2
    assert independent([]) == 0
    assert runs(Grid.of([[1, 1, 2], [0, 0, 0]])) == 3
    same = Pair(Grid.of([[1, 0]]), Grid.of([[1, 0]]))
    other = Pair(Grid.of([[1, 0]]), Grid.of([[1, 5]]))
    assert target_bits([same]) == 0
    assert target_bits([other, other]) == 2 * target_bits([other]) > 0


def test_pairs_that_repeat_an_output_are_counted() -> None:
    pairs = [Pair(Grid.of([[n]]), Grid.of([[colour]])) for n, colour in ((1, 4), (2, 5), (3, 4))]
    task = ArcTask("sorts", tuple(pairs), (Grid.of([[6]]),))
    assert repeated_outputs(task) == 1
    assert repeated_outputs(ArcTask("all differ", tuple(pairs[:2]), task.test)) == 0


def candidate(name: str, bits: int, outputs: bytes) -> ProgramCandidate:
    return ProgramCandidate(Program((name,)), 1000 * bits, outputs, 1)


def test_programs_weigh_by_their_length_and_all_that_agree_count() -> None:
    own, other = candidate("trim", 10, b"a"), candidate("transpose", 14, b"b")
    assert outweighs([own, other], b"a") == 4
    assert outweighs([own, other], b"b") == -4
    many = [candidate("mirror_down", 18, b"b") for _ in range(4)]
    assert outweighs([own, *many], b"a") == 0, "four of 18 bits weigh as much as one of 10"
    assert outweighs([own], b"a") == FAR
    far = [candidate("trim", 1, b"a"), candidate("trim", 9000, b"b")]
    assert outweighs(far, b"a") == FAR
    assert outweighs([own, other], b"a", {b"a": 10}) == -6, "longer by what its outputs break"


def test_joint_bits_equal_sums_of_powers_of_two() -> None:
    for bits in range(MOST_BITS + 1):
        assert joint_bits([bits]) == bits
    assert joint_bits([MOST_BITS + 50]) == MOST_BITS
    for several in ([20] * 2, [9] * 16, [10, 14, 30, 31], range(5, 90)):
        exact = -4 * math.log2(math.fsum(2 ** (-bits / 4) for bits in several))
        assert joint_bits(several) == pytest.approx(exact, abs=1.01)


# -- in a search ----------------------------------------------------------------------------------


def accident() -> ArcTask:
    """Two pairs that a short program fits by accident; the tests are unlike both."""
    pairs = (
        Pair(Grid.of([[0, 1], [0, 0]]), Grid.of([[1]])),
        Pair(Grid.of([[0, 0], [2, 0]]), Grid.of([[2]])),
    )
    tests = (scattered(3, 9, 12), scattered(4, 12, 7), Grid.of([[5]]))
    return ArcTask("accident", pairs, tests)


def test_accidental_short_program_is_unknown_and_supported_one_is_solved(
    tmp_path: Path, weft: Here
) -> None:
    data = write_tasks(tmp_path / "data", [accident(), solved()])
    out = tmp_path / "run"
    assert weft("arc", "solve", "--data", data, *TINY, "--out", out).code == 0
    answers = {item.task.name: item.answer for item in read_run(out).items}
    bad, good = answers["accident"], answers["plain"]
    assert bad is not None
    assert good is not None
    assert bad["outcome"] in ("UNKNOWN/unsure", "UNKNOWN/ambiguous")
    assert bad["groups"], "the guesses are still there"
    low, high = bad.get("confidence_permille"), good.get("confidence_permille")
    assert type(low) is type(high) is int
    assert low < SURE <= high
    assert good["outcome"] == "SOLVED"
    assert f"confidence {high / 1000:.3f}" in weft("arc", "show", out, "plain").out
    listed = weft("arc", "solve", "--data", data, *TINY, "--out", out).out
    assert f"{low / 1000:.3f}" in listed


def test_least_confidence_decides_and_is_bound_into_the_run(tmp_path: Path, weft: Here) -> None:
    data = write_tasks(
        tmp_path / "data", [made("two", ["mirror_down"], [scattered(i) for i in range(3)])]
    )
    words = ("arc", "solve", "--data", data, *TINY)
    assert weft(*words, "--out", tmp_path / "all", "--min-confidence", "0").code == 0
    assert weft(*words, "--out", tmp_path / "none", "--min-confidence", "1").code == 1
    [item] = read_run(tmp_path / "none").items
    assert item.outcome in ("UNKNOWN/unsure", "UNKNOWN/ambiguous")
    assert item.answer is not None
    assert item.answer["groups"], "both guesses are still written out"
    heads = {(tmp_path / name / "checkpoint").read_text() for name in ("all", "none")}
    assert len(heads) == 2


@pytest.mark.parametrize(
    "text", ["1.1", "-0.1", "95%", "0.95.1", "nan", "1e-1", "", "2", "0.9501", "٠.٥"]
)
def test_confidence_that_is_no_probability_is_refused(
    text: str, tmp_path: Path, weft: Here
) -> None:
    with pytest.raises(UsageError, match="--min-confidence takes a probability"):
        permille(text)
    if text == "1.1":
        result = weft("arc", "solve", "--min-confidence", text, "--out", tmp_path / "run")
        result.check_one_line(2, "--min-confidence", "0.9")
        assert not (tmp_path / "run").exists()


def test_probability_is_read_exactly() -> None:
    read = {"0": 0, "1": 1000, "0.95": 950, ".5": 500, "0.999": 999, "1.0": 1000, "0.05": 50}
    assert {text: permille(text) for text in read} == read


# -- fitting --------------------------------------------------------------------------------------


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "tools")
    return importlib.import_module


def test_reliability_compares_confidence_with_the_share_of_right_answers(
    tool: Callable[[str], Any],
) -> None:
    fitting = tool("fit_arc_confidence")
    scored = [({"right": right, "base": "a"}, 960) for right in (True, True, True, False)]
    [entry] = fitting.reliability(scored)
    assert (entry["answers"], entry["right"], entry["confidence"]) == (4, 0.75, 0.96)
    assert entry["error"] == pytest.approx(0.21), "one task, so its whole gap"
    apart = [({"right": row["right"], "base": n}, p) for n, (row, p) in enumerate(scored)]
    [entry] = fitting.reliability(apart)
    assert entry["bases"] == 4
    assert entry["error"] == pytest.approx(math.hypot(0.04, 0.04, 0.04, 0.96) / 4)
    assert fitting.counts(scored, 961) == {"right": 0, "wrong": 0, "possible": 3}


def test_random_halves_keep_puzzles_of_one_base_together(tool: Callable[[str], Any]) -> None:
    half_of = tool("fit_arc_confidence").half_of
    rows = [{"base": f"{n // 2:08x}", "half": n % 2} for n in range(200)]
    for halving in range(3):
        halves = [half_of(row, halving) for row in rows]
        assert halves[::2] == halves[1::2]
        assert 30 < sum(halves[::2]) < 70
    assert [half_of(row, None) for row in rows[:2]] == [0, 1]


def test_fitted_steps_keep_their_signs_whatever_the_data_say(tool: Callable[[str], Any]) -> None:
    fitting = tool("fit_arc_confidence")
    x = np.array([[0.0], [1.0]] * 50)
    y = x[:, 0]
    _, rising = fitting.fit_steps(x, y, np.array([1]))
    _, falling = fitting.fit_steps(x, y, np.array([-1]))
    assert rising[0] > 0.5
    assert falling[0] == 0


def test_scores_that_are_right_too_rarely_are_scaled_on_either_side_of_the_bend(
    tool: Callable[[str], Any],
) -> None:
    """Scores of 1, 2 and 4 nats whose answers are right as often as at 0.5, 1 and 3 nats."""
    fitting = tool("fit_arc_confidence")
    scores, y = [], []
    for score, nats in ((1.0, 0.5), (2.0, 1.0), (4.0, 3.0)):
        right = round(2000 / (1 + math.exp(-nats)))
        scores += [score] * 2000
        y += [1] * right + [0] * (2000 - right)
    rows = [{"features": PLAIN}] * len(y)
    scale = fitting.scale_of(rows, np.array(scores), np.array(y))
    assert (scale.shift, scale.below, scale.above) == pytest.approx((0, 0.5, 1), abs=0.03)
    own = fitting.model_of(["tests"], 4.0, np.zeros(2), scale)
    assert own.confidence_permille(PLAIN) == pytest.approx(952, abs=3)


def test_draw_leaves_out_half_of_the_operators_of_each_base(tool: Callable[[str], Any]) -> None:
    draw = tool("record_arc_evidence").Draw
    assert draw(0, 50).operators("base") == list(REGISTRY)
    own = draw(1, 50).operators("base")
    assert own == draw(1, 50).operators("base")
    assert own != draw(1, 50).operators("other") != draw(2, 50).operators("other")
    assert len(REGISTRY) / 3 < len(own) < len(REGISTRY) * 2 / 3


@pytest.mark.parametrize(
    ("names", "pairs", "gap"),
    [
        (("mirror_black_fourfold",), 2, 2),
        (("transpose", "mirror_rare_fourfold"), 3, 1),
        (("mirror_black_fourfold",), 4, 0),
        (("mirror_black_fourfold",), 9, 0),
        (("mirror_rows",), 2, 0),
        ((), 2, 0),
    ],
)
def test_completing_by_symmetry_lacks_the_pairs_to_four(
    names: tuple[str, ...], pairs: int, gap: int
) -> None:
    assert symmetry_gap(Program(names), pairs) == gap
