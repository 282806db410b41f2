"""Optuna's samplers as functions of recorded trials. Runs in tasks; knows no search.

Samplers that learn from finished trials alone (TPE, GP, random) are created for every ask, seeded
by its task, and given all trials: any worker can do that. The others keep state between asks (a
CMA-ES distribution, a position in a grid): they are rebuilt by repeating the recorded asks and
tells, and kept in memory for the next ask.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weft.asktell import history, optimizers
from weft.asktell.history import AskStep
from weft.asktell.objective import load
from weft.asktell.trials import Direction, TrialRecord
from weft.lazy_imports import lazy_module
from weft.model.codec import to_json
from weft.model.values import Object, Value
from weft.optuna.space import Categorical, Float, Int, Parameter, read_parameter

if TYPE_CHECKING:
    import optuna
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler
    from optuna.trial import FrozenTrial
else:
    optuna = lazy_module("optuna")

SEEDS = 2**32
CLASSES = {
    "cmaes": "CmaEsSampler",
    "gp": "GPSampler",
    "grid": "GridSampler",
    "nsga2": "NSGAIISampler",
    "nsga3": "NSGAIIISampler",
    "qmc": "QMCSampler",
    "random": "RandomSampler",
    "tpe": "TPESampler",
}
"""Samplers by the name that a study takes; any other is given as `module:function`."""
STATELESS = ("gp", "random", "tpe")
"""Samplers that need only finished trials, so a stream can use them too."""
NEEDS = {"cmaes": ("cmaes",), "gp": ("scipy", "torch"), "qmc": ("scipy",)}
"""Packages besides Optuna that a sampler computes with."""


@dataclass(frozen=True, slots=True)
class SamplerSpec:
    """A sampler, its options, its space and its directions."""

    sampler: str
    options: Mapping[str, Value]
    space: Mapping[str, Value] | str
    directions: tuple[Direction, ...]

    @property
    def is_stateless(self) -> bool:
        """Whether it needs only finished trials."""
        return self.sampler in STATELESS


def ask_points(
    spec: SamplerSpec, state: Object | None, told: Sequence[TrialRecord], count: int, seed: int
) -> tuple[list[Value], Object]:
    """Return the next points and the state after them."""
    steps = history.read(state)
    live = None
    if spec.is_stateless:
        trials = [trial for step in steps for trial in step.told]
        points = ask_from_trials(spec, [*trials, *told], count, seed)
    else:
        first_seed = steps[0].seed if steps else seed
        key = state.digest if state else ""
        live = optimizers.revived(key, steps, lambda: LiveSampler(spec, first_seed))
        points = optimizers.advance(live, told, count)
    step = AskStep(tuple(told), tuple(points), seed, to_json(spec), state)
    new_state = history.append(steps, step)
    if live is not None:
        optimizers.keep(new_state.digest, live)
    return points, new_state


def ask_from_trials(
    spec: SamplerSpec, trials: Sequence[TrialRecord], count: int, seed: int
) -> list[Value]:
    """Ask a new study that contains the finished trials; a pure function."""
    with _quiet():
        study = new_study(spec, seed)
        study.add_trials(frozen_trials(spec, trials))
        return [ask_trial(study, spec)[1] for _ in range(count)]


class LiveSampler:
    """A study in memory that is asked and told in turn."""

    def __init__(self, spec: SamplerSpec, seed: int) -> None:
        self._spec = spec
        with _quiet():
            self._study = new_study(spec, seed)
        # a sampler that has tried everything stops its study, which ask-and-tell does not allow
        setattr(self._study, "stop", lambda: None)  # noqa: B010
        self._trials: list[optuna.Trial] = []

    def ask(self) -> Value:
        """Ask for the next trial."""
        with _quiet():
            trial, point = ask_trial(self._study, self._spec)
        self._trials.append(trial)
        return point

    def tell_trial(self, trial: TrialRecord) -> None:
        """Tell the study how a trial ended."""
        study_trial = self._trials[trial.number]
        with _quiet():
            for step, value in trial.steps:
                study_trial.report(value, step)
            if trial.state == "complete":
                self._study.tell(study_trial, list(trial.values))
            else:
                self._study.tell(study_trial, state=state_of(trial))


def ask_trial(study: optuna.Study, spec: SamplerSpec) -> tuple[optuna.Trial, Value]:
    """Ask for a trial and sample its parameters; a space that is a function adds distributions."""
    if not isinstance(spec.space, str):
        trial = study.ask(dict(sorted(static_distributions(spec.space).items())))
        return trial, {"params": dict(trial.params)}
    trial = study.ask()
    load(spec.space, "space")(trial)
    to_text = optuna.distributions.distribution_to_json
    own: dict[str, Value] = {n: to_text(kind) for n, kind in trial.distributions.items()}
    return trial, {"params": dict(trial.params), "space": own}


def new_study(spec: SamplerSpec, seed: int) -> optuna.Study:
    """Create a study in memory."""
    sampler = make_sampler(spec, seed % SEEDS)
    return optuna.create_study(directions=list(spec.directions), sampler=sampler)


def make_sampler(spec: SamplerSpec, seed: int) -> BaseSampler:
    """Create a sampler with its options."""
    options: dict[str, Any] = dict(spec.options)
    name = CLASSES.get(spec.sampler)
    if name is None:
        sampler: BaseSampler = load(spec.sampler, "sampler")(seed=seed, **options)
        return sampler
    if spec.sampler == "tpe":
        options.setdefault("constant_liar", True)  # otherwise the trials of a batch are too similar
    if spec.sampler == "grid":
        options.setdefault("search_space", grid_of(spec.space))
    built_in: BaseSampler = getattr(optuna.samplers, name)(seed=seed, **options)
    return built_in


def frozen_trials(spec: SamplerSpec, trials: Sequence[TrialRecord]) -> list[FrozenTrial]:
    """Return finished trials in Optuna's form."""
    kinds = {} if isinstance(spec.space, str) else static_distributions(spec.space)
    return [frozen_trial(trial, kinds) for trial in trials]


def frozen_trial(trial: TrialRecord, kinds: Mapping[str, BaseDistribution]) -> FrozenTrial:
    """Return one finished trial; `kinds` are the distributions, unless the space is a function."""
    values = list(trial.values) if trial.state == "complete" else None
    if trial.state == "pruned" and trial.steps:
        values = [trial.steps[-1][1]]
    return optuna.trial.create_trial(
        state=state_of(trial),
        params=dict(trial.params),
        distributions=distributions_of(trial, kinds),
        values=values,
        intermediate_values=dict(trial.steps),
    )


def state_of(trial: TrialRecord) -> optuna.trial.TrialState:
    """Return Optuna's state for how a trial ended."""
    states = optuna.trial.TrialState
    return {"complete": states.COMPLETE, "pruned": states.PRUNED, "failed": states.FAIL}[
        trial.state
    ]


def distributions_of(
    trial: TrialRecord, kinds: Mapping[str, BaseDistribution]
) -> dict[str, BaseDistribution]:
    """Return the distributions that a trial's parameters were drawn from."""
    if trial.space is None:
        return {name: kinds[name] for name in trial.params}
    read = optuna.distributions.json_to_distribution
    return {name: read(text) for name, text in trial.space.items()}


def static_distributions(space: Mapping[str, Value]) -> dict[str, BaseDistribution]:
    """Convert a recorded space to Optuna's types."""
    return {name: distribution(read_parameter(raw)) for name, raw in space.items()}


def distribution(parameter: Parameter) -> BaseDistribution:
    """Convert one parameter to Optuna's types."""
    kinds = optuna.distributions
    if isinstance(parameter, Categorical):
        return kinds.CategoricalDistribution(parameter.options)
    p = parameter
    if isinstance(p, Int):
        return kinds.IntDistribution(p.low, p.high, log=p.log, step=p.step)
    return kinds.FloatDistribution(p.low, p.high, log=p.log, step=p.step)


def grid_of(space: Mapping[str, Value] | str) -> dict[str, list[Any]] | None:
    """Return all values of each parameter; None if a parameter has infinitely many."""
    if isinstance(space, str):
        return None
    axes = {name: _axis(read_parameter(raw)) for name, raw in sorted(space.items())}
    return None if any(axis is None for axis in axes.values()) else axes  # type: ignore[return-value] # no axis is None


def _axis(parameter: Parameter) -> list[Any] | None:
    if isinstance(parameter, Categorical):
        return list(parameter.options)
    if isinstance(parameter, Int):
        return list(range(parameter.low, parameter.high + 1, parameter.step))
    if isinstance(parameter, Float) and parameter.step is not None:
        steps = int((parameter.high - parameter.low) / parameter.step + 1e-9)
        return [parameter.low + parameter.step * i for i in range(steps + 1)]
    return None


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Optuna's log lines and its warnings that a sampler is experimental."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        yield
