"""What a tree search is asked to do: plain data, and its form in the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from weft.model.values import Object

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


@dataclass(frozen=True, slots=True)
class Plot:
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
    mutations: tuple[Mapping[str, Any], ...] = ()
    """Tables that say how values of a file are moved; numbers as decimal text."""
    memory: str = "off"
    """`off`, or `replay`: commands get what was said on the way to their node."""
    memory_turns: int = 20
    memory_chars: int = 20_000
    gate: str = ""
    """`module:function` that judges in place of the usual gate; empty for that."""
    gate_source: str = ""
    """SHA-256 of its module's source."""
    rank: str = ""
    rank_source: str = ""
    dry_run: bool = False

    def to_dict(self) -> dict[str, Any]:
        """JSON form, as the run's first record binds it."""
        said: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        said["protected"] = list(self.protected)
        said["mutations"] = [dict(table) for table in self.mutations]
        said["stages"] = {
            name: {
                "argv": list(s.argv),
                "timeout_s": s.timeout_s,
                "env": dict(s.env),
                "env_from": list(s.env_from),
                "format": s.format,
                "regex": s.regex,
                "recorded": s.recorded,
            }
            for name, s in self.stages.items()
        }
        return said

    @staticmethod
    def from_dict(raw: Mapping[str, Any]) -> Plot:
        """Read what `to_dict` wrote."""
        stages = {
            name: Stage(**{**s, "argv": tuple(s["argv"]), "env_from": tuple(s["env_from"])})
            for name, s in raw["stages"].items()
        }
        more = {name: tuple(raw[name]) for name in ("protected", "mutations")}
        return Plot(**{**raw, **more, "stages": stages})

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

    def to_dict(self) -> dict[str, Any]:
        """JSON form of an idea of the config."""
        return {"name": self.name, "kind": self.kind, "digest": self.digest}

    def bytes_in(self, inputs: Mapping[str, Object]) -> Object | None:
        """Return the reference to its bytes; a dry run may have none."""
        return self.content or inputs.get(f"idea/{self.name}")


@dataclass(frozen=True, slots=True)
class Root:
    """The state to start from; its files are the run's input `root`."""

    commit: str
    tree: str

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {"commit": self.commit, "tree": self.tree}
