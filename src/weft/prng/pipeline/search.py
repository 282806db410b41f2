"""The search behind `weft prng pipeline`: the six steps as stages of one run.

    1 window ─► 2.5 scorer ─► 3 scoring ─► 4 training parameters ─► 5 model, nulls, verdict ─► 6

The generator only decides: which trial was best, how many chunks there are, whether to go on to
a prediction. All floating point happens in tasks. Each step ends with a task that records its
artifacts, so that another run can begin at any step.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from weft.define import search
from weft.model.tasks import Milestone, TaskCall, Unknown
from weft.model.values import Object
from weft.prng.pipeline import learntasks, models, tasks
from weft.prng.pipeline.artifact import SCORED
from weft.prng.pipeline.nulls import OBSERVED, RANDOM, SHUFFLED
from weft.prng.pipeline.plan import BATCH, CHUNK_ROWS, FOLDS, Plan
from weft.prng.pipeline.reference import ScorerConfig
from weft.prng.pipeline.scorertrial import SPACE
from weft.prng.pipeline.steps import STEPS
from weft.prng.pipeline.training import LEAST_ROWS, OVERFIT, FoldScore, explained_on_folds

NAME = "weft.prng.pipeline.search:pipeline"
Steps = Generator[Any, Any, Any]
Shelf = dict[str, Object]


@search(version=1, libraries=("optuna", "scikit-learn", "lightgbm", "xgboost", "polars", "numpy"))
def pipeline(plan: dict[str, Any], start: dict[str, Any], *, inputs: Any) -> Steps:
    """Run the steps from `start["step"]` on; the answer is the prediction, or no signal.

    `start` also names the head of the run whose artifacts are among the inputs, if any.
    """
    work = Work(plan, dict(inputs))
    if start["step"] != STEPS[0]:
        [measured] = yield [tasks.measure(inputs["survivors"])]
        work.rows = measured.value
    for step in STEPS[STEPS.index(start["step"]) :]:
        yield Milestone(step, (*work.expected(step), 1))
        made = yield from work.steps()[step]()
        if isinstance(made, Unknown):
            return made
        count, names = made
        yield [tasks.finish_step(step, count, {name: work.shelf[name] for name in names})]
    return work.answer


class Work:
    """One run while it goes on: the artifacts so far. Every method is a pure decision."""

    def __init__(self, plan: Mapping[str, Any], shelf: Shelf) -> None:
        self.raw, self.plan, self.shelf = dict(plan), Plan.from_dict(plan), shelf
        self.rows = 0
        """Survivors, once step 1 has found them."""
        self.answer: dict[str, Any] = {}
        self.verdict: dict[str, Any] = {}

    def steps(self) -> dict[str, Any]:
        """Return what each step does."""
        return {
            "1": self.window,
            "2.5": self.scorer,
            "3": self.score,
            "4": self.adapt,
            "5": self.learn,
            "6": self.predict,
        }

    def expected(self, step: str) -> list[int]:
        """Return the sizes of a step's rounds, as far as they are known before it begins."""
        plan, ranges = self.plan, len(self.plan.ranges())
        if step == "1":
            batches = batches_of(plan.window_trials)
            return [1, *(size for k in batches for size in (1, k * ranges, k)), 1]
        if step == "2.5":
            return [1, *(size for k in batches_of(plan.scorer_trials) for size in (1, k)), 1]
        if step == "3":
            return [len(self._spans())]
        if step == "5":
            kinds = len(plan.models())
            sizes = [(kinds, kinds * k * FOLDS) for k in batches_of(plan.model_trials)]
            tuned = [size for pair in sizes for size in pair]
            return [1, 1, 1, *tuned, 1, 1 + plan.nulls, 1]
        return [ranges, 1] if step == "6" else [1]

    def _spans(self) -> list[tuple[int, int]]:
        """Return the chunks of survivors; one that is empty when none survived."""
        rows = max(1, self.rows)
        return [(low, min(low + CHUNK_ROWS, self.rows)) for low in range(0, rows, CHUNK_ROWS)]

    # -- step 1 ---------------------------------------------------------------------------

    def window(self) -> Steps:
        """Find the window whose survivors hold on disjoint draws."""
        [frozen] = yield [tasks.freeze(self.raw, self.shelf["draws"])]
        self.shelf["split"] = frozen.value["split"]
        space, target = frozen.value["space"], frozen.value["target"]
        trials: list[dict[str, Any]] = []
        kept: list[tuple[Any, Any]] = []
        for k in batches_of(self.plan.window_trials):
            [asked] = yield [tasks.ask(space, k, trials, target)]
            parts = yield from self._sieve(asked.value)
            judged = yield [
                tasks.judge_trial(self.raw, self.shelf["split"], one, part, self.plan.window_trials)
                for one, part in zip(asked.value, parts, strict=True)
            ]
            for one, part, result in zip(asked.value, parts, judged, strict=True):
                value = result.value["evidence"]
                trials.append({"params": one, "value": value, "target": target})
                kept.append((part, result.value))
        return (yield from self._settle(trials, kept))

    def _sieve(self, asked: Sequence[Mapping[str, Any]]) -> Steps:
        """Sieve all ranges of a batch of trials in one round; return parts by trial."""
        ranges = self.plan.ranges()
        calls = [
            tasks.sieve_range(self.raw, self.shelf["split"], one, low, high)
            for one in asked
            for low, high in ranges
        ]
        found = yield calls
        values = [result.value for result in found]
        each = len(ranges)
        return [values[at : at + each] for at in range(0, len(values), each)]

    def _settle(self, trials: list[dict[str, Any]], kept: list[tuple[Any, Any]]) -> Steps:
        best = max(range(len(trials)), key=lambda at: (trials[at]["value"], -at))
        parts, judged = kept[best]
        tried = sum(one["tried"] for _, one in kept)
        asked = trials[best]["params"]
        call = tasks.settle_window(self.raw, asked, parts, judged, trials, tried)
        [settled] = yield [call]
        self.shelf["window"] = settled.value["window"]
        self.shelf["survivors"] = settled.value["survivors"]
        self.rows = settled.value["rows"]
        return self.rows, ("draws", "split", "window", "survivors")

    # -- steps 2.5, 3, 4 --------------------------------------------------------------------

    def scorer(self) -> Steps:
        """Find parameters of the features; without survivors to judge by, the usual ones."""
        ground = self._ground()
        [drawn] = yield [tasks.draw_sample(*ground, self.shelf["survivors"])]
        target = f"variance explained on {drawn.value['sample'].digest}"
        trials: list[dict[str, Any]] = []
        for k in batches_of(self.plan.scorer_trials if drawn.value["rows"] else 0):
            [asked] = yield [tasks.ask(dict(SPACE), k, trials, target)]
            sample = drawn.value["sample"]
            found = yield [tasks.scorer_trial(*ground, sample, one) for one in asked.value]
            for one, result in zip(asked.value, found, strict=True):
                trials.append({"params": one, "value": result.value, "target": target})
        usual: dict[str, Any] = dict(ScorerConfig().to_dict())
        best = max(trials, key=lambda trial: trial["value"])["params"] if trials else usual
        [settled] = yield [tasks.settle_scorer(best, trials)]
        self.shelf["scorer"] = settled.value
        return len(trials), ("scorer",)

    def score(self) -> Steps:
        """Score all survivors in chunks."""
        spans = self._spans()
        ground = self._ground("scorer", "survivors")
        found = yield [tasks.score_chunk(*ground, low, high) for low, high in spans]
        names = [f"{SCORED}{at:05d}" for at in range(len(spans))]
        for name, result in zip(names, found, strict=True):
            self.shelf[name] = result.value["scored"]
        return self.rows, names

    def adapt(self) -> Steps:
        """Derive the training parameters, or take those that were given."""
        given = self.shelf.get("params")
        call = (
            tasks.derive_training(*self._ground(), self._scored())
            if given is None
            else tasks.take_training(given)
        )
        [made] = yield [call]
        self.shelf["training"] = made.value["training"]
        return len(made.value["values"]) - 1, ("training",)

    # -- step 5 -----------------------------------------------------------------------------

    def learn(self) -> Steps:
        """Compare models, fit the best, rerun on nulls, and decide whether there is a signal."""
        [known] = yield [learntasks.training_values(self.shelf["training"])]
        values = known.value
        [gathered] = yield [learntasks.pool(*self._ground(), self._scored(), values["pool_size"])]
        pool = gathered.value
        self.shelf["final"] = pool["final"]
        chosen: dict[str, Any] = {}
        fitted: dict[str, Any] = {}
        reruns: list[int] = []
        trials = 0
        if pool["rows"] >= LEAST_ROWS and pool["ranked"]:
            [looked] = yield [learntasks.preflight(*self._ground("scorer"), pool["inner"])]
            names = looked.value["features"]
            chosen, trials = yield from self._compare(values, pool["inner"], names)
            fitted = yield from self._fit(chosen, pool, names)
            fitted |= {"preflight": looked.value, "trials": chosen.pop("trials")}
            reruns = yield from self._reruns(chosen, pool["null_seeds"])
        call = learntasks.conclude(
            *self._ground(), pool["final"], self.shelf.get("model"), fitted, chosen, reruns,
            self._provenance(),
        )  # fmt: skip
        [concluded] = yield [call]
        self.shelf["sidecar"] = concluded.value["sidecar"]
        self.verdict = {n: v for n, v in concluded.value.items() if n != "sidecar"}
        names_kept = [n for n in ("model", "sidecar", "final") if n in self.shelf]
        return trials, names_kept

    def _compare(
        self, values: Mapping[str, Any], inner: Object, names: Sequence[str]
    ) -> Generator[Any, Any, tuple[dict[str, Any], int]]:
        """Tune every kind of model by its folds; choose by what holds on folds not seen."""
        kinds, folds = self.plan.models(), values["folds"]
        trials: dict[str, list[dict[str, Any]]] = {kind: [] for kind in kinds}
        judged: list[dict[str, Any]] = []
        for k in batches_of(self.plan.model_trials):
            asks = yield [
                tasks.ask(models.search_space(kind, values), k, trials[kind], kind)
                for kind in kinds
            ]
            sets = [
                (kind, one) for kind, asked in zip(kinds, asks, strict=True) for one in asked.value
            ]
            found = yield self._folds(sets, values, inner, names)
            for at, (kind, one) in enumerate(sets):
                own = found[at * folds : (at + 1) * folds]
                scores = [FoldScore(**result.value) for result in own]
                trial = _trial(kind, one, scores)
                judged.append(trial)
                trials[kind].append({"params": one, "value": trial["value"], "target": kind})
        best = max(range(len(judged)), key=lambda at: (judged[at]["value"], -at))
        kind, params = judged[best]["kind"], judged[best]["params"]
        full = models.with_training(kind, params, values, self.plan.net)
        chosen = {"kind": kind, "params": full, "trials": judged, "names": list(names), "seed": 1}
        return chosen, len(judged)

    def _folds(
        self, sets: Sequence[tuple[str, Any]], values: Mapping[str, Any], inner: Object,
        names: Sequence[str],
    ) -> list[TaskCall]:  # fmt: skip
        folds, net = values["folds"], self.plan.net
        return [
            learntasks.fold(kind, whole, inner, list(names), number, folds)
            for kind, one in sets
            for whole in [models.with_training(kind, one, values, net)]
            for number in range(folds)
        ]

    def _fit(
        self, chosen: Mapping[str, Any], pool: Mapping[str, Any], names: Sequence[str]
    ) -> Generator[Any, Any, dict[str, Any]]:
        [made] = yield [
            learntasks.fit_model(
                chosen["kind"], chosen["params"], pool["inner"], pool["final"], list(names)
            )
        ]
        self.shelf["model"] = made.value["model"]
        return {name: value for name, value in made.value.items() if name != "model"}

    def _reruns(self, chosen: Mapping[str, Any], seeds: Object) -> Generator[Any, Any, list[int]]:
        """Rerun on the observed history, then in turn on shuffled and on random ones."""
        ground = self._ground("scorer", "training")
        short = {name: chosen[name] for name in ("kind", "params", "seed")}
        kinds = [OBSERVED, *((SHUFFLED, RANDOM)[at % 2] for at in range(self.plan.nulls))]
        found = yield [
            learntasks.rerun(*ground, short, seeds, kind, at) for at, kind in enumerate(kinds)
        ]
        return [result.value for result in found]

    # -- step 6 -----------------------------------------------------------------------------

    def predict(self) -> Steps:
        """Foretell the next draws, or refuse: without a signal there is nothing to foretell."""
        if not self.verdict:
            [known] = yield [learntasks.verdict_of(self.shelf["sidecar"])]
            self.verdict = known.value
        if not self.verdict["signal"]:
            return Unknown("no signal", self.verdict)
        ranges = self.plan.ranges()
        found = yield [learntasks.sieve_now(*self._ground(), low, high) for low, high in ranges]
        parts = [result.value for result in found]
        ground = self._ground("scorer", "final", "model", "sidecar")
        [made] = yield [learntasks.predict(*ground, parts)]
        self.shelf["predictions"] = made.value["predictions"]
        self.answer = {**self.verdict, **made.value}
        return len(made.value["streams"]), ("predictions",)

    # -- artifacts --------------------------------------------------------------------------

    def _ground(self, *more: str) -> tuple[Any, ...]:
        """Return plan, split and window, and further artifacts by name."""
        return self.raw, *(self.shelf[name] for name in ("split", "window", *more))

    def _scored(self) -> list[Object]:
        return [self.shelf[name] for name in sorted(self.shelf) if name.startswith(SCORED)]

    def _provenance(self) -> dict[str, Any]:
        """Return the digest of every artifact that led to the model."""
        return {name: found.digest for name, found in sorted(self.shelf.items())}


def batches_of(trials: int) -> list[int]:
    """Return how many trials are asked for at a time: BATCH, whatever slots there are."""
    return [min(BATCH, trials - at) for at in range(0, trials, BATCH)]


def _trial(kind: str, params: Any, scores: Sequence[FoldScore]) -> dict[str, Any]:
    """Judge a parameter set by its folds: what it explains where it was not trained, the flag."""
    train = sum(score.train for score in scores) // len(scores)
    value = explained_on_folds(scores)
    flag = train - value > OVERFIT
    return {"kind": kind, "params": params, "train": train, "value": value, "overfit": flag}
