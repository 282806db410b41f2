"""The history of a tree search: nodes, evals, and the reasons for promotions and refusals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from weft.model.codec import Table
from weft.model.results import TaskError
from weft.model.values import Object, Value
from weft.searches.tree.config import Idea
from weft.searches.tree.decimals import EXACT
from weft.searches.tree.results import Candidate, StageCost, StageResult

STOPS = {
    "root-unscored": "the root could not be scored",
    "metric-missing": "a root reports no number for an objective",
    "no-ideas": "no idea is left to try",
    "max-total-evals": "no more evals may be planned",
    "target-score": "the score to reach is reached",
    "patience": "no better score for as many depths as configured",
    "empty-frontier": "no eval of the last depth was promoted",
    "max-depth": "the last depth is done",
    "max-usd": "the money is spent",
    "max-tokens": "the tokens are spent",
    "strict-fail-depth": "an eval failed",
}
"""Reasons for the end of a search: the name of each stop, and its meaning."""


def stop_text(name: str, detail: str = "") -> str:
    """Return the reason for the end of a search: the stop's name, then its meaning or a detail."""
    return f"{name}: {detail or STOPS[name]}"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the gate with its numbers."""

    name: str
    passed: bool
    detail: str


@dataclass(slots=True)
class TreeNode:
    """A state with its score; `steps` are the diffs from the root to it."""

    node_id: int
    commit: str
    tree: str
    depth: int
    steps: tuple[Object, ...]
    result: StageResult | None = None
    """None only for a root that has not been scored."""
    parent: TreeNode | None = None
    eval_id: int | None = None
    idea: Idea | None = None
    tried: set[str] = field(default_factory=set)
    """Names of the ideas planned here; used for membership only."""
    ideas: list[Idea] = field(default_factory=list)
    """Ideas generated for this node alone."""
    turns: tuple[Object, ...] = ()
    """Its transcript: the turns of all commands on the path to it, then its own."""

    @property
    def name(self) -> str:
        """The name that users see."""
        return f"n{self.node_id}"

    @property
    def score(self) -> Decimal:
        """Its recorded score."""
        return Decimal(self.score_text)

    @property
    def score_text(self) -> str:
        """Its score as recorded."""
        assert self.result is not None
        return self.result.score_text

    def result_dict(self) -> dict[str, Value]:
        """Return its result as passed to stages; empty before it is scored."""
        return {} if self.result is None else self.result.recorded

    def path(self) -> list[TreeNode]:
        """Return the nodes from the root to this one."""
        return [self] if self.parent is None else [*self.parent.path(), self]


@dataclass(slots=True)
class Eval:
    """One idea tried on one node, over all its stages."""

    eval_id: int
    parent: TreeNode
    idea: Idea
    depth: int
    state: str = "queued"
    """`queued`, `completed`, `failed` or `dropped`."""
    stage: str = "implement"
    keys: list[str] = field(default_factory=list)
    stages: list[str] = field(default_factory=list)
    """The stage of each key."""
    costs: list[StageCost] = field(default_factory=list)
    """The cost of each key's task."""
    error: TaskError | None = None
    reason: str = ""
    """The failure reason that a command reported."""
    candidate: Candidate | None = None
    feedback: str = ""
    imported: Mapping[str, Table] = field(default_factory=dict)
    """The values its stages recorded in the imported run; empty if it is executed here."""
    turns: tuple[Object, ...] = ()
    sweep: StageResult | None = None
    result: StageResult | None = None
    scorings: list[StageResult] = field(default_factory=list)
    """Repeated scorings, if any; `result` is the one that counts."""
    same_as: int | None = None
    rules: list[Rule] = field(default_factory=list)
    refused: str = ""
    passed_over: str = ""
    """Why it was not promoted despite its rank."""
    rank: int | None = None
    node_id: int | None = None

    @property
    def name(self) -> str:
        """The name that users see."""
        return f"e{self.eval_id}"

    @property
    def score(self) -> str | None:
        """Its score as recorded; None without one."""
        return self.result.score if self.result else None

    @property
    def verdict(self) -> str:
        """Its outcome in one or two words."""
        if self.node_id is not None:
            return f"promoted n{self.node_id}"
        if self.refused:
            return self.refused
        return self.passed_over or ("outranked" if self.rank is not None else self.state)


@dataclass(frozen=True, slots=True)
class Skip:
    """An idea that was not planned on a node, and the reason."""

    node_id: int
    depth: int
    idea: str
    reason: str


@dataclass(slots=True)
class CostSum:
    """The total cost reported by the commands of one stage."""

    calls: int = 0
    """Number of commands that reported a cost."""
    usd: Decimal = Decimal(0)
    input_tokens: int = 0
    output_tokens: int = 0

    def add(self, cost: StageCost) -> None:
        """Add the cost of one call."""
        self.calls += 1
        self.usd = EXACT.normalize(EXACT.add(self.usd, Decimal(cost.usd)))
        self.input_tokens += cost.input_tokens
        self.output_tokens += cost.output_tokens

    def __str__(self) -> str:
        tokens = f"{self.input_tokens} + {self.output_tokens} tokens"
        return f"{self.usd:f} USD, {tokens}, {self.calls} call{'s' * (self.calls != 1)}"

    def to_dict(self) -> dict[str, Value]:
        """JSON form."""
        return {
            "calls": self.calls, "usd": f"{self.usd:f}",
            "input_tokens": self.input_tokens, "output_tokens": self.output_tokens,
        }  # fmt: skip


def costs_of(item: Eval) -> dict[str, CostSum]:
    """Return the cost that each stage of an eval reported, in stage order."""
    costs: dict[str, CostSum] = {}
    for stage, cost in zip(item.stages, item.costs, strict=True):
        if cost != StageCost():
            costs.setdefault(stage, CostSum()).add(cost)
    return costs


@dataclass(slots=True)
class TreeHistory:
    """The whole history, in the order of the decisions."""

    nodes: list[TreeNode] = field(default_factory=list)
    evals: list[Eval] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)
    frontiers: list[list[int]] = field(default_factory=list)
    roots: int = 1
    """Number of nodes that are roots; they come first."""
    band: Decimal = Decimal(0)
    root_scores: list[str] = field(default_factory=list)
    root_error: TaskError | None = None
    """Why the root could not be scored."""
    root_key: str = ""
    """Key of the task that failed to score it."""
    usd: Decimal = Decimal(0)
    tokens: int = 0
    costs: dict[str, CostSum] = field(default_factory=dict)
    """Costs by stage, in the order in which stages first ran."""
    stopped: str = ""
    """Why the search ended: the name of the stop, then its meaning; empty while it runs."""

    def scored_roots(self) -> list[TreeNode]:
        """Return the roots if all of them are scored, else an empty list."""
        roots = self.nodes[: self.roots]
        return roots if all(node.result is not None for node in roots) else []

    def at(self, depth: int) -> list[Eval]:
        """Return the evals of one depth."""
        return [e for e in self.evals if e.depth == depth]
