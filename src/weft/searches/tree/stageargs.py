"""The arguments of a stage's task: dataclasses in code, one flat JSON object in the record.

    StageArgs ─ to_dict ─► ledger, manifest ─ from_dict ─► slot

Groups that a stage does not need are omitted, so that the record has exactly what the stage got.
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
"""Fields that are omitted from the record if they are None."""


@dataclass(frozen=True, slots=True)
class StageId:
    """The stage and eval of a task, as shown by the manifest and `--json`."""

    stage: str
    eval_id: int | None
    """None for the root and for proposals."""
    parent_node_id: int
    idea_path: str
    depth: int
    repeat: int | None = None
    """Number of a scoring, from 0; None for a stage that runs once."""


@dataclass(frozen=True, slots=True)
class SourceState:
    """The recorded state that a stage works on."""

    root: Object
    root_tree: str
    diffs: tuple[Object | None, ...]
    """The diffs from the root to it."""
    tree: str
    parent_commit: str
    harness: Mapping[str, Object] | None = None
    """The run's files beside the config, by name."""


@dataclass(frozen=True, slots=True)
class IdeaArgs:
    """The idea and the earlier results that a stage of an eval gets."""

    idea_kind: str
    idea_digest: str
    idea: Object | None
    """Its bytes."""
    feedback: str
    message: str
    """Message of the commit for the idea."""
    parent_result: dict[str, Value]
    root_result: dict[str, Value]
    sweep: dict[str, Value] | None
    recorded: dict[str, Value] | None = None
    """Cost and turns of a recorded command, whose diff replaces the idea."""
    merge: bool | None = None
    """Whether a change that does not apply is merged three-way."""


@dataclass(frozen=True, slots=True)
class ProposeArgs:
    """Arguments of a stage that generates ideas for a node."""

    context: ProposalContext
    mutations: tuple[Mutation, ...]
    index: Object | None
    """The idea index, with outcomes of earlier runs."""
    has_command: bool
    """Whether a command implements text ideas."""
    parent_result: dict[str, Value]
    root_result: dict[str, Value]


@dataclass(frozen=True, slots=True)
class MemoryArgs:
    """The transcript given to a command, and its window."""

    transcript: tuple[Object, ...]
    memory_turns: int
    memory_chars: int


@dataclass(frozen=True, slots=True)
class CommandArgs:
    """How the result of a stage's command is parsed, and which files it must not change."""

    format: str
    regex: str
    protected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StageArgs:
    """All arguments of a stage's task."""

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
        """Parse the output of `to_dict`."""
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
    """Parse a group of arguments; None if its identifying field is missing."""
    return from_json(kind, raw) if name in raw else None
