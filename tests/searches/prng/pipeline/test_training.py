"""Models, folds, preflight, training parameters, reruns and verdicts."""

from __future__ import annotations

import hashlib
import importlib.util
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.searches.prng.pipeline.planted import planted, worked
from weft.errors import InputError
from weft.model.codec import from_json, to_json
from weft.model.values import Object
from weft.searches.prng.pipeline import adapt, models, nulls, table, training, vote
from weft.searches.prng.pipeline.adapt import Facts, TrainingParams, derive
from weft.searches.prng.pipeline.features import GLOBAL
from weft.searches.prng.pipeline.request import EVIDENCE, MODELS, PipelineRequest
from weft.searches.prng.pipeline.streams import LEAST_DRAWS, as_of_now, split_history
from weft.searches.prng.pipeline.training import ModelChoice, RerunModel
from weft.searches.prng.pipeline.verdict import (
    Claim,
    PipelineVerdict,
    Reruns,
    Sidecar,
    decide,
    power_of,
)

GIVEN = TrainingParams(200, (16,), 240, 40, 3, 2, 3)


@pytest.fixture(scope="module")
def scored() -> Any:
    _, _, _, scorer, rows = worked()
    return scorer.score(rows)


def tuned(kind: str, net: str = "sklearn") -> dict[str, Any]:
    space = models.search_space(kind, GIVEN)
    defaults = {name: spec["default"] for name, spec in space.items()}
    return models.with_training(kind, defaults, GIVEN, net)


# -- models -------------------------------------------------------------------------------


HAS_TORCH = importlib.util.find_spec("torch") is not None
TORCH = pytest.param(
    "neural_net", "torch",
    marks=[pytest.mark.slow, pytest.mark.skipif(not HAS_TORCH, reason="PyTorch is not installed")],
)  # fmt: skip
"""`make chaos` installs it; it is too large to require on every machine."""


@pytest.mark.parametrize(("kind", "net"), [*((kind, "sklearn") for kind in MODELS), TORCH])
def test_model_tells_survivors_that_hold_on_cuts_it_has_not_seen(
    kind: str, net: str, scored: Any
) -> None:
    _, split, params, _, _ = worked()
    inner, final = nulls.divided(scored, split.mode(params.sessions))
    names = training.preflight(inner).features
    x, y = table.matrix(inner, names, "inner"), training.labels(inner)
    model = models.fit(kind, tuned(kind, net), x, y, 1)
    assert model == models.fit(kind, tuned(kind, net), x, y, 1)
    predicted = models.predict(kind, model, table.matrix(final, names, "final"))
    for stream in (0, 1):
        own = final["stream"].to_numpy() == stream
        best = np.flatnonzero(own)[np.argmax(predicted[own])]
        assert training.labels(final)[best] == training.labels(final)[own].max() > 0.2


@pytest.mark.parametrize("kind", ["neural_net", "random_forest"])
def test_model_read_back_predicts_as_the_library_does(kind: str) -> None:
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.neural_network import MLPRegressor

    draw = np.random.Generator(np.random.PCG64(4))
    x = draw.normal(size=(120, 5)).astype(np.float32).astype(np.float64)
    y = x[:, 0] * 2 + (x[:, 1] > 0)
    params = tuned(kind)
    predicted = models.predict(kind, models.fit(kind, params, x, y, 7), x)
    if kind == "random_forest":
        own: Any = RandomForestRegressor(
            n_estimators=params["trees"], max_depth=3, min_samples_leaf=2, max_features=0.5,
            random_state=7,
        ).fit(x, y)  # fmt: skip
        assert predicted == pytest.approx(own.predict(x), rel=1e-9)
        return
    scaled = (x - x.mean(axis=0)) / x.std(axis=0)
    net = MLPRegressor(
        hidden_layer_sizes=(16,), alpha=1.0, learning_rate_init=0.003, max_iter=240,
        random_state=7,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net.fit(scaled, y)
    assert predicted == pytest.approx(net.predict(scaled), rel=1e-9)


# -- preflight ----------------------------------------------------------------------------


def test_preflight_names_constants_and_keeps_what_varies(scored: Any) -> None:
    checked = training.preflight(scored)
    assert set(GLOBAL) <= set(checked.constant)
    assert "exact_matches" in checked.features
    assert len(checked.features) + len(checked.constant) == 62


def test_preflight_with_a_value_that_is_no_number_is_refused(scored: Any) -> None:
    spoiled = scored.with_columns((scored["pred_std"] / 0.0 * 0.0).alias("pred_std"))
    with pytest.raises(InputError, match="pred_std"):
        training.preflight(spoiled)


def test_preflight_points_at_a_copy_of_the_label(scored: Any) -> None:
    rates = scored["label_hits"] / scored["label_draws"]
    copied = scored.with_columns(rates.alias("lane_consistency"))
    assert training.preflight(copied).suspicious == ("lane_consistency",)


def test_folds_keep_all_survivors_of_one_time_together(scored: Any) -> None:
    folds = training.fold_of(scored, 3)
    for cut in sorted(set(scored["cut"].to_list())):
        assert len(set(folds[scored["cut"].to_numpy() == cut].tolist())) == 1


def test_fold_whose_labels_hardly_vary_does_not_outweigh_others() -> None:
    good, flat = training.FoldScore(990, 100_000, 900_000), training.FoldScore(990, 300, 10)
    assert training.explained_on_folds([good, flat]) == 889
    assert training.explained_on_folds([training.FoldScore(0, 10**12, 1)]) == training.LEAST


def test_pool_keeps_the_best_of_every_window_in_any_chunks(scored: Any) -> None:
    whole = training.pooled(scored, 10)
    first = training.pooled(scored[:400], 10)
    halves = training.pooled(table.concat([first, scored[400:]]), 10)
    assert sorted(whole.rows()) == sorted(halves.rows())
    assert len(whole) == 140


def test_permutations_of_chance_labels_are_not_rare() -> None:
    draw = np.random.Generator(np.random.PCG64(8))
    y, predicted = draw.random(200), draw.random(200)
    assert training.permutation_p(y, predicted, 1) > 20
    assert training.permutation_p(y, y + 0.1 * predicted, 1) == 1


# -- step 4 -------------------------------------------------------------------------------


def test_training_parameters_follow_the_facts() -> None:
    few = derive(Facts(12, 240, 4, 600, 990))
    many = derive(Facts(12, 60_000, 90, 600, 600))
    assert few.pool_size == 50
    assert many.pool_size == 5_000
    assert (few.depth, few.min_leaf, len(few.layers)) == (3, 1, 1)
    assert (many.depth, many.min_leaf, len(many.layers)) == (5, 15, 2)
    assert from_json(TrainingParams, to_json(many)) == many


@pytest.mark.parametrize(
    ("change", "said"),
    [({"depth": 40}, "depth must be 2 to 12"), ({"layers": []}, "layers must be"),
     ({"trees": True}, "trees must be"), ({"folds": None}, "folds must be")],
)  # fmt: skip
def test_training_parameters_out_of_bounds_are_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        adapt.read_training({**to_json(GIVEN), **change}, "file")


def test_facts_see_no_holdout() -> None:
    """The holdout is not an argument; only training draws and labels of inner cuts are."""
    facts = adapt.facts_of(2, [(20, 26), (0, 26), (3, 26)], [1, 2, 3, 4] * 10, 1000)
    assert (facts.survivors, facts.held, facts.draws) == (3, 2, 40)


# -- reruns -------------------------------------------------------------------------------


def chosen(kind: str = "lightgbm") -> nulls.RerunSetup:
    _, _, params, scorer, _ = worked()
    loose = replace(params, reverse_need=params.forward_need)
    return nulls.RerunSetup(loose, scorer.config, GIVEN, RerunModel(kind, tuned(kind), 1))


def test_rerun_on_the_planted_history_is_far_above_nulls() -> None:
    truth, split, params, scorer, rows = worked()
    seeds = nulls.null_seeds(scorer.request, rows)
    assert {truth.active(name, 335).seed for name in "ab"} <= set(seeds.tolist())
    observed = nulls.rerun(scorer.request, split, chosen(), seeds)
    for kind in (nulls.SHUFFLED, nulls.RANDOM):
        other = nulls.history(split, params.sessions, kind, 5)
        assert nulls.rerun(scorer.request, other, chosen(), seeds) <= 2 < observed


def test_null_histories_keep_what_they_should() -> None:
    _, split, _, _, _ = worked()
    shuffled = nulls.history(split, "each", nulls.SHUFFLED, 1)
    other = nulls.history(split, "each", nulls.RANDOM, 1)
    for before, first, second in zip(split.each, shuffled.each, other.each, strict=True):
        assert sorted(first.draws) == sorted(before.draws)
        assert first.draws != before.draws
        assert second.cuts == first.cuts == before.cuts
        assert max(second.draws) < 1000
        assert abs(sum(second.draws) / len(second.draws) - 499.5) < 60
    assert nulls.history(split, "each", nulls.RANDOM, 2) != other


def test_seeds_of_reruns_hold_the_best_of_every_window_and_fill_up() -> None:
    _, _, _, scorer, rows = worked()
    seeds = nulls.null_seeds(scorer.request, rows).tolist()
    assert len(seeds) == len(set(seeds)) == 2048
    assert seeds == sorted(seeds)
    for part in rows.partition_by("cut", "stream"):
        assert int(part.sort("hits", descending=True)["seed"][0]) in seeds
    assert nulls.null_seeds(PipelineRequest(seeds=(0, 50)), rows[:0]).tolist() == list(range(50))


# -- verdict ------------------------------------------------------------------------------


def claim(window: int = 50_000, holdout: int = 90_000) -> Claim:
    is_confirmed = min(window, holdout) >= EVIDENCE
    return Claim("a", 7, 0, 0, 30, 40, 60, 84, window, holdout, "p", "p", is_confirmed)


GOOD = claim()


@pytest.mark.parametrize(
    ("claims", "reruns", "signal"),
    [
        ([GOOD], Reruns.of(41, (0,) * 99, 84), True),
        ([], Reruns.of(41, (0,) * 99, 84), False),
        ([GOOD], Reruns.of(2, (0,) * 98 + (2,), 84), True),
        ([claim(holdout=4_000)], Reruns.of(2, (0,) * 98 + (2,), 84), False),
        ([claim(holdout=4_000)], Reruns.of(41, (0,) * 99, 84), True),
        ([GOOD], None, True),
        ([claim(holdout=2_001)], None, True),
        ([claim(holdout=1_999)], Reruns.of(41, (0,) * 99, 84), False),
        ([claim(window=0)], Reruns.of(41, (0,) * 99, 84), False),
    ],
)
def test_verdict_follows_the_evidence(claims: Any, reruns: Any, signal: bool) -> None:
    assert decide(claims, reruns)[0] is signal


def test_reason_names_the_test_that_decided() -> None:
    nulls_below, as_good = Reruns.of(41, (0,) * 99, 84), Reruns.of(2, (0,) * 98 + (2,), 84)
    reason = f"seed {GOOD.seed} hits {GOOD.holdout_hits} of {GOOD.holdout_draws} holdout draws"
    assert reason in decide([GOOD], None)[1]
    assert "too few for a model" in decide([GOOD], None)[1]
    assert "above all 99 null histories" in decide([GOOD], nulls_below)[1]
    assert (
        "1 of 99 histories without signal do as well" in decide([claim(holdout=4_000)], as_good)[1]
    )


def test_power_names_the_skips_at_which_a_seed_set_once_is_out_of_reach() -> None:
    params = worked()[2]
    assert "set once" not in power_of(PipelineRequest(), params, 1, 1_000).not_covered
    text = power_of(PipelineRequest(), params, 1, 8_000).not_covered
    assert "a seed set once before all 8,000 draws with 2 skips or more" in text


def test_power_says_what_would_have_been_found() -> None:
    power = power_of(PipelineRequest(), worked()[2], 10**9)
    assert "java" in power.searched
    assert "hits 6 of 40" in power.would_be_found
    assert "other families" in power.not_covered


# -- vote, sidecar, streams ---------------------------------------------------------------


def test_vote_ranks_by_weight_then_by_number() -> None:
    votes = np.array([[3], [1], [3], [0]])
    weights = np.array([0.2, 0.5, 0.2, 0.5])
    assert vote.ranking(votes[:, 0], weights, 5).tolist() == [0, 1, 3, 2, 4]
    for draw, rank in ((0, 0), (1, 1), (3, 2), (2, 3), (4, 4)):
        assert vote.ranks(votes, weights, [draw], 5) == [rank]


def test_survivors_beyond_chance_vote_alone() -> None:
    _, split, params, scorer, rows = worked()
    _, final = nulls.divided(rows, split.mode(params.sessions))
    predicted = np.linspace(1.0, 0.0, len(final))
    bar = nulls.hit_threshold(scorer.request, params, 10**8)
    assert bar is not None
    alone, _ = nulls.electorate(scorer.request, final, predicted, 0, bar)
    assert alone["hits"].min() >= bar
    everyone, _ = nulls.electorate(scorer.request, final, predicted, 0, None)
    assert len(everyone) == scorer.request.top_k
    assert everyone["hits"].min() < bar


def test_pool_hits_are_compared_with_k_of_m() -> None:
    hits = vote.pool_hits([0, 5, 19, 20, 999], 20, 1000)
    assert (hits.hits, hits.draws) == (3, 5)
    assert hits.chance == (20, 1000)
    assert vote.pool_hits([0, 1], 300, 10).k == 10


def test_sidecar_of_another_model_is_refused() -> None:
    power = power_of(PipelineRequest(), None, 1)
    verdict = PipelineVerdict(True, "held", (GOOD,), Reruns.of(41, (0,) * 99, 84), power)
    choice = ModelChoice("lightgbm", {"trees": 10}, ("pred_mean",))
    model = Object(hashlib.sha256(b"model").hexdigest())
    sidecar = Sidecar.of(verdict, model, choice, {}, {}, {})
    assert sidecar.check(b"model") == "lightgbm"
    with pytest.raises(InputError, match="SHA-256 is another"):
        sidecar.check(b"modeL")
    with pytest.raises(InputError, match="features are not those"):
        replace(sidecar, features=("pred_std",)).check(b"model")
    with pytest.raises(InputError, match="no signal"):
        replace(sidecar, signal=False).check(b"model")


def test_cuts_leave_room_for_windows_blocks_and_a_holdout() -> None:
    for length in range(LEAST_DRAWS, 400, 7):
        [stream] = split_history([0] * length, [""] * length, 10).each
        assert stream.cuts[0] >= 2 * stream.block > 0
        assert all(stream.label_end(cut) <= stream.holdout_at for cut in stream.cuts[:-1])
        assert stream.label_end(stream.holdout_at) == length
        assert length - stream.holdout_at == length // 5


def test_split_of_now_has_one_cut_at_the_end() -> None:
    truth = planted()
    split = split_history(truth.history.draws, truth.history.sessions, 1000)
    assert [stream.cuts for stream in as_of_now(split).each] == [(420,), (420,)]


@pytest.mark.parametrize(("length", "said"), [(40, "needs 80 or more"), (20_001, "20,000 at most")])
def test_history_the_pipeline_cannot_use_is_refused(length: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        split_history([0] * length, [""] * length, 10)


def test_session_with_few_draws_is_left_out_and_said() -> None:
    split = split_history([1] * 200, ["x"] * 190 + ["y"] * 10, 1000)
    assert split.left_out == ("y",)
    assert [stream.name for stream in split.each] == ["x"]
