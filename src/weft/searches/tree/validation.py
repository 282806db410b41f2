"""The small search that tests a config on the root before ideas are tried.

It scores the root twice, sweeps it, and applies the ideas that need no command, all with the
engine. `checks` judges the answer.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

from weft import INPUTS, search
from weft.model.codec import from_json
from weft.model.results import Result
from weft.model.tasks import Round, make_round
from weft.model.values import Object, Value
from weft.searches.tree.config import Idea, Root, TreeConfig
from weft.searches.tree.history import Eval, TreeNode
from weft.searches.tree.results import Rows, kind_of
from weft.searches.tree.stageargs import StageArgs, StageId
from weft.searches.tree.stages import call_of, root_call, source_state, stage_call

MAX_APPLIED = 200
"""Number of ideas tried on the root."""
SCORINGS = 2
COMPARED = ("score", "holdout", "rows", "metrics")
"""Fields of a result in which scorings of the root must agree."""


@search(name="tree.validate", version=3)
def validate(
    config: dict[str, Value],
    ideas: list[dict[str, Value]],
    roots: list[dict[str, Value]],
    *,
    inputs: Mapping[str, Object] = INPUTS,
) -> Generator[Round, Sequence[Result], dict[str, Value]]:
    """Try everything free of cost on the root; the answer is the outcome of each part."""
    parsed, starts = from_json(TreeConfig, config), [from_json(Root, root) for root in roots]
    nodes = [TreeNode(number, s.commit, s.tree, 0, ()) for number, s in enumerate(starts)]
    node = nodes[0]
    fitting = [from_json(Idea, raw) for raw in ideas[:MAX_APPLIED] if not parsed.has("implement")]
    scores = yield make_round([root_call(node, n, parsed, inputs) for n in range(SCORINGS)])
    others = yield make_round([root_call(other, 0, parsed, inputs) for other in nodes[1:]])
    sweep = StageArgs(StageId("sweep", None, 0, "", 0), source_state(node, inputs))
    sweeps = yield make_round([call_of(sweep, node, parsed)] if parsed.has("sweep") else [])
    evals = [Eval(number, node, idea, 1) for number, idea in enumerate(fitting, 1)]
    applied = yield make_round([stage_call("implement", e, parsed, inputs, {}) for e in evals])
    return {
        "score": [_outcome("score", result) for result in scores],
        "others": [_outcome("score", result) for result in others],
        "sweep": [_outcome("sweep", result) for result in sweeps],
        "applied": {
            e.idea.name: _kind("implement", r) for e, r in zip(evals, applied, strict=True)
        },
    }


@dataclass(frozen=True, slots=True)
class RootOutcome:
    """A stage's result on the root, or its failure type."""

    error: str = ""
    score: str | None = None
    holdout: str | None = None
    rows: Rows | None = None
    metrics: Value = None


@dataclass(frozen=True, slots=True)
class RootTrial:
    """The answer of `validate`."""

    score: tuple[RootOutcome, ...]
    sweep: tuple[RootOutcome, ...]
    applied: Mapping[str, str]
    """The failure type of each idea by name; empty if it applies."""
    others: tuple[RootOutcome, ...] = ()
    """One scoring of each other root."""


def _outcome(stage: str, result: Result) -> dict[str, Value]:
    """Return the compared fields of a task's value, or its failure type."""
    if not result.ok:
        return {"error": _kind(stage, result)}
    return {name: result.value.get(name) for name in COMPARED}


def _kind(stage: str, result: Result) -> str:
    error = result.error
    return "" if error is None else kind_of(stage, error.type, error.exit_code)
