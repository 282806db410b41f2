"""The request that a run answers, from its genesis, and the command that repeats it. Reads only.

Every run can be repeated by `weft run`, whatever command began it: the genesis names the search
and holds all that decides the outcome.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from weft.errors import FileInvalid
from weft.model.jsonfields import as_flag, as_integer, as_object, as_text, field
from weft.model.values import JsonValue, Object, Value, from_wire
from weft.product import locate

WHERE = "genesis"


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """The request of a run, decoded from its genesis."""

    search: str
    version: int
    seed: int
    args: Mapping[str, Value]
    inputs: Mapping[str, str]
    """Digest of each input."""
    budget: Mapping[str, int]
    retries: int
    timeout_s: float | None
    strict: bool
    libraries: Mapping[str, str]

    @staticmethod
    def from_genesis(body: dict[str, JsonValue]) -> RecordedRequest:
        """Decode the body of record 0; raises FileInvalid or ValueInvalid when it is not one."""
        config = as_object(field(body, "config", WHERE), WHERE)
        args, budget, timeout_s = (from_wire(config[n]) for n in ("args", "budget", "timeout_s"))
        seed = from_wire(field(body, "seed", WHERE))
        if not isinstance(args, dict) or not isinstance(budget, dict):
            raise FileInvalid(f"{WHERE}: its arguments or budget are not objects")
        if not isinstance(seed, int) or not isinstance(timeout_s, int | float | None):
            raise FileInvalid(f"{WHERE}: its seed or timeout is not a number")
        return RecordedRequest(
            search=as_text(field(body, "search", WHERE), WHERE),
            version=as_integer(field(body, "version", WHERE), WHERE),
            seed=seed,
            args=args,
            inputs=_texts(field(body, "inputs", WHERE)),
            budget=_counts(budget),
            retries=as_integer(field(config, "retries", WHERE), WHERE),
            timeout_s=timeout_s,
            strict=as_flag(field(config, "strict", WHERE), WHERE),
            libraries=_texts(field(body, "libraries", WHERE)),
        )

    def args_text(self) -> str | None:
        """Write the arguments as `--args` reads them; None when an object is among them."""
        try:
            return json.dumps(dict(self.args), ensure_ascii=False, default=_refuse)
        except TypeError:
            return None

    def to_dict(self) -> dict[str, JsonValue]:
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


def _counts(value: dict[str, Value]) -> dict[str, int]:
    counts = {name: count for name, count in value.items() if isinstance(count, int)}
    if counts != value:
        raise FileInvalid(f"{WHERE}: its budget has values that are no integers")
    return counts


def _texts(value: JsonValue) -> dict[str, str]:
    return {name: as_text(item, WHERE) for name, item in as_object(value, WHERE).items()}


def _refuse(value: object) -> NoReturn:
    assert isinstance(value, Object)
    raise TypeError("an object reference has no JSON form")


@dataclass(frozen=True, slots=True)
class RepeatPaths:
    """Where the repeating command finds what it needs, as the command names it."""

    source: str
    """Folder to import the search from; empty when it is installed."""
    inputs: Mapping[str, str]
    """File of each input's digest."""
    args_file: str = ""
    nodes_file: str = ""
    """The nodes it ran on; they are simulated here, since they may be elsewhere."""
    out: str = "again"


def repeat_words(
    request: RecordedRequest, paths: RepeatPaths, imports: Mapping[str, str]
) -> list[str] | None:
    """Return the words of the command that repeats a run; None when no command can.

    `imports` has the import path of each declared name. It is used where `weft run` would not
    find the name: it knows those of installed products only.
    """
    text = request.args_text()
    if text is None:
        return None
    by_name = not paths.source and locate(request.search) is not None
    search = request.search if by_name else imports.get(request.search, request.search)
    words = ["weft", "run", search]
    if paths.source:
        words += ["--path", paths.source]
    args = f"@{paths.args_file}" if paths.args_file else text
    words += ["--args", args, "--seed", str(request.seed)]
    for name, digest in sorted(request.inputs.items()):
        words += ["--input", f"{name}={paths.inputs[digest]}"]
    for name, count in sorted(request.budget.items()):
        words += ["--budget", f"{name}={count}"]
    words += _limits(request)
    words += ["--nodes", paths.nodes_file, "--simulate-nodes"] if paths.nodes_file else []
    return [*words, "--out", paths.out]


def _limits(request: RecordedRequest) -> Sequence[str]:
    words: list[str] = []
    if request.retries:
        words += ["--retries", str(request.retries)]
    if request.timeout_s is not None:
        words += ["--timeout", repr(request.timeout_s)]
    return [*words, *(["--strict"] if request.strict else [])]


def in_run(run: Path, request: RecordedRequest, search_path: str) -> RepeatPaths:
    """Return the paths inside the run folder itself."""
    objects = run / "objects"
    inputs = {d: str(objects / d[:2] / d[2:]) for d in request.inputs.values()}
    source = str((run.absolute() / search_path).resolve()) if search_path else ""
    return RepeatPaths(source, inputs, out=f"{run}-again")
