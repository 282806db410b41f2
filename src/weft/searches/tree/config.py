"""The configuration of a tree search as plain data, and its form in the ledger."""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from weft.model.values import Object, Value
from weft.searches.tree import fields
from weft.searches.tree.fields import Table
from weft.searches.tree.slot.values import Mutation

STAGES = ("propose", "implement", "review", "sweep", "score")


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

    def to_dict(self) -> dict[str, Value]:
        """JSON form."""
        return {
            "argv": list(self.argv), "timeout_s": self.timeout_s, "env": dict(self.env),
            "env_from": list(self.env_from), "format": self.format, "regex": self.regex,
            "recorded": self.recorded,
        }  # fmt: skip

    @staticmethod
    def from_dict(raw: Table) -> Stage:
        """Read what `to_dict` wrote."""
        env = fields.inner(raw, "env")
        timeout_s = fields.seconds(raw, "timeout_s")
        return Stage(
            fields.texts(raw, "argv"), timeout_s, {name: fields.text(env, name) for name in env},
            fields.texts(raw, "env_from"), fields.text(raw, "format"), fields.text(raw, "regex"),
            fields.flag(raw, "recorded"),
        )  # fmt: skip


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
    review_rounds: int = 1
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
    dry_run: bool = False

    def to_dict(self) -> dict[str, Value]:
        """JSON form, as the run's first record binds it."""
        table: dict[str, Value] = {name: getattr(self, name) for name in self.__slots__}
        table["protected"] = list(self.protected)
        table["mutations"] = [mutation_to_dict(mutation) for mutation in self.mutations]
        table["stages"] = {name: stage.to_dict() for name, stage in self.stages.items()}
        return table

    @staticmethod
    def from_dict(raw: Table) -> TreeConfig:
        """Read what `to_dict` wrote."""
        stages = fields.inner(raw, "stages")
        return TreeConfig(
            stages={name: Stage.from_dict(fields.inner(stages, name)) for name in stages},
            direction=fields.text(raw, "direction"),
            beam_width=fields.count(raw, "beam_width"),
            ideas_per_node=fields.count(raw, "ideas_per_node"),
            max_depth=fields.count(raw, "max_depth"),
            max_total_evals=fields.count(raw, "max_total_evals"),
            eval_retries=fields.count(raw, "eval_retries"),
            eval_timeout_s=fields.seconds(raw, "eval_timeout_s"),
            memory_mb=fields.count_or_none(raw, "memory_mb"),
            strict_fail_depth=fields.flag(raw, "strict_fail_depth"),
            stop_on_empty_frontier=fields.flag(raw, "stop_on_empty_frontier"),
            dedupe_scope=fields.text(raw, "dedupe_scope"),
            protected=fields.texts(raw, "protected"),
            root_repeats=fields.count(raw, "root_repeats"),
            review_rounds=fields.count(raw, "review_rounds"),
            max_usd=fields.text(raw, "max_usd"),
            max_tokens=fields.count(raw, "max_tokens"),
            mutations=tuple(mutation_from_dict(t) for t in fields.tables(raw, "mutations")),
            memory=fields.text(raw, "memory"),
            memory_turns=fields.count(raw, "memory_turns"),
            memory_chars=fields.count(raw, "memory_chars"),
            gate=fields.text(raw, "gate"),
            gate_source=fields.text(raw, "gate_source"),
            rank=fields.text(raw, "rank"),
            rank_source=fields.text(raw, "rank_source"),
            dry_run=fields.flag(raw, "dry_run"),
        )

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
        """JSON form of an idea of the config."""
        return {"name": self.name, "kind": self.kind, "digest": self.digest}

    @staticmethod
    def from_dict(raw: Table) -> Idea:
        """Read what `to_dict` wrote."""
        name, kind, digest = (fields.text(raw, name) for name in ("name", "kind", "digest"))
        return Idea(name, kind, digest)

    def bytes_in(self, inputs: Mapping[str, Object]) -> Object | None:
        """Return the reference to its bytes; a dry run may have none."""
        return self.content or inputs.get(f"idea/{self.name}")


@dataclass(frozen=True, slots=True)
class Root:
    """The state to start from; its files are the run's input `root`."""

    commit: str
    tree: str

    def to_dict(self) -> dict[str, Value]:
        """JSON form."""
        return {"commit": self.commit, "tree": self.tree}

    @staticmethod
    def from_dict(raw: Table) -> Root:
        """Read what `to_dict` wrote."""
        return Root(fields.text(raw, "commit"), fields.text(raw, "tree"))


def mutation_to_dict(mutation: Mutation) -> dict[str, Value]:
    """JSON form of a table of mutations."""
    return {**dataclasses.asdict(mutation), "keys": list(mutation.keys)}


def mutation_from_dict(raw: Table) -> Mutation:
    """Read what `mutation_to_dict` wrote."""
    bounds = (fields.text(raw, name) for name in ("scale", "step", "low", "high"))
    return Mutation(
        fields.text(raw, "file"), fields.texts(raw, "keys"), fields.count(raw, "count"),
        fields.count(raw, "at_once"), *bounds,
    )  # fmt: skip


def is_protected(name: str, patterns: Sequence[str]) -> bool:
    """Whether a path, or a folder it lies in, fits a pattern."""
    return any(fnmatch.fnmatchcase(name, p) or name.startswith(f"{p}/") for p in patterns)
