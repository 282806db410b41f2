"""The search behind `weft prng pipeline`: the six steps as stages of one run.

    1 window ─► 2.5 scorer ─► 3 scoring ─► 4 training parameters ─► 5 model, nulls, verdict ─► 6

The generator only decides: which trial is best, how many chunks there are, whether to predict. All
floating-point work happens in tasks. Each step ends with a task that records its artifacts, so
that another run can start at any step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from weft import INPUTS, search
from weft.model.codec import Table, from_json, to_json
from weft.model.tasks import Milestone, TaskCall, Unknown
from weft.model.values import Object, Value
from weft.searches.prng.pipeline import learntasks, models, tasks
from weft.searches.prng.pipeline.adapt import TrainingParams
from weft.searches.prng.pipeline.artifact import SCORED
from weft.searches.prng.pipeline.learntasks import FittedModel, Pool
from weft.searches.prng.pipeline.models import ModelParams
from weft.searches.prng.pipeline.nulls import OBSERVED, RANDOM, SHUFFLED
from weft.searches.prng.pipeline.optimizer import Trial
from weft.searches.prng.pipeline.reference import ScorerConfig
from weft.searches.prng.pipeline.request import BATCH, CHUNK_ROWS, FOLDS, PipelineRequest
from weft.searches.prng.pipeline.scorertrial import SPACE
from weft.searches.prng.pipeline.steps import STEPS
from weft.searches.prng.pipeline.training import (
    LEAST_ROWS,
    FoldScore,
    ModelChoice,
    ModelMetrics,
    ModelTrial,
    Preflight,
    RerunModel,
)
from weft.searches.prng.pipeline.verdict import PipelineVerdict
from weft.searches.prng.pipeline.window import TrialJudgement
from weft.searches.prng.rounds import Rounds

NAME = "prng.pipeline"


@dataclass(frozen=True, slots=True)
class PipelineStart:
    """Where a run starts: a step, and head and size of the run whose artifacts are its inputs."""

    step: str
    head: str | None = None
    size: int | None = None


class StepOutcome(NamedTuple):
    """The result of a step: the count shown in its summary, and the names of its artifacts."""

    total: int
    names: Sequence[str]


class WindowTrial(NamedTuple):
    """A trial of step 1: the choice, the results of each range of seeds, and the judgement."""

    choice: Table
    parts: Sequence[Table]
    judgement: TrialJudgement


Step = Callable[[], Rounds[StepOutcome | Unknown]]


@search(
    name="prng.pipeline",
    version=4,
    libraries=("optuna", "scikit-learn", "lightgbm", "xgboost", "polars", "numpy"),
)
def pipeline(
    plan: Table, start: Table, *, inputs: Mapping[str, Object] = INPUTS
) -> Rounds[Table | Unknown | None]:
    """Run the steps from that of `start` on; the answer is the prediction, or no signal.

    `start` also names the head of the earlier run whose artifacts are among the inputs, if any.
    """
    state = PipelineState(from_json(PipelineRequest, plan), dict(inputs))
    first = from_json(PipelineStart, start).step
    if first != STEPS[0]:
        [measured] = yield [tasks.measure(inputs["survivors"])]
        state.rows = measured.value
    for step in STEPS[STEPS.index(first) :]:
        yield Milestone(step, (*state.expected(step), 1))
        outcome = yield from state.steps()[step]()
        if isinstance(outcome, Unknown):
            return outcome
        artifacts: dict[str, Value] = {name: state.artifacts[name] for name in outcome.names}
        yield [tasks.finish_step(step, outcome.total, artifacts)]
    return state.answer


class PipelineState:
    """The state of a run: the artifacts so far. Methods only decide; all work is in tasks."""

    def __init__(self, request: PipelineRequest, artifacts: dict[str, Object]) -> None:
        self.record, self.request, self.artifacts = to_json(request), request, artifacts
        self.rows = 0
        """Number of survivors, known after step 1."""
        self.answer: Table | None = None
        self.verdict: PipelineVerdict | None = None

    def steps(self) -> dict[str, Step]:
        """Return the method of each step."""
        return {
            "1": self.window,
            "2.5": self.scorer,
            "3": self.score,
            "4": self.adapt,
            "5": self.learn,
            "6": self.predict,
        }

    def expected(self, step: str) -> list[int]:
        """Return the sizes of a step's rounds, as far as they are known before it starts."""
        request, ranges = self.request, len(self.request.ranges())
        if step == "1":
            batches = batches_of(request.window_trials)
            return [1, *(size for k in batches for size in (1, k * ranges, k)), 1]
        if step == "2.5":
            return [1, *(size for k in batches_of(request.scorer_trials) for size in (1, k)), 1]
        if step == "3":
            return [len(self._spans())]
        if step == "5":
            kinds = len(request.models())
            sizes = [(kinds, kinds * k * FOLDS) for k in batches_of(request.model_trials)]
            tuned = [size for pair in sizes for size in pair]
            return [1, 1, 1, *tuned, 1, 1 + request.nulls, 1]
        return [ranges, 1] if step == "6" else [1]

    def _spans(self) -> list[tuple[int, int]]:
        """Return the chunks of survivors, as row ranges; a single empty one if none survived."""
        rows = max(1, self.rows)
        return [(low, min(low + CHUNK_ROWS, self.rows)) for low in range(0, rows, CHUNK_ROWS)]

    # -- step 1 ---------------------------------------------------------------------------

    def window(self) -> Rounds[StepOutcome | Unknown]:
        """Find the window whose survivors hold best on disjoint draws."""
        [frozen] = yield [tasks.freeze(self.record, self.artifacts["draws"])]
        self.artifacts["split"] = frozen.value["split"]
        space, target = frozen.value["space"], frozen.value["target"]
        trials: list[Trial] = []
        details: list[WindowTrial] = []
        for k in batches_of(self.request.window_trials):
            [proposal] = yield [tasks.ask(space, k, _records(trials), target)]
            batch = yield from self._try_windows(proposal.value)
            details += batch
            trials += [
                Trial(params, trial.judgement.evidence, target)
                for params, trial in zip(proposal.value, batch, strict=True)
            ]
        return (yield from self._settle(trials, details))

    def _try_windows(self, choices: Sequence[Table]) -> Rounds[list[WindowTrial]]:
        """Sieve and judge a batch of trials."""
        request, split = self.request, self.artifacts["split"]
        parts = yield from self._sieve(choices)
        judged = yield [
            tasks.judge_trial(self.record, split, choice, own, request.window_trials)
            for choice, own in zip(choices, parts, strict=True)
        ]
        return [
            WindowTrial(choice, own, from_json(TrialJudgement, result.value))
            for choice, own, result in zip(choices, parts, judged, strict=True)
        ]

    def _sieve(self, choices: Sequence[Table]) -> Rounds[list[list[Table]]]:
        """Sieve all ranges of a batch of trials in one round; return the results by trial."""
        ranges = self.request.ranges()
        results = yield [
            tasks.sieve_range(self.record, self.artifacts["split"], choice, low, high)
            for choice in choices
            for low, high in ranges
        ]
        values = [result.value for result in results]
        each = len(ranges)
        return [values[at : at + each] for at in range(0, len(values), each)]

    def _settle(
        self, trials: Sequence[Trial], details: Sequence[WindowTrial]
    ) -> Rounds[StepOutcome | Unknown]:
        """Store the best trial, the first in a tie."""
        best = max(range(len(trials)), key=lambda at: (trials[at].value, -at))
        choice, parts, judgement = details[best]
        tried = sum(trial.judgement.tried for trial in details)
        [settled] = yield [
            tasks.settle_window(
                self.record, choice, parts, to_json(judgement), _records(trials), tried
            )
        ]
        self.artifacts["window"] = settled.value["window"]
        self.artifacts["survivors"] = settled.value["survivors"]
        self.rows = settled.value["rows"]
        return StepOutcome(self.rows, ("draws", "split", "window", "survivors"))

    # -- steps 2.5, 3, 4 --------------------------------------------------------------------

    def scorer(self) -> Rounds[StepOutcome | Unknown]:
        """Find the feature parameters; without survivors to judge by, use the defaults."""
        context = self._context()
        [drawn] = yield [tasks.draw_sample(*context, self.artifacts["survivors"])]
        sample: Object = drawn.value["sample"]
        target = f"variance explained on {sample.digest}"
        trials: list[Trial] = []
        for k in batches_of(self.request.scorer_trials if drawn.value["rows"] else 0):
            [proposal] = yield [tasks.ask(dict(SPACE), k, _records(trials), target)]
            results = yield [tasks.scorer_trial(*context, sample, own) for own in proposal.value]
            trials += [
                Trial(params, result.value, target)
                for params, result in zip(proposal.value, results, strict=True)
            ]
        [settled] = yield [tasks.settle_scorer(_best_scorer(trials), _records(trials))]
        self.artifacts["scorer"] = settled.value
        return StepOutcome(len(trials), ("scorer",))

    def score(self) -> Rounds[StepOutcome | Unknown]:
        """Score all survivors in chunks."""
        spans = self._spans()
        context = self._context()
        scorer, survivors = self.artifacts["scorer"], self.artifacts["survivors"]
        results = yield [
            tasks.score_chunk(*context, scorer, survivors, low, high) for low, high in spans
        ]
        names = [f"{SCORED}{at:05d}" for at in range(len(spans))]
        for name, result in zip(names, results, strict=True):
            self.artifacts[name] = result.value["scored"]
        return StepOutcome(self.rows, names)

    def adapt(self) -> Rounds[StepOutcome | Unknown]:
        """Derive the training parameters, or use those given by the user."""
        params = self.artifacts.get("params")
        call = (
            tasks.derive_training(*self._context(), self._scored())
            if params is None
            else tasks.take_training(params)
        )
        [adapted] = yield [call]
        self.artifacts["training"] = adapted.value["training"]
        return StepOutcome(len(adapted.value["values"]) - 1, ("training",))

    # -- step 5 -----------------------------------------------------------------------------

    def learn(self) -> Rounds[StepOutcome | Unknown]:
        """Compare models, fit the best, run the null reruns, and decide on a signal."""
        [values] = yield [learntasks.training_values(self.artifacts["training"])]
        training = from_json(TrainingParams, values.value)
        call = learntasks.pool(*self._context(), self._scored(), training.pool_size)
        [gathered] = yield [call]
        pool = from_json(Pool, gathered.value)
        self.artifacts["final"] = pool.final
        choice: ModelChoice | None = None
        metrics: ModelMetrics | None = None
        reruns: list[int] = []
        if pool.rows >= LEAST_ROWS and pool.ranked:
            choice, metrics = yield from self._model(training, pool)
            reruns = yield from self._reruns(choice, pool.null_seeds)
        [concluded] = yield [self._conclude_call(pool, choice, metrics, reruns)]
        self.artifacts["sidecar"] = concluded.value["sidecar"]
        self.verdict = from_json(PipelineVerdict, concluded.value)
        names = [name for name in ("model", "sidecar", "final") if name in self.artifacts]
        return StepOutcome(len(metrics.trials) if metrics else 0, names)

    def _model(
        self, training: TrainingParams, pool: Pool
    ) -> Rounds[tuple[ModelChoice, ModelMetrics]]:
        """Check the rows, compare all kinds of model and fit the best one."""
        scorer = self.artifacts["scorer"]
        [checked] = yield [learntasks.preflight(*self._context(), scorer, pool.inner)]
        checks = from_json(Preflight, checked.value)
        trials = yield from self._compare(training, pool.inner, checks.features)
        best = max(range(len(trials)), key=lambda at: (trials[at].value, -at))
        kind, params = trials[best].kind, trials[best].params
        whole = models.with_training(kind, params, training, self.request.net)
        choice = ModelChoice(kind, whole, checks.features)
        [fitted] = yield [
            learntasks.fit_model(kind, whole, pool.inner, pool.final, list(choice.names))
        ]
        fit = from_json(FittedModel, fitted.value)
        self.artifacts["model"] = fit.model
        return choice, ModelMetrics(
            fit.train, fit.test, fit.permutation_permille, fit.calibration, checks, tuple(trials)
        )

    def _compare(
        self, training: TrainingParams, inner: Object, names: Sequence[str]
    ) -> Rounds[list[ModelTrial]]:
        """Tune every kind of model by cross-validation."""
        kinds = self.request.models()
        trials: dict[str, list[Trial]] = {kind: [] for kind in kinds}
        judged: list[ModelTrial] = []
        for k in batches_of(self.request.model_trials):
            proposals = yield [
                tasks.ask(models.search_space(kind, training), k, _records(trials[kind]), kind)
                for kind in kinds
            ]
            sets = [
                (kind, own) for kind, a in zip(kinds, proposals, strict=True) for own in a.value
            ]
            results = yield self._folds(sets, training, inner, names)
            for at, (kind, params) in enumerate(sets):
                own_folds = results[at * training.folds : (at + 1) * training.folds]
                scores = [from_json(FoldScore, result.value) for result in own_folds]
                trial = ModelTrial.of(kind, params, scores)
                judged.append(trial)
                trials[kind].append(Trial(params, trial.value, kind))
        return judged

    def _folds(
        self,
        sets: Sequence[tuple[str, ModelParams]],
        training: TrainingParams,
        inner: Object,
        names: Sequence[str],
    ) -> list[TaskCall]:
        """Return the tasks that train every parameter set once per fold."""
        folds, net = training.folds, self.request.net
        return [
            learntasks.fold(kind, whole, inner, list(names), number, folds)
            for kind, params in sets
            for whole in [models.with_training(kind, params, training, net)]
            for number in range(folds)
        ]

    def _reruns(self, choice: ModelChoice, seeds: Object) -> Rounds[list[int]]:
        """Rerun on the observed history, then alternately on shuffled and random ones."""
        model = to_json(RerunModel(choice.kind, choice.params, choice.seed))
        context = self._context()
        scorer, training = self.artifacts["scorer"], self.artifacts["training"]
        kinds = [OBSERVED, *((SHUFFLED, RANDOM)[at % 2] for at in range(self.request.nulls))]
        results = yield [
            learntasks.rerun(*context, scorer, training, model, seeds, kind, at)
            for at, kind in enumerate(kinds)
        ]
        return [result.value for result in results]

    def _conclude_call(
        self,
        pool: Pool,
        choice: ModelChoice | None,
        metrics: ModelMetrics | None,
        reruns: list[int],
    ) -> TaskCall:
        chosen = {} if choice is None else to_json(choice)
        fitted = {} if metrics is None else to_json(metrics)
        model = self.artifacts.get("model")
        return learntasks.conclude(
            *self._context(), pool.final, model, fitted, chosen, reruns, self._provenance()
        )

    # -- step 6 -----------------------------------------------------------------------------

    def predict(self) -> Rounds[StepOutcome | Unknown]:
        """Predict the next draws; return Unknown without a signal."""
        if self.verdict is None:
            [recorded] = yield [learntasks.verdict_of(self.artifacts["sidecar"])]
            self.verdict = from_json(PipelineVerdict, recorded.value)
        if not self.verdict.signal:
            return Unknown("no signal", to_json(self.verdict))
        ranges = self.request.ranges()
        results = yield [learntasks.sieve_now(*self._context(), low, high) for low, high in ranges]
        parts = [result.value for result in results]
        scorer, final, sidecar = (self.artifacts[name] for name in ("scorer", "final", "sidecar"))
        model = self.artifacts.get("model")
        call = learntasks.predict(*self._context(), scorer, final, model, sidecar, parts)
        [predicted] = yield [call]
        self.artifacts["predictions"] = predicted.value["predictions"]
        self.answer = {**to_json(self.verdict), **predicted.value}
        return StepOutcome(len(predicted.value["streams"]), ("predictions",))

    # -- artifacts --------------------------------------------------------------------------

    def _context(self) -> tuple[Table, Object, Object]:
        """Return the request, split and window."""
        return self.record, self.artifacts["split"], self.artifacts["window"]

    def _scored(self) -> list[Object]:
        names = [name for name in sorted(self.artifacts) if name.startswith(SCORED)]
        return [self.artifacts[name] for name in names]

    def _provenance(self) -> dict[str, str]:
        """Return the digest of every artifact that led to the model."""
        return {name: item.digest for name, item in sorted(self.artifacts.items())}


def batches_of(trials: int) -> list[int]:
    """Return the batch sizes for a number of trials: BATCH each, the last may be smaller."""
    return [min(BATCH, trials - at) for at in range(0, trials, BATCH)]


def _records(trials: Sequence[Trial]) -> list[Table]:
    """Return the recorded forms of trials, for task arguments."""
    return [to_json(trial) for trial in trials]


def _best_scorer(trials: Sequence[Trial]) -> Table:
    """Return the parameters of the best trial, the first in a tie; the defaults without trials."""
    if not trials:
        return to_json(ScorerConfig())
    return max(trials, key=lambda trial: trial.value).params
