"""Optuna's ask is a pure function of the recorded trials; another target is refused."""

from __future__ import annotations

from typing import Any

import pytest

from weft.errors import BugError
from weft.searches.prng.pipeline import scorertrial
from weft.searches.prng.pipeline.optimizer import Trial, ask
from weft.searches.prng.pipeline.reference import ScorerConfig
from weft.searches.prng.pipeline.search import batches_of
from weft.searches.prng.pipeline.window import check_same

SPACE: dict[str, Any] = {
    "x": {"low": 0, "high": 1000, "default": 500},
    "kind": {"choices": ["near", "far"], "default": "far"},
    "rate": {"low": 0.01, "high": 1.0, "default": 0.1, "log": True},
}


def worth(params: dict[str, Any]) -> int:
    return -abs(params["x"] - 137) * 1000 - (params["kind"] == "far") * 10_000


def study(trials: int, seed: int = 3) -> list[Trial]:
    known: list[Trial] = []
    for k in batches_of(trials):
        proposals = ask(SPACE, k, known, "t", seed + len(known))
        known += [Trial(params, worth(params), "t") for params in proposals]
    return known


def test_ask_of_the_same_trials_gives_the_same_sets() -> None:
    known = study(8)
    assert ask(SPACE, 4, known, "t", 9) == ask(SPACE, 4, known, "t", 9)
    assert ask(SPACE, 4, known, "t", 9) != ask(SPACE, 4, known, "t", 10)


def test_first_set_of_a_study_is_the_defaults() -> None:
    [first, *_] = ask(SPACE, 4, [], "t", 1)
    assert first == {"x": 500, "kind": "far", "rate": 0.1}


def test_study_learns_where_values_are_high() -> None:
    known = study(48)
    early = [abs(trial.params["x"] - 137) for trial in known[:12]]
    late = [abs(trial.params["x"] - 137) for trial in known[-12:]]
    assert sum(late) < sum(early) / 2


def test_trial_of_another_target_is_refused() -> None:
    with pytest.raises(BugError, match="a trial of target other"):
        ask(SPACE, 1, [Trial({"x": 1, "kind": "far", "rate": 0.1}, 5, "other")], "t", 1)


@pytest.mark.parametrize(("trials", "sizes"), [(0, []), (3, [3]), (4, [4]), (9, [4, 4, 1])])
def test_batches_have_a_fixed_size(trials: int, sizes: list[int]) -> None:
    assert batches_of(trials) == sizes


def test_scorer_parameters_that_do_not_arrive_are_refused() -> None:
    config = ScorerConfig(max_offset=9)
    check_same(config, ScorerConfig(max_offset=9))
    with pytest.raises(BugError, match="max_offset: 9 was asked for, 5 was used"):
        check_same(config, ScorerConfig())


def test_space_of_the_scorer_is_the_stated_one() -> None:
    low_high = {n: (s["low"], s["high"]) for n, s in scorertrial.SPACE.items() if "low" in s}
    assert low_high == {
        "residue_mod_1": (5, 20), "residue_mod_2": (50, 150), "residue_mod_3": (500, 1500),
        "max_offset": (1, 15),
    }  # fmt: skip
    assert scorertrial.SPACE["temporal_window_size"]["choices"] == [50, 100, 150, 200]
