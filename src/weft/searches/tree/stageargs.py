"""The arguments of a stage's task: dataclasses inside, one flat JSON object in the record.

    StageArgs ─ to_dict ─► ledger, manifest ─ from_dict ─► slot

Groups that a stage does not need are left out of the record, so that what is recorded says all
that the stage was given and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

from weft.model.values import Object, Value
from weft.searches.tree import fields
from weft.searches.tree.config import mutation_from_dict, mutation_to_dict
from weft.searches.tree.context import ProposalContext
from weft.searches.tree.fields import Table
from weft.searches.tree.slot.values import Mutation


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
    """Number of a scoring of the root."""

    def to_dict(self) -> dict[str, Value]:
        """JSON form."""
        table: dict[str, Value] = {
            "eval_id": self.eval_id, "parent_node_id": self.parent_node_id,
            "idea_path": self.idea_path, "depth": self.depth, "stage": self.stage,
        }  # fmt: skip
        return table if self.repeat is None else {**table, "repeat": self.repeat}

    @staticmethod
    def from_dict(raw: Table) -> StageId:
        """Read what `to_dict` wrote, whatever else is there."""
        return StageId(
            fields.text(raw, "stage"), fields.count_or_none(raw, "eval_id"),
            fields.count(raw, "parent_node_id"), fields.text(raw, "idea_path"),
            fields.count(raw, "depth"), fields.count_or_none(raw, "repeat"),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class SourceState:
    """The recorded state that a stage works on."""

    root: Object
    root_tree: str
    diffs: tuple[Object | None, ...]
    """What leads from the root to it."""
    tree: str
    parent_commit: str

    def to_dict(self) -> dict[str, Value]:
        """JSON form."""
        return {
            "root": self.root, "root_tree": self.root_tree, "diffs": list(self.diffs),
            "tree": self.tree, "parent_commit": self.parent_commit,
        }  # fmt: skip

    @staticmethod
    def from_dict(raw: Table) -> SourceState:
        """Read what `to_dict` wrote, whatever else is there."""
        return SourceState(
            fields.reference(raw, "root"), fields.text(raw, "root_tree"),
            fields.references(raw, "diffs"), fields.text(raw, "tree"),
            fields.text(raw, "parent_commit"),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class IdeaArgs:
    """What a stage of an eval gets of its idea and of earlier results."""

    kind: str
    digest: str
    content: Object | None
    feedback: str
    message: str
    """Of the commit that the idea becomes."""
    parent_result: dict[str, Value]
    root_result: dict[str, Value]
    sweep: dict[str, Value] | None
    recorded: dict[str, Value] | None = None
    """What a recorded command cost and said; its diff stands for the idea."""

    def to_dict(self) -> dict[str, Value]:
        """JSON form."""
        table: dict[str, Value] = {
            "idea_kind": self.kind, "idea_digest": self.digest, "idea": self.content,
            "feedback": self.feedback, "parent_result": self.parent_result,
            "root_result": self.root_result, "sweep": self.sweep, "message": self.message,
        }  # fmt: skip
        return table if self.recorded is None else {**table, "recorded": self.recorded}

    @staticmethod
    def from_dict(raw: Table) -> IdeaArgs | None:
        """Read what `to_dict` wrote; None for a stage without an idea."""
        if "idea_kind" not in raw:
            return None
        return IdeaArgs(
            fields.text(raw, "idea_kind"), fields.text(raw, "idea_digest"),
            fields.reference_or_none(raw, "idea"), fields.text(raw, "feedback"),
            fields.text(raw, "message"), fields.inner(raw, "parent_result"),
            fields.inner(raw, "root_result"), fields.inner_or_none(raw, "sweep"),
            fields.inner_or_none(raw, "recorded"),
        )  # fmt: skip


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

    def to_dict(self) -> dict[str, Value]:
        """JSON form."""
        return {
            "context": self.context.to_dict(),
            "mutations": [mutation_to_dict(mutation) for mutation in self.mutations],
            "index": self.index, "has_command": self.has_command,
            "parent_result": self.parent_result, "root_result": self.root_result,
        }  # fmt: skip

    @staticmethod
    def from_dict(raw: Table) -> ProposeArgs | None:
        """Read what `to_dict` wrote; None for another stage."""
        if "context" not in raw:
            return None
        return ProposeArgs(
            ProposalContext.from_dict(fields.inner(raw, "context")),
            tuple(mutation_from_dict(table) for table in fields.tables(raw, "mutations")),
            fields.reference_or_none(raw, "index"), fields.flag(raw, "has_command"),
            fields.inner(raw, "parent_result"), fields.inner(raw, "root_result"),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class MemoryArgs:
    """The transcript that a command gets, and how much of it."""

    transcript: tuple[Object, ...]
    max_turns: int
    max_chars: int

    def to_dict(self) -> dict[str, Value]:
        """JSON form."""
        return {
            "transcript": list(self.transcript), "memory_turns": self.max_turns,
            "memory_chars": self.max_chars,
        }  # fmt: skip

    @staticmethod
    def from_dict(raw: Table) -> MemoryArgs | None:
        """Read what `to_dict` wrote; None without memory."""
        if "transcript" not in raw:
            return None
        numbers = (fields.count(raw, name) for name in ("memory_turns", "memory_chars"))
        return MemoryArgs(fields.references(raw, "transcript"), *numbers)


@dataclass(frozen=True, slots=True)
class CommandArgs:
    """How the result of a stage's command is read, and which files it must leave alone."""

    format: str
    regex: str
    protected: tuple[str, ...]

    def to_dict(self) -> dict[str, Value]:
        """JSON form."""
        return {"format": self.format, "regex": self.regex, "protected": list(self.protected)}

    @staticmethod
    def from_dict(raw: Table) -> CommandArgs | None:
        """Read what `to_dict` wrote; None for a stage without a command."""
        if "format" not in raw:
            return None
        return CommandArgs(
            fields.text(raw, "format"), fields.text(raw, "regex"), fields.texts(raw, "protected")
        )


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
        table = {**self.id.to_dict(), **self.state.to_dict()}
        for group in (self.idea, self.propose, self.memory, self.command):
            table |= {} if group is None else group.to_dict()
        return table

    @staticmethod
    def from_dict(raw: Table) -> StageArgs:
        """Read what `to_dict` wrote."""
        return StageArgs(
            StageId.from_dict(raw), SourceState.from_dict(raw), IdeaArgs.from_dict(raw),
            ProposeArgs.from_dict(raw), MemoryArgs.from_dict(raw), CommandArgs.from_dict(raw),
        )  # fmt: skip
