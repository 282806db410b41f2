"""The search `study`: samples trials with Optuna, evaluates them, prunes by rungs. It only decides.

    batches:  ask (a task) ─► evaluate the batch, rung by rung ─► told to the next ask
    stream:   each task samples and evaluates, told all results up to `width` trials before it

What a trial's sampler knows depends on the order of trials, never on which one ends first.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from weft.asktell.objective import AnyTask, check_parameters, objective_of, with_code
from weft.asktell.trials import TrialRecord, answer, numbers_of, signed
from weft.define import INPUTS, search
from weft.errors import SearchInvalid
from weft.model.codec import Table, from_json, to_json
from weft.model.results import Result
from weft.model.tasks import Milestone, SearchBody, SearchCall, TaskCall, make_stream
from weft.model.values import Argument, Object, Value
from weft.optuna.plan import (
    CHECKPOINT,
    StudyPlan,
    batch_and_width,
    checked_rungs,
    checked_spec,
    most_trials,
)
from weft.optuna.samplers import NEEDS
from weft.optuna.space import DynamicSpace, Space, space_of
from weft.optuna.tasks import ask, sample_and_evaluate

SEARCH = "optuna.study"


def _libraries(args: Mapping[str, Argument]) -> tuple[str, ...]:
    """Return Optuna, the packages its sampler computes with, and those the user named."""
    plan = from_json(StudyPlan, args["plan"])
    names = ("optuna", "numpy", *NEEDS.get(plan.spec.sampler, ()), *plan.libraries)
    return tuple(dict.fromkeys(names))


@search(name=SEARCH, version=1, libraries=_libraries)
def run_study(plan: Table, *, inputs: Mapping[str, Object] = INPUTS) -> SearchBody:
    """Run the study described by `plan`, which `study` creates; `inputs` are those of the run."""
    study_plan, log = from_json(StudyPlan, plan), StudyLog()
    yield Milestone("trials", _rounds(study_plan))
    yield from study_steps(study_plan, inputs, log)
    return answer(log.trials, study_plan.spec.directions)


def study(
    objective: AnyTask | str | Mapping[str, Value],
    space: Space | DynamicSpace,
    *,
    trials: int,
    sampler: str = "tpe",
    batch: int | None = None,
    width: int | None = None,
    direction: str = "minimize",
    directions: Sequence[str] = (),
    rungs: Mapping[str, Sequence[int]] | None = None,
    eta: int = 3,
    options: Mapping[str, Value] | None = None,
    fixed: Mapping[str, Value] | None = None,
    libraries: Sequence[str] = (),
) -> SearchCall:
    """Search for the best parameters of a task, the `objective`, with an Optuna sampler.

    At most `trials` are evaluated; `direction` is minimize or maximize. `eta` is for `rungs`.

    `space` names the parameters (`Float`, `Int`, `Categorical`), or is a function that takes an
    Optuna trial and suggests them, so that one may depend on another. `sampler` is tpe, random,
    gp, cmaes, qmc, grid, nsga2, nsga3, or `module:function` that returns a sampler; `options` are
    its keyword arguments. Trials are sampled in batches of `batch` (8), or in a stream with `width`
    of them in flight. For several objectives give `directions`.

    `rungs={"epochs": [1, 3, 9]}` evaluates each trial of a batch with `epochs=1`, the best 1/eta
    with 3, the best of those with 9. `fixed` are extra arguments of every evaluation; inputs of the
    run are passed by name. `libraries` names more packages whose version affects the result.
    """
    evaluated, parameters = objective_of(objective)
    recorded_space = space_of(space)
    ways = list(directions) if directions else [direction]
    spec = checked_spec(sampler, dict(options or {}), recorded_space, ways)
    halving = checked_rungs(rungs, eta, parameters)
    names = [*(recorded_space if isinstance(recorded_space, dict) else ()), *(fixed or ())]
    check_parameters(evaluated, parameters, [*names, *([halving.resource] if halving else [])])
    size, under_way = batch_and_width(spec, trials, batch, width, halving)
    plan = StudyPlan(
        evaluated, spec, most_trials(spec, trials), size, under_way, halving, dict(fixed or {}),
        tuple(libraries),
    )  # fmt: skip
    return with_code(run_study(to_json(plan)), evaluated)


study.is_search = True  # type: ignore[attr-defined] # marks the function
study.search_name = SEARCH  # type: ignore[attr-defined] # marks the function


def _rounds(plan: StudyPlan) -> tuple[int, ...]:
    """Return the expected sizes of rounds, for the progress display."""
    if plan.batch is None:
        return (plan.trials,)
    sizes, levels = [1, plan.batch], plan.rungs.levels if plan.rungs else ()
    for _ in levels[1:]:
        assert plan.rungs is not None
        sizes.append(max(1, sizes[-1] // plan.rungs.eta))
    return tuple(sizes) * -(-plan.trials // plan.batch)


# -- the trials of a study ---------------------------------------------------------------------


@dataclass(slots=True)
class OpenTrial:
    """A trial in progress."""

    number: int
    point: Mapping[str, Any]
    values: tuple[float, ...] = ()
    steps: list[tuple[int, float]] = field(default_factory=list)
    checkpoint: Value = None
    failed: bool = False
    evaluations: int = 0

    def take(self, plan: StudyPlan, level: int | None, result: Result) -> None:
        """Add the result of an evaluation."""
        self.evaluations += 1
        value = result.value if result.ok else None
        if result.ok and plan.rungs is not None and plan.rungs.has_checkpoint:
            value = _with_checkpoint(value, result.function)
            self.checkpoint, value = value[CHECKPOINT], value["value"]
        count = len(plan.spec.directions)
        values = numbers_of(value, count, result.function) if result.ok else None
        if values is None:
            self.failed = True
            return
        self.values = values
        if level is not None:
            self.steps.append((level, values[0]))

    def ended(self, evaluations: int) -> TrialRecord:
        """Return the trial as it ended; it is complete after `evaluations` evaluations."""
        point = self.point
        if self.failed:
            return TrialRecord(
                self.number, point["params"], "failed", (), tuple(self.steps), point.get("space")
            )
        return TrialRecord(
            self.number,
            point["params"],
            "complete" if self.evaluations == evaluations else "pruned",
            self.values,
            tuple(self.steps),
            point.get("space"),
        )


def _with_checkpoint(value: Value, function: str) -> dict[str, Value]:
    """Return the value of an objective with a checkpoint; raises SearchInvalid if malformed."""
    if isinstance(value, dict) and {"value", CHECKPOINT} <= value.keys():
        return value
    raise SearchInvalid(
        f"{function} returned {value!r:.80}; an objective that takes a {CHECKPOINT} returns "
        f'{{"value": …, "{CHECKPOINT}": …}}'
    )


@dataclass(slots=True)
class StudyLog:
    """The trials of a study so far; read by the export of a run."""

    trials: list[TrialRecord] = field(default_factory=list)
    batch: list[OpenTrial] = field(default_factory=list)
    """The batch under way."""
    alive: list[OpenTrial] = field(default_factory=list)
    """Trials of the batch that are evaluated in the current round, up to `level`."""
    level: int | None = None


Steps = Generator[Any, Sequence[Result], None]


def study_steps(plan: StudyPlan, inputs: Mapping[str, Argument], log: StudyLog) -> Steps:
    """Yield the rounds of a study and add its trials to `log`."""
    if plan.width is not None:
        results = yield make_stream(proposals(plan, inputs), width=plan.width, most=plan.trials)
        log.trials += stream_trials(results, len(plan.spec.directions))
        return
    assert plan.batch is not None
    spec, state = to_json(plan.spec), None
    ended: list[TrialRecord] = []
    while len(log.trials) < plan.trials:
        count = min(plan.batch, plan.trials - len(log.trials))
        [proposal] = yield [ask(spec, count, state, [to_json(trial) for trial in ended])]
        first = len(log.trials)
        points = proposal.value["points"]
        if not points:
            return
        log.batch = [OpenTrial(first + i, point) for i, point in enumerate(points)]
        yield from _evaluate(plan, inputs, log)
        ended = [trial.ended(len(plan.rungs.levels) if plan.rungs else 1) for trial in log.batch]
        log.trials += ended
        log.batch, state = [], proposal.value["state"]


def _evaluate(plan: StudyPlan, inputs: Mapping[str, Argument], log: StudyLog) -> Steps:
    """Evaluate a batch, rung by rung: the best of each are promoted to the next."""
    log.alive = log.batch
    for level in plan.rungs.levels if plan.rungs else (None,):
        log.level = level
        calls = [plan.call(inputs, t.point["params"], level, t.checkpoint) for t in log.alive]
        results = yield calls
        for trial, result in zip(log.alive, results, strict=True):
            trial.take(plan, level, result)
        log.alive = _promoted(plan, log.alive)
        if not log.alive:
            return
    log.alive = []


def _promoted(plan: StudyPlan, trials: Sequence[OpenTrial]) -> list[OpenTrial]:
    """Return the best 1/eta of a rung, at least one, in the order of their numbers."""
    if plan.rungs is None:
        return []
    direction = plan.spec.directions[0]
    sound = [trial for trial in trials if not trial.failed]
    order = sorted(sound, key=lambda trial: (signed(trial.values[0], direction), trial.number))
    best = order[: max(1, len(trials) // plan.rungs.eta)]
    return sorted(best, key=lambda trial: trial.number)


# -- without a barrier -------------------------------------------------------------------------


def proposals(
    plan: StudyPlan, inputs: Mapping[str, Argument]
) -> Generator[TaskCall, Result | None, None]:
    """Yield one call per trial, each told the trials up to `width` before it."""
    spec, objective = to_json(plan.spec), to_json(plan.objective)
    args, code = cast("Table", {**plan.fixed, **inputs}), plan.objective.code
    state: Object | None = None
    ended: list[TrialRecord] = []
    for number in range(plan.trials):
        records: list[Table] = [to_json(trial) for trial in ended]
        call = sample_and_evaluate(spec, objective, args, number, state, records)
        result = yield TaskCall(
            call.function, call.args, plan.objective.limits, (*call.code, *code)
        )
        if result is not None:
            ended.append(_stream_trial(result, len(plan.spec.directions)))
            if result.ok:
                known = {trial["number"] for trial in result.args["told"]}
                state = result.value["state"]
                ended = [trial for trial in ended if trial.number not in known]


def stream_trials(results: Sequence[Result], count: int) -> list[TrialRecord]:
    """Return the trials of a stream."""
    return [_stream_trial(result, count) for result in results]


def _stream_trial(result: Result, count: int) -> TrialRecord:
    number = result.args["number"]
    if not result.ok:
        return TrialRecord(number, {}, "failed")
    point, function = result.value["point"], result.args["objective"]["task"]
    values = numbers_of(result.value["value"], count, function)
    if values is None:
        return TrialRecord(number, point["params"], "failed", space=point.get("space"))
    return TrialRecord(number, point["params"], "complete", values, space=point.get("space"))
