"""Every feature: the fast version equals its definition, varies, and is never missing."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.searches.prng.pipeline.planted import worked
from weft.errors import InputError
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.pipeline import features, reference, table, training
from weft.searches.prng.pipeline.learntasks import after_changed
from weft.searches.prng.pipeline.scorekernel import COLUMNS, score_rows
from weft.searches.prng.pipeline.scoring import scorer_of
from weft.searches.prng.pipeline.streams import split_history
from weft.searches.prng.pipeline.survivor import Survivor, draw_position, predicted
from weft.searches.prng.pipeline.window import with_skips

CLOSE = 1e-9
ELSEWHERE = ("skip_min", "skip_max", "best_offset")
"""Constant within one undisturbed trial; separate tests show that they vary."""


@pytest.fixture(scope="module")
def scored() -> Any:
    _, _, _, scorer, rows = worked()
    return scorer.score(rows)


def expected_row(row: dict[str, Any]) -> dict[str, float]:
    """The features of one survivor by definition, from outputs of the plain generator."""
    _, split, params, scorer, rows = worked()
    stream = split.mode(params.sessions)[row["stream"]]
    survivor = Survivor(stream.name, row["seed"], row["skip"], row["base"])
    draws = stream.draws[survivor.first() : row["cut"]]
    hypothesis = survivor.hypothesis("java", "bounded", 1000)
    p = generate(hypothesis, len(draws) + scorer.config.max_offset)
    same = (rows["cut"] == row["cut"]) & (rows["stream"] == row["stream"])
    skips = rows.filter(same & (rows["seed"] == row["seed"]))["skip"].to_list()
    sieved = scorer.windows[row["stream"], row["cut"]]
    return reference.row_features(p, draws, scorer.config, sieved, skips)


def test_features_are_the_62_named_ones() -> None:
    sizes = [len(group) for group in (features.RESIDUE, features.TEMPORAL, features.STATISTICAL)]
    assert sizes == [12, 20, 12]
    assert (len(features.METADATA), len(features.GLOBAL)) == (4, 14)
    assert len(set(features.ALL)) == 62
    assert not set(features.ALL) & set(features.EXCLUDED)


def test_scored_table_holds_exactly_the_features(scored: Any) -> None:
    assert tuple(scored.columns) == (*table.IDS, *features.ALL, *table.LABELS)


@pytest.mark.parametrize("name", features.PER_SURVIVOR)
def test_feature_of_every_kind_of_row_equals_its_definition(scored: Any, name: str) -> None:
    best = scored.sort("hits", descending=True, maintain_order=True)[:8]
    for row in (*best.iter_rows(named=True), *scored[:: len(scored) // 12].iter_rows(named=True)):
        expected = expected_row(row)[name]
        assert row[name] == pytest.approx(expected, rel=CLOSE, abs=CLOSE), row["seed"]


def test_globals_equal_their_definition_and_are_constant(scored: Any) -> None:
    _, split, _, _, _ = worked()
    draws = [d for s in split.each for d in s.draws[: s.holdout_at]]
    expected = reference.global_features(draws, 1000)
    for name in features.GLOBAL:
        assert scored[name].n_unique() == 1
        assert scored[name][0] == pytest.approx(expected[name], rel=CLOSE)


@pytest.mark.parametrize("name", features.PER_SURVIVOR)
def test_feature_varies_on_planted_data(scored: Any, name: str) -> None:
    if name in ELSEWHERE:
        return
    assert scored[name].n_unique() > 1


@pytest.mark.parametrize("name", ["skip_min", "skip_max"])
def test_skip_range_as_searched_follows_the_trial(name: str) -> None:
    _, split, params, scorer, rows = worked()
    changed = replace(params, skip_min=1, skip_max=2)
    counts = [(1, 1, 1, 1)] * len(scorer.windows)
    other = scorer_of(scorer.request, split, changed, counts, scorer.config)
    assert other.score(rows[:3])[name][0] == {"skip_min": 1, "skip_max": 2}[name]


def test_best_offset_after_an_inserted_row_is_one() -> None:
    """Before the inserted row, the stream is one output ahead of its alignment after it."""
    generated = generate(Hypothesis("java", "bounded", 1000, 77), 199)
    draws = [*generated[:150], 5, *generated[150:]]
    split = split_history(draws, ["x"] * 200, 1000)
    cut = split.each[0].holdout_at
    rows = table.frame({
        "stream": [0, 0], "cut": [cut, cut], "first": [0, 1], "seed": [77, 77], "skip": [0, 0],
        "base": [0, -1], "hits": [16, 10],
    })  # fmt: skip
    _, _, params, scorer, _ = worked()
    own = scorer_of(scorer.request, split, params, [(2, 2, 2, 2)] * 7, scorer.config)
    assert own.score(with_skips(rows))["best_offset"].to_list() == [0.0, 1.0]


def test_skips_of_random_survivors_equal_their_definition_in_any_order() -> None:
    chance = random.Random(5)
    rows = [
        (chance.randrange(2), chance.randrange(3), chance.randrange(6), chance.choice([0, 1, 7]))
        for _ in range(400)
    ]
    zeros = [0] * len(rows)
    stream, cut, seed, skip = zip(*rows, strict=True)
    with_features = with_skips(table.frame({
        "stream": stream, "cut": cut, "first": zeros, "seed": seed, "skip": skip, "base": zeros,
        "hits": zeros,
    }))  # fmt: skip
    for row in with_features.iter_rows(named=True):
        key = (row["stream"], row["cut"], row["seed"])
        expected = reference.skip_group(
            [other_row[3] for other_row in rows if other_row[:3] == key]
        )
        assert {name: row[name] for name in expected} == pytest.approx(
            expected, rel=CLOSE, abs=CLOSE
        )
    assert with_skips(with_features[:0]).columns == with_features.columns


@pytest.mark.parametrize("seed", range(12))
def test_kernel_on_random_rows_equals_the_definition(seed: int) -> None:
    draw = np.random.Generator(np.random.PCG64(seed))
    n = int(draw.integers(1, 90))
    modulus, offset = int(draw.integers(2, 1500)), int(draw.integers(0, 16))
    config = reference.ScorerConfig(
        int(draw.integers(2, 21)), int(draw.integers(2, 151)), int(draw.integers(2, 1501)), offset,
        int(draw.integers(1, 60)),
    )  # fmt: skip
    a = draw.integers(0, modulus, n).astype(np.uint16)
    rows = draw.integers(0, modulus, (3, n + offset)).astype(np.uint16)
    rows[1, : n // 2] = a[: n // 2]
    rows[2, :n] = a
    sieved = reference.SieveStats(20, 5, 9, 0, 3, 7, 8, 9)
    actual = score_rows(
        rows, np.zeros(3, np.int64), a, config.moduli(), modulus, offset,
        config.temporal_window_size, (20, 5, 9),
    )  # fmt: skip
    for row in range(3):
        expected = reference.row_features(rows[row].tolist(), a.tolist(), config, sieved, [0])
        for at, name in enumerate(COLUMNS):
            assert actual[row, at] == pytest.approx(expected[name], rel=CLOSE, abs=CLOSE), name


def test_missing_feature_is_an_error_that_names_it(scored: Any) -> None:
    with pytest.raises(InputError, match="lacks feature skip_entropy"):
        table.matrix(scored.drop("skip_entropy"), features.ALL, "a table")


def test_boolean_feature_is_an_error_that_names_it(scored: Any) -> None:
    spoiled = scored.with_columns(scored["best_offset"] > 0)
    with pytest.raises(InputError, match="best_offset"):
        table.matrix(spoiled, features.ALL, "a table")


def test_features_of_changed_later_draws_stay_the_same(scored: Any) -> None:
    _, split, params, scorer, rows = worked()
    cut = int(rows["cut"].min())
    part = rows.filter(rows["cut"] == cut)
    blind = scorer_of(
        scorer.request, after_changed(split, cut), params,
        [(s.forward_survivors, s.reverse_survivors, s.bidirectional_count, 0)
         for s in scorer.windows.values()],
        scorer.config,
    )  # fmt: skip
    training.check_leakage(blind.score(part), scorer.score(part))


def test_feature_that_contains_its_label_is_refused(scored: Any) -> None:
    leaking = scored.with_columns(scored["label_hits"].cast(float).alias("exact_matches"))
    with pytest.raises(InputError, match=r"exact_matches .* contains the label"):
        training.check_leakage(leaking, scored)


def test_survivor_positions_are_those_of_its_hypothesis() -> None:
    _, _split, _, scorer, rows = worked()
    for row in rows[::97].iter_rows(named=True):
        survivor = Survivor("a", row["seed"], row["skip"], row["base"])
        assert draw_position(row["base"], row["skip"], survivor.first()) >= 0
        assert survivor.first() == row["first"]
        expected = generate(survivor.hypothesis("java", "bounded", 1000), 30)
        whole = rows.filter((rows["seed"] == row["seed"]) & (rows["base"] == row["base"]))[:1]
        assert predicted(scorer.request, whole, survivor.first(), 30)[0].tolist() == expected
