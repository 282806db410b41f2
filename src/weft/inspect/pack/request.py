"""The request that a run answers, from its genesis, and the command that repeats it. Only reads.

Every run can be repeated by `weft run`, whichever command started it: the genesis names the search
and has everything that decides the outcome.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn

from weft.model.codec import from_json
from weft.model.values import JsonValue, Object, Typed, Value, from_wire
from weft.product import locate

WIRE = ("args", "budget", "seed", "timeout_s")
"""Fields of the genesis that hold values in wire form."""


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """The request of a run, decoded from its genesis."""

    search: str
    version: int
    seed: int
    args: Mapping[str, Value]
    inputs: Mapping[str, str]
    """Digest of each input, by name."""
    budget: Mapping[str, int]
    retries: int
    timeout_s: float | None
    strict: bool
    libraries: Mapping[str, str]

    @staticmethod
    def from_genesis(body: dict[str, JsonValue]) -> RecordedRequest:
        """Decode the body of record 0; raises LedgerDamaged or ValueInvalid if it is not one."""
        config = body.get("config")
        fields = {**body, **(config if isinstance(config, dict) else {})}
        decoded = {name: from_wire(fields.get(name)) for name in WIRE}
        raw: dict[str, object] = {**fields, **decoded}
        return from_json(RecordedRequest, raw)

    def args_text(self) -> str | None:
        """Return the arguments as JSON for `--args`; None if they have objects or typed values."""
        try:
            return json.dumps(dict(self.args), ensure_ascii=False, default=_refuse)
        except TypeError:
            return None

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON form."""
        text = self.args_text()
        return {**asdict(self), "args": None if text is None else json.loads(text)}


def _refuse(value: object) -> NoReturn:
    assert isinstance(value, Object | Typed)
    raise TypeError("an object reference or a typed value has no JSON form")


@dataclass(frozen=True, slots=True)
class RepeatPaths:
    """The paths that the repeating command uses."""

    source: str
    """Folder to import the search from; empty when it is installed."""
    inputs: Mapping[str, str]
    """File of each input, by digest."""
    args_file: str = ""
    nodes_file: str = ""
    """The nodes of the run; they are simulated, since they may not be available here."""
    out: str = "again"


def repeat_words(
    request: RecordedRequest, paths: RepeatPaths, imports: Mapping[str, str]
) -> list[str] | None:
    """Return the words of the command that repeats a run; None if no command can.

    `imports` has the import path of each declared name. It is used if `weft run` would not find
    the name: it knows only those of installed products.
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
    """Return the paths for repeating a run from its own folder."""
    objects = run / "objects"
    inputs = {d: str(objects / d[:2] / d[2:]) for d in request.inputs.values()}
    source = str((run.absolute() / search_path).resolve()) if search_path else ""
    return RepeatPaths(source, inputs, out=f"{run}-again")
