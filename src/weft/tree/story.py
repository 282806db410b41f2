"""What came of a tree search so far: nodes, evals, and what each was refused or promoted for."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from weft.model.values import Object
from weft.tree.plot import Idea


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the gate with its numbers."""

    name: str
    passed: bool
    said: str


@dataclass(slots=True)
class Node:
    """A state with its score; `steps` are the diffs that lead to it from the root."""

    node_id: int
    commit: str
    tree: str
    depth: int
    steps: tuple[Object, ...]
    result: dict[str, Any]
    parent: Node | None = None
    eval_id: int | None = None
    idea: Idea | None = None
    tried: set[str] = field(default_factory=set)
    """Names of ideas that were planned here; membership only."""
    ideas: list[Idea] = field(default_factory=list)
    """Those made for this node alone."""
    turns: tuple[Object, ...] = ()
    """Its transcript: the turns of all commands on the way to it, and its own."""

    @property
    def name(self) -> str:
        """How people call it."""
        return f"n{self.node_id}"

    @property
    def score(self) -> Decimal:
        """Its recorded score."""
        return Decimal(self.result["score"])

    def path(self) -> list[Node]:
        """Return the nodes from the root to this one."""
        return [self] if self.parent is None else [*self.parent.path(), self]


@dataclass(slots=True)
class Eval:
    """One idea on one node, over all its stages."""

    eval_id: int
    parent: Node
    idea: Idea
    depth: int
    state: str = "queued"
    """`queued`, `completed`, `failed` or `dropped`."""
    stage: str = "implement"
    keys: list[str] = field(default_factory=list)
    stages: list[str] = field(default_factory=list)
    """The stage of each key."""
    error: dict[str, Any] | None = None
    candidate: dict[str, Any] | None = None
    feedback: str = ""
    imported: dict[str, Any] = field(default_factory=dict)
    """What stages said in the run it was imported from; empty when it is carried out here."""
    turns: tuple[Object, ...] = ()
    sweep: dict[str, Any] | None = None
    result: dict[str, Any] | None = None
    same_as: int | None = None
    rules: list[Rule] = field(default_factory=list)
    refused: str = ""
    rank: int | None = None
    node_id: int | None = None

    @property
    def name(self) -> str:
        """How people call it."""
        return f"e{self.eval_id}"

    @property
    def verdict(self) -> str:
        """In a word or two, what became of it."""
        if self.node_id is not None:
            return f"promoted n{self.node_id}"
        if self.refused:
            return self.refused
        return "outranked" if self.rank is not None else self.state


@dataclass(frozen=True, slots=True)
class Skip:
    """An idea that was not planned on a node, and why."""

    node_id: int
    depth: int
    idea: str
    reason: str


@dataclass(slots=True)
class Story:
    """All of it, in the order in which it was decided."""

    nodes: list[Node] = field(default_factory=list)
    evals: list[Eval] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)
    frontiers: list[list[int]] = field(default_factory=list)
    band: Decimal = Decimal(0)
    root_scores: list[str] = field(default_factory=list)
    usd: Decimal = Decimal(0)
    tokens: int = 0
    stopped: str = ""

    def at(self, depth: int) -> list[Eval]:
        """Return the evals of one depth."""
        return [e for e in self.evals if e.depth == depth]
