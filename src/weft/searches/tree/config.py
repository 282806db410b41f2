"""The configuration of a tree search as plain data; the genesis records its fields."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from weft.model.codec import to_json
from weft.model.values import Object, Value
from weft.searches.tree.slot.values import Mutation

RESULT_FD = "WEFT_RESULT_FD"
"""Environment variable with the file descriptor of a command's result channel."""
CHANNEL = {RESULT_FD: "3"}
STAGES = ("propose", "implement", "review", "sweep", "score")
APPROVE = "approve"
"""The stage that waits for a person."""
NO_LIMIT_S = 1e9
JUDGING = ("sweep", "score")
"""Stages whose results judge a candidate."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One command of an eval; without argv, `implement` applies the idea directly."""

    argv: tuple[str, ...] = ()
    timeout_s: float = 0.0
    """0 for `eval_timeout_seconds`."""
    env: Mapping[str, str] = field(default_factory=dict)
    env_from: tuple[str, ...] = ()
    format: str = "weft"
    """Result format: `weft`, or that of another evaluator (`openevolve`, `shinka`, `evo`)."""
    regex: str = ""
    """Extracts the score from stdout."""
    recorded: bool = False
    """Whether the command is replaced by its recordings from an earlier run."""
    sandbox: str = "off"
    """`auto`, `required` or `off`."""
    network: bool = False
    readable: tuple[str, ...] = ()
    """Paths that it may read in a sandbox below the home folder and other hidden folders."""
    writable: tuple[str, ...] = ()
    """Paths that it may change in a sandbox besides the worktree and its own folders."""

    @property
    def has_channel(self) -> bool:
        """Whether its result is sent over a descriptor that candidate code does not have."""
        return RESULT_FD in self.env


@dataclass(frozen=True, slots=True)
class MetricObjective:
    """A metric that a search improves in addition to the score."""

    metric: str
    """Its name among a result's metrics, dotted for nested tables."""
    direction: str
    min_gain: str = ""
    """Decimal text; empty for any gain."""


@dataclass(frozen=True, slots=True)
class TreeConfig:
    """Everything that decides the outcome of a tree search, apart from its roots and ideas."""

    stages: Mapping[str, Stage]
    direction: str = "max"
    beam_width: int = 3
    ideas_per_node: int = 1000
    max_depth: int = 3
    max_total_evals: int = 1000
    eval_retries: int = 0
    eval_timeout_s: float = 600.0
    memory_mb: int | None = None
    strict_fail_depth: bool = False
    stop_on_empty_frontier: bool = True
    dedupe_scope: str = "ancestors"
    protected: tuple[str, ...] = ()
    root_repeats: int = 1
    repeats: int = 1
    """Number of scorings of each candidate, odd; the median counts."""
    review_rounds: int = 1
    merge: str = "three-way"
    """How a patch that does not apply is handled: `three-way` merge from the root, or `off`."""
    min_gain: str = ""
    """Decimal text; empty for any gain above 0."""
    min_relative_gain: str = ""
    """The required gain as a share of the parent's score."""
    equal_siblings: str = "once"
    """Places in the beam for siblings with equal scores: `once`, or `all`."""
    max_children_per_parent: int = 0
    """Limit per depth; 0 for no limit."""
    novelty: str = "off"
    """`files`: evals that change a file no eval chosen so far changes go first; or `off`."""
    objectives: tuple[MetricObjective, ...] = ()
    target_score: str = ""
    """Decimal text; empty for none."""
    patience: int = 0
    """Number of depths without a better score after which the search ends; 0 for no limit."""
    max_usd: str = ""
    """Decimal text; empty for no limit."""
    max_tokens: int = 0
    mutations: tuple[Mutation, ...] = ()
    memory: str = "off"
    """`off`, or `replay`: commands get the transcript of the path to their tree node."""
    memory_turns: int = 20
    memory_chars: int = 20_000
    gate: str = ""
    """`module:function` that replaces the built-in gate; empty for the built-in one."""
    gate_source: str = ""
    """SHA-256 of the source of its module."""
    rank: str = ""
    rank_source: str = ""
    approve_before: str = ""
    """Step that needs a person's approval: `score` or `promotion`; empty for none."""
    dry_run: bool = False

    def asks_before(self, what: str) -> bool:
        """Whether this step needs a person's approval."""
        return self.approve_before == what and not self.dry_run

    def limit_s(self, stage: str) -> float:
        """Return the time limit of one attempt at a stage, in seconds."""
        own = self.stages.get(stage)
        return (own.timeout_s if own else 0.0) or self.eval_timeout_s

    def has(self, stage: str) -> bool:
        """Whether a stage has a command, or recordings of one."""
        own = self.stages.get(stage)
        return own is not None and bool(own.argv or own.recorded)

    def is_recorded(self, stage: str) -> bool:
        """Whether recordings of an earlier run replace a stage's command."""
        return stage in self.stages and self.stages[stage].recorded

    def proposes(self) -> bool:
        """Whether ideas are generated for each tree node."""
        return bool(self.mutations) or self.has("propose")

    def remembers(self) -> bool:
        """Whether transcripts are kept."""
        return self.memory == "replay"


@dataclass(frozen=True, slots=True)
class Idea:
    """A change to try: `patch`, `blocks`, `parameter`, or `text` for the implement command."""

    name: str
    kind: str
    digest: str
    """SHA-256 of its normalised text, for deduplication."""
    content: Object | None = None
    """Its bytes if it was generated for a node; the config's ideas are inputs of the run."""

    def to_dict(self) -> dict[str, Value]:
        """Return the JSON form; the run's inputs name the bytes of the config's ideas."""
        return {name: value for name, value in to_json(self).items() if value is not None}

    def bytes_in(self, inputs: Mapping[str, Object]) -> Object | None:
        """Return the reference to its bytes; None in some dry runs."""
        return self.content or inputs.get(f"idea/{self.name}")


@dataclass(frozen=True, slots=True)
class Root:
    """A commit to start from; its files are in the run's input `root`."""

    commit: str
    tree: str


def is_protected(name: str, patterns: Sequence[str]) -> bool:
    """Whether a path, or a folder that contains it, matches a pattern."""
    return any(fnmatch.fnmatchcase(name, p) or name.startswith(f"{p}/") for p in patterns)
