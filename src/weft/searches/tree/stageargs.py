"""The arguments of a stage's task: dataclasses inside, one flat JSON object in the record.

    StageArgs ─ to_dict ─► ledger, manifest ─ from_dict ─► slot

Groups that a stage does not need are left out of the record, so that what is recorded says all
that the stage was given and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from weft.model.codec import Table, from_json, to_json
from weft.model.values import Object, Value
from weft.searches.tree.context import ProposalContext
from weft.searches.tree.slot.values import Mutation

T = TypeVar("T")
LEFT_OUT = ("repeat", "recorded", "harness", "merge")
"""Fields that are recorded only where they are given."""


@dataclass(frozen=True, slots=True)
class StageId:
    """Which stage of which eval it is: what the manifest and `--json` show of a task."""

    stage: str
    eval_id: int | None
    """None for the root and for proposals."""
    parent_node_id: int
    idea_path: str
    depth: int
    repeat: int | None = None
    """Number of a scoring, where there may be several."""


@dataclass(frozen=True, slots=True)
class SourceState:
    """The recorded state that a stage works on."""

    root: Object
    root_tree: str
    diffs: tuple[Object | None, ...]
    """What leads from the root to it."""
    tree: str
    parent_commit: str
    harness: Mapping[str, Object] | None = None
    """The run's files beside the config, by name."""


@dataclass(frozen=True, slots=True)
class IdeaArgs:
    """What a stage of an eval gets of its idea and of earlier results."""

    idea_kind: str
    idea_digest: str
    idea: Object | None
    """Its bytes."""
    feedback: str
    message: str
    """Of the commit that the idea becomes."""
    parent_result: dict[str, Value]
    root_result: dict[str, Value]
    sweep: dict[str, Value] | None
    recorded: dict[str, Value] | None = None
    """What a recorded command cost and said; its diff stands for the idea."""
    merge: bool | None = None
    """Whether a change that does not fit is merged three-way."""


@dataclass(frozen=True, slots=True)
class ProposeArgs:
    """What a stage that makes ideas for a node gets."""

    context: ProposalContext
    mutations: tuple[Mutation, ...]
    index: Object | None
    """What earlier runs found."""
    has_command: bool
    """Whether a command implements ideas that are text."""
    parent_result: dict[str, Value]
    root_result: dict[str, Value]


@dataclass(frozen=True, slots=True)
class MemoryArgs:
    """The transcript that a command gets, and how much of it."""

    transcript: tuple[Object, ...]
    memory_turns: int
    memory_chars: int


@dataclass(frozen=True, slots=True)
class CommandArgs:
    """How the result of a stage's command is read, and which files it must leave alone."""

    format: str
    regex: str
    protected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StageArgs:
    """Everything that a stage's task is given."""

    id: StageId
    state: SourceState
    idea: IdeaArgs | None = None
    propose: ProposeArgs | None = None
    memory: MemoryArgs | None = None
    command: CommandArgs | None = None

    def to_dict(self) -> dict[str, Value]:
        """JSON form: one flat object."""
        groups = (self.id, self.state, self.idea, self.propose, self.memory, self.command)
        return flat(*(group for group in groups if group is not None))

    @staticmethod
    def from_dict(raw: Table) -> StageArgs:
        """Read what `to_dict` wrote."""
        return StageArgs(
            from_json(StageId, raw), from_json(SourceState, raw),
            _group(IdeaArgs, raw, "idea_kind"), _group(ProposeArgs, raw, "context"),
            _group(MemoryArgs, raw, "transcript"), _group(CommandArgs, raw, "format"),
        )  # fmt: skip


def flat(*groups: object) -> dict[str, Value]:
    """Return groups of arguments as one JSON object."""
    table = {name: value for group in groups for name, value in to_json(group).items()}
    return {n: v for n, v in table.items() if v is not None or n not in LEFT_OUT}


def _group(kind: type[T], raw: Table, name: str) -> T | None:
    """Read a group of arguments; None when the field that tells it is not there."""
    return from_json(kind, raw) if name in raw else None
