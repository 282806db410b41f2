"""The configuration of a tree search as plain data; the first record binds it by its fields."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from weft.model.codec import to_json
from weft.model.values import Object, Value
from weft.searches.tree.slot.values import Mutation

RESULT_FD = "WEFT_RESULT_FD"
"""The variable of a command that has a result channel, and its value: descriptor 3."""
CHANNEL = {RESULT_FD: "3"}
STAGES = ("propose", "implement", "review", "sweep", "score")
APPROVE = "approve"
"""The stage that waits for a person."""
NO_LIMIT_S = 1e9
JUDGING = ("sweep", "score")
"""Stages whose result decides."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One command of an eval; without argv, `implement` applies the idea itself."""

    argv: tuple[str, ...] = ()
    timeout_s: float = 0.0
    """0: as long as `eval_timeout_seconds` says."""
    env: Mapping[str, str] = field(default_factory=dict)
    env_from: tuple[str, ...] = ()
    format: str = "weft"
    """Whose evaluator wrote the result: `weft`, `openevolve`, `shinka`, `evo`."""
    regex: str = ""
    """Takes the score out of stdout."""
    recorded: bool = False
    """What an earlier run recorded stands in for the command."""
    sandbox: str = "off"
    """`auto`, `required` or `off`."""
    network: bool = False
    readable: tuple[str, ...] = ()
    """What it may read in a sandbox below the home folder and other hidden ones."""
    writable: tuple[str, ...] = ()
    """What it may change in a sandbox beside the worktree and its own folders."""

    @property
    def has_channel(self) -> bool:
        """Whether its result comes over a descriptor that candidate code does not have."""
        return RESULT_FD in self.env


@dataclass(frozen=True, slots=True)
class MetricObjective:
    """A metric that a search improves beside the score."""

    metric: str
    """Its name among the metrics of a result, dotted below a table."""
    direction: str
    min_gain: str = ""
    """Decimal text; empty for any gain."""


@dataclass(frozen=True, slots=True)
class TreeConfig:
    """Everything that decides a tree search, apart from its root and its ideas."""

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
    """Scorings of each candidate, an odd number; the median counts."""
    review_rounds: int = 1
    merge: str = "three-way"
    """What happens to a change that does not fit: a three-way merge from the root, or `off`."""
    min_gain: str = ""
    """Decimal text; empty for any gain above 0."""
    min_relative_gain: str = ""
    """The same as a share of the parent's score."""
    equal_siblings: str = "once"
    """Whether siblings with one score take one place in the beam, or `all`."""
    max_children_per_parent: int = 0
    """Of one depth; 0 for no limit."""
    novelty: str = "off"
    """`files`: those that change a file of their own go first."""
    objectives: tuple[MetricObjective, ...] = ()
    target_score: str = ""
    """Decimal text; empty for none."""
    patience: int = 0
    """Depths without a better score after which the search ends; 0 for no limit."""
    max_usd: str = ""
    """Decimal text; empty for no limit."""
    max_tokens: int = 0
    mutations: tuple[Mutation, ...] = ()
    memory: str = "off"
    """`off`, or `replay`: commands get the transcript of the path to their node."""
    memory_turns: int = 20
    memory_chars: int = 20_000
    gate: str = ""
    """`module:function` that judges in place of the usual gate; empty for that."""
    gate_source: str = ""
    """SHA-256 of its module's source."""
    rank: str = ""
    rank_source: str = ""
    approve_before: str = ""
    """What a person is asked before: `score`, or `promotion`; empty for nothing."""
    dry_run: bool = False

    def asks_before(self, what: str) -> bool:
        """Whether a person is asked before this."""
        return self.approve_before == what and not self.dry_run

    def limit_s(self, stage: str) -> float:
        """Seconds that one attempt of a stage may take."""
        own = self.stages.get(stage)
        return (own.timeout_s if own else 0.0) or self.eval_timeout_s

    def has(self, stage: str) -> bool:
        """Whether a stage has a command, or the record of one."""
        own = self.stages.get(stage)
        return own is not None and bool(own.argv or own.recorded)

    def is_recorded(self, stage: str) -> bool:
        """Whether an earlier run's record stands in for a stage's command."""
        return stage in self.stages and self.stages[stage].recorded

    def proposes(self) -> bool:
        """Whether nodes get ideas of their own."""
        return bool(self.mutations) or self.has("propose")

    def remembers(self) -> bool:
        """Whether transcripts are kept."""
        return self.memory == "replay"


@dataclass(frozen=True, slots=True)
class Idea:
    """Something to try: `patch`, `blocks`, `parameter`, or `text` for the implement command."""

    name: str
    kind: str
    digest: str
    """SHA-256 of its normalised text, for dedupe."""
    content: Object | None = None
    """Its bytes if it was made for a node; those of the config's ideas are inputs of the run."""

    def to_dict(self) -> dict[str, Value]:
        """JSON form; the bytes of an idea of the config are named by the run's inputs."""
        return {name: value for name, value in to_json(self).items() if value is not None}

    def bytes_in(self, inputs: Mapping[str, Object]) -> Object | None:
        """Return the reference to its bytes; a dry run may have none."""
        return self.content or inputs.get(f"idea/{self.name}")


@dataclass(frozen=True, slots=True)
class Root:
    """The state to start from; its files are the run's input `root`."""

    commit: str
    tree: str


def is_protected(name: str, patterns: Sequence[str]) -> bool:
    """Whether a path, or a folder it lies in, fits a pattern."""
    return any(fnmatch.fnmatchcase(name, p) or name.startswith(f"{p}/") for p in patterns)
