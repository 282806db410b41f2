"""The small search that checks a config on the root before ideas are tried.

It scores the root twice, sweeps it, and applies the ideas that need no command, all on the
engine. `checks` judges its answer.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

from weft import search
from weft.model.results import Result
from weft.model.tasks import Round, TaskCall, make_round
from weft.model.values import Object, Value
from weft.searches.tree import fields
from weft.searches.tree.config import Idea, Root, TreeConfig
from weft.searches.tree.failures import kind_of
from weft.searches.tree.fields import Table
from weft.searches.tree.history import Eval, TreeNode
from weft.searches.tree.recordings import Recordings
from weft.searches.tree.results import StageResult
from weft.searches.tree.stageargs import StageArgs, StageId
from weft.searches.tree.stages import call_of, root_call, source_state, stage_call

MAX_APPLIED = 200
"""Ideas that are tried on the root."""
SCORINGS = 2
COMPARED = ("score", "holdout", "rows", "metrics")
"""Fields of a result in which scorings of the root must agree."""


@search(name="tree.validate", version=2)
def validate(
    config: dict[str, Value],
    ideas: list[dict[str, Value]],
    root: dict[str, Value],
    *,
    inputs: Mapping[str, Object],
) -> Generator[Round, Sequence[Result], dict[str, Value]]:
    """Try on the root whatever costs nothing; the answer is the outcome of each part."""
    parsed, start = TreeConfig.from_dict(config), Root.from_dict(root)
    node = TreeNode(0, start.commit, start.tree, 0, ())
    fitting = _without_command([Idea.from_dict(raw) for raw in ideas], parsed)
    scores = yield make_round([root_call(node, n, parsed, inputs) for n in range(SCORINGS)])
    sweeps = yield make_round([_sweep(node, parsed, inputs)] if parsed.has("sweep") else [])
    evals = [Eval(number, node, idea, 1) for number, idea in enumerate(fitting, 1)]
    nothing = Recordings()
    applied = yield make_round(
        [stage_call("implement", item, parsed, inputs, nothing) for item in evals]
    )
    return RootTrial(
        tuple(RootOutcome.of("score", result) for result in scores),
        tuple(RootOutcome.of("sweep", result) for result in sweeps),
        {e.idea.name: _kind("implement", r) for e, r in zip(evals, applied, strict=True)},
    ).to_dict()


@dataclass(frozen=True, slots=True)
class RootOutcome:
    """What a stage reported on the root, or the name of its failure."""

    result: StageResult | None
    error: str = ""

    @staticmethod
    def of(stage: str, result: Result) -> RootOutcome:
        """Return the outcome of a task."""
        if not result.ok:
            return RootOutcome(None, _kind(stage, result))
        return RootOutcome(StageResult.from_dict(result.value))

    def to_dict(self) -> dict[str, Value]:
        """JSON form: what is compared, or the error."""
        if self.result is None:
            return {"error": self.error}
        return {name: self.result.recorded.get(name) for name in COMPARED}

    @staticmethod
    def from_dict(raw: Table) -> RootOutcome:
        """Read what `to_dict` wrote."""
        if "error" in raw:
            return RootOutcome(None, fields.text(raw, "error"))
        return RootOutcome(StageResult.from_dict(raw))


@dataclass(frozen=True, slots=True)
class RootTrial:
    """The answer of `validate`."""

    scores: tuple[RootOutcome, ...]
    sweeps: tuple[RootOutcome, ...]
    applied: Mapping[str, str]
    """The failure of each idea by name; empty where it applies."""

    def to_dict(self) -> dict[str, Value]:
        """JSON form."""
        return {
            "score": [outcome.to_dict() for outcome in self.scores],
            "sweep": [outcome.to_dict() for outcome in self.sweeps],
            "applied": dict(self.applied),
        }

    @staticmethod
    def from_dict(raw: Table) -> RootTrial:
        """Read what `to_dict` wrote."""
        scores, sweeps = (
            tuple(RootOutcome.from_dict(table) for table in fields.tables(raw, name))
            for name in ("score", "sweep")
        )
        applied = fields.inner(raw, "applied")
        return RootTrial(scores, sweeps, {name: fields.text(applied, name) for name in applied})


def _without_command(ideas: Sequence[Idea], config: TreeConfig) -> Sequence[Idea]:
    return () if config.has("implement") else ideas[:MAX_APPLIED]


def _sweep(node: TreeNode, config: TreeConfig, inputs: Mapping[str, Object]) -> TaskCall:
    stage = StageId("sweep", None, 0, "", 0)
    return call_of(StageArgs(stage, source_state(node, inputs)), node, config)


def _kind(stage: str, result: Result) -> str:
    error = result.error
    return "" if error is None else kind_of(stage, error.type, error.exit_code)
