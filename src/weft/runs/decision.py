"""The decision that defines a run, and the genesis record that binds it.

`genesis_text` is the identity of a run. It contains everything that can change the outcome, and
nothing about workers, places or time.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from weft.cells import PREFIX
from weft.coordinator.policy import Policy
from weft.define import Task, described
from weft.errors import FileInvalid, RunMismatch, SearchInvalid, ValueInvalid
from weft.ledger.records import FORMAT
from weft.model.keys import sha256_hex
from weft.model.leaves import ByteStore, GatheredBytes
from weft.model.natives import TABLES
from weft.model.records import check_rebuilt, rebuild_args, types_of
from weft.model.tasks import Budget, SearchCall, TaskCall
from weft.model.values import (
    MAX_SEARCH_ARGS_CHARS,
    JsonValue,
    Object,
    Value,
    canonical,
    decode_trusted,
    encode_args,
    from_wire,
    parse_trusted,
    to_wire,
)
from weft.model.wording import fields_of, tag_text
from weft.product import check_name
from weft.runs.prior import FIELD, Retry, retry_of
from weft.storage.objects import hash_file

_YIELD = "yield it from a @weft.search function, and run that"


@dataclass(frozen=True, slots=True)
class Decision:
    """Everything that can change the outcome, besides the search's code."""

    call: SearchCall
    seed: int = 0
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Digest of each input; the bytes are objects of the run."""
    budget: Budget = field(default_factory=Budget)
    policy: Policy = field(default_factory=Policy)
    retry: Retry | None = None
    """The run whose failed tasks this one runs again."""

    def context(self) -> dict[str, int | Mapping[str, Object] | Budget]:
        """Return the values that the search may request by keyword."""
        inputs = {name: Object(digest) for name, digest in self.inputs.items()}
        return {"seed": self.seed, "inputs": inputs, "budget": self.budget}

    def genesis_text(self, store: ByteStore | None = None) -> str:
        """Render the canonical body of record 0; values that become objects go to `store`."""
        call = self.call
        try:
            text = encode_args(call.args, MAX_SEARCH_ARGS_CHARS, store)
            config = {
                "args": parse_trusted(text),
                "budget": to_wire(dict(self.budget.counts)),
                "retries": self.policy.retries,
                "strict": self.policy.strict,
                "timeout_s": to_wire(self.policy.timeout_s),
            }
            if call.failures_expected:  # omitted for the many that do not declare it
                config["failures_expected"] = True
        except ValueInvalid as error:
            raise SearchInvalid(f"arguments of search {call.name}: {error}") from None
        retry = {} if self.retry is None else {FIELD: self.retry.to_json()}
        return canonical({
            **retry,
            "config": config,
            "format": FORMAT,
            "inputs": dict(self.inputs),
            "libraries": {name: _installed(name) for name in _libraries(call, text)},
            "search": call.name,
            "seed": to_wire(self.seed),
            "version": call.version,
        })  # fmt: skip


def check_search(search: object) -> None:
    """Refuse anything but a call of a search, with an explanation."""
    if isinstance(search, SearchCall):
        return
    what = described(search)
    hint = "give it a call of a @weft.search function, like weft.run(climb(width=3), out=…)"
    if getattr(search, "is_search", False):
        what = f"search {getattr(search, 'search_name', '')} itself"
        hint = f"call it: weft.run({getattr(search, '__name__', '')}(…), out=…)"
    elif isinstance(search, TaskCall):
        what, hint = f"a call of task {search.function}", _YIELD
    elif isinstance(search, Task):
        what, hint = f"task {search.name}", _YIELD
    elif isinstance(search, str):
        hint = f"import the search and call it, or in a shell: weft run {search[:80]}"
    raise SearchInvalid(f"weft.run needs a call of a search, not {what}", hint=hint)


def decision_from_genesis(genesis: str, call: SearchCall) -> Decision:
    """Rebuild the decision of a recorded run; `call` supplies the search's code."""
    raw = json.loads(genesis)
    config = raw["config"]
    timeout_s, seed = from_wire(config["timeout_s"]), from_wire(raw["seed"])
    assert timeout_s is None or isinstance(timeout_s, int | float)
    assert isinstance(seed, int)
    return Decision(
        call=call,
        seed=seed,
        inputs=raw["inputs"],
        budget=_budget(from_wire(config["budget"])),
        policy=Policy(config["retries"], timeout_s, config["strict"]),
        retry=retry_of(raw),
    )


def normalized(call: SearchCall) -> SearchCall:
    """Return the call with its typed arguments as a resumed run will see them.

    Raises SearchInvalid for arguments that cannot be recorded or rebuilt by the annotations.
    """
    store = GatheredBytes()
    try:
        native = {name: value for name, value in call.args.items() if not _is_json(value)}
        recorded = decode_trusted(encode_args(native, MAX_SEARCH_ARGS_CHARS, store))
        args = rebuild_args(recorded, types_of(call.body), store.read)
        check_rebuilt(native, args)
    except ValueInvalid as error:
        raise SearchInvalid(f"arguments of search {call.name}: {error}") from None
    return replace(call, args={**call.args, **args}) if args else call


def _is_json(value: object) -> bool:
    """Whether a value holds only JSON and references, apart from what is refused elsewhere."""
    if isinstance(value, Mapping):
        return all(_is_json(item) for item in value.values())
    if isinstance(value, list | tuple):
        return all(_is_json(item) for item in value)
    return value is None or type(value) in (bool, int, float, str, Object)


def _libraries(call: SearchCall, args: str) -> tuple[str, ...]:
    """Return the distributions that can change the outcome: pyarrow too if there are tables."""
    tables = any(f'["{kind}","' in args for kind in TABLES)
    return (*call.libraries, *(("pyarrow",) if tables and "pyarrow" not in call.libraries else ()))


def _budget(counts: Value) -> Budget:
    assert isinstance(counts, dict)
    return Budget({name: count for name, count in counts.items() if isinstance(count, int)})


def check_same(recorded: str, asked: str, where: Path) -> None:
    """Raise `RunMismatch` naming the first field in which two genesis bodies differ."""
    if recorded == asked:
        return
    check_name(str(json.loads(recorded).get("search")))
    old, new = _flat(json.loads(recorded)), _flat(json.loads(asked))
    for name in sorted(old.keys() | new.keys(), key=lambda name: (name != "search", name)):
        if old.get(name) != new.get(name):
            before, now = old.get(name, "nothing"), new.get(name, "nothing")
            if name == "search" and PREFIX in before and PREFIX in now:
                raise RunMismatch(
                    f"{where} contains a run of other cells ({before} there, {now} here):"
                    " they were edited, or a value that they use has changed",
                    hint="choose a new --out, or run the cells as they were",
                )
            raise RunMismatch(
                f"{where} contains a different run: {name} is {before:.200} there, {now:.200} here",
                hint="use the recorded value, or a new --out",
            )


def read_inputs(inputs: Mapping[str, Path | bytes]) -> dict[str, bytes]:
    """Return each input's bytes, by name."""
    return {name: _read_input(name, source) for name, source in sorted(inputs.items())}


def digests(inputs: Mapping[str, bytes | Path]) -> dict[str, str]:
    """Return the SHA-256 of each input; files are read in pieces."""
    return {name: _digest(source) for name, source in inputs.items()}


def _digest(source: bytes | Path) -> str:
    if isinstance(source, bytes):
        return sha256_hex(source)
    with source.open("rb") as file:
        return hash_file(file)


def _read_input(name: str, source: Path | bytes) -> bytes:
    if isinstance(source, bytes):
        return source
    try:
        if not source.is_file():
            what = "is not a regular file" if source.exists() else "does not exist"
            raise FileInvalid(f"input {name}: {source} {what}")
        return source.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileInvalid(f"input {name}: {str(source)[:200]!r}: {reason}") from None


def _installed(library: str) -> str:
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        raise SearchInvalid(f"the search needs library {library}, which is not installed") from None


def _flat(value: JsonValue, name: str = "") -> dict[str, str]:
    """Return all leaves by dotted name, to compare two configs in words."""
    flat: dict[str, str] = {}
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for number, item in enumerate(value):
            flat.update(_flat(item, f"{name}.{number}"))
        return flat
    if not isinstance(value, dict) or not value:
        return {name: json.dumps(value)}
    if (fields := fields_of(value)) is not None:
        return _flat(fields, name)
    if (text := tag_text(value)) is not None:
        return {name: text}
    for key, item in value.items():
        flat.update(_flat(item, f"{name}.{key}" if name else key))
    return flat
