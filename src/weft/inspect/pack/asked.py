"""What was asked of a run, from its genesis, and the command that asks it again. Reads only.

Every run can be repeated by `weft run`, whatever command began it: the genesis names the search
and holds all that decides the outcome.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weft.model.values import Object, from_wire
from weft.product import locate

MAX_INLINE_CHARS = 30_000
"""Arguments longer than this are written to a file."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The genesis, decoded."""

    search: str
    version: int
    seed: int
    args: Mapping[str, Any]
    inputs: Mapping[str, str]
    """Digest of each input."""
    budget: Mapping[str, int]
    retries: int
    timeout_s: float | None
    strict: bool
    libraries: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def from_genesis(body: Mapping[str, Any]) -> Asked:
        """Decode the body of record 0."""
        config = body["config"]
        decoded: dict[str, Any] = {
            name: from_wire(config[name]) for name in ("args", "budget", "timeout_s")
        }
        seed: Any = from_wire(body["seed"])
        return Asked(
            search=body["search"],
            version=body["version"],
            seed=seed,
            inputs=body["inputs"],
            retries=config["retries"],
            strict=config["strict"],
            libraries=body["libraries"],
            **decoded,
        )

    def args_text(self) -> str | None:
        """Write the arguments as `--args` reads them; None when an object is among them."""
        try:
            return json.dumps(dict(self.args), ensure_ascii=False, default=_refuse)
        except TypeError:
            return None

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        text = self.args_text()
        return {
            "search": self.search,
            "version": self.version,
            "seed": self.seed,
            "args": None if text is None else json.loads(text),
            "inputs": dict(self.inputs),
            "budget": dict(self.budget),
            "retries": self.retries,
            "timeout_s": self.timeout_s,
            "strict": self.strict,
            "libraries": dict(self.libraries),
        }


def _refuse(value: object) -> Any:
    assert isinstance(value, Object)
    raise TypeError("an object is no JSON")


@dataclass(frozen=True, slots=True)
class Places:
    """Where a command finds what it needs, as it is to be written."""

    source: str
    """Folder to import the search from; empty when it is installed."""
    inputs: Mapping[str, str]
    """File of each input's digest."""
    args_file: str = ""
    nodes_file: str = ""
    """The nodes it ran on; they are simulated here, since they may be elsewhere."""
    out: str = "again"


def repeat_words(asked: Asked, places: Places, imports: Mapping[str, str]) -> list[str] | None:
    """Return the words of the command that repeats a run; None when a command cannot say it.

    `imports` has the import path of each declared name. It is used where `weft run` would not
    find the name: it knows those of installed products only.
    """
    text = asked.args_text()
    if text is None:
        return None
    by_name = not places.source and locate(asked.search) is not None
    words = ["weft", "run", asked.search if by_name else imports.get(asked.search, asked.search)]
    if places.source:
        words += ["--path", places.source]
    args = f"@{places.args_file}" if places.args_file else text
    words += ["--args", args, "--seed", str(asked.seed)]
    for name, digest in sorted(asked.inputs.items()):
        words += ["--input", f"{name}={places.inputs[digest]}"]
    for name, count in sorted(asked.budget.items()):
        words += ["--budget", f"{name}={count}"]
    words += _limits(asked)
    words += ["--nodes", places.nodes_file, "--simulate-nodes"] if places.nodes_file else []
    return [*words, "--out", places.out]


def _limits(asked: Asked) -> Sequence[str]:
    words: list[str] = []
    if asked.retries:
        words += ["--retries", str(asked.retries)]
    if asked.timeout_s is not None:
        words += ["--timeout", repr(asked.timeout_s)]
    return [*words, *(["--strict"] if asked.strict else [])]


def in_run(run: Path, asked: Asked, search_path: str) -> Places:
    """Name the places inside a run folder itself."""
    objects = run / "objects"
    inputs = {d: str(objects / d[:2] / d[2:]) for d in asked.inputs.values()}
    source = str((run.absolute() / search_path).resolve()) if search_path else ""
    return Places(source, inputs, out=f"{run}-again")
