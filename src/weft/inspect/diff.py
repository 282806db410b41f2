"""Finds the first record where two runs diverge and describes it. Reads only the two ledgers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path

from weft.errors import LedgerDamaged
from weft.inspect.access import run_named
from weft.ledger.records import Record
from weft.model.values import JsonValue, canonical
from weft.model.wording import fields_of, readable, tag_text
from weft.storage.folder import RunFolder
from weft.storage.ledgerfile import parse_at, whole_lines

SCHEMA_VERSION = 1
NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two ledgers diverge: `what` differs, and its text in each."""

    seq: int
    what: str
    a: str
    b: str

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON form."""
        return {"schema_version": SCHEMA_VERSION, **asdict(self)}


def diff(a: Path, b: Path) -> Difference | None:
    """Return the first difference between two ledgers; None if they are byte-identical.

    All records before it are equal, and so are its `prev_hash` and `seq`. A ledger that is a
    prefix of the other differs where it ends. Raises LedgerDamaged if the line that differs is
    not a record.
    """
    first, second = RunFolder(a), RunFolder(b)
    first.require_run()
    second.require_run()
    with run_named(a):
        pairs = zip_longest(whole_lines(first.ledger), whole_lines(second.ledger))
        for seq, (left, right) in enumerate(pairs):
            if left != right:
                return _describe_divergence(seq, (first, left), (second, right))
    return None


def _describe_divergence(
    seq: int, a: tuple[RunFolder, bytes | None], b: tuple[RunFolder, bytes | None]
) -> Difference:
    records = [_record(seq, *side) for side in (a, b)]
    left, right = records
    if left is None or right is None:
        texts = [
            _end(side[0]) if r is None else describe(r)
            for side, r in zip((a, b), records, strict=True)
        ]
        return Difference(seq, "one ledger ends here", *texts)
    if left.kind != right.kind:
        return Difference(seq, "the next step", describe(left), describe(right))
    return _describe_field(seq, left, right)


def _describe_field(seq: int, left: Record, right: Record) -> Difference:
    """Name the first field in which two records of the same kind differ."""
    searches = [str(record.body.get("search")) for record in (left, right)]
    if left.kind == "genesis" and searches[0] != searches[1]:
        return Difference(seq, "the search", *searches)
    call = ("function", "args")
    if left.kind == "result" and any(left.body.get(n) != right.body.get(n) for n in call):
        return Difference(seq, f"the task at {place(left)}", _call(left), _call(right))
    for name, left_text, right_text in _differences(left.body, right.body, ""):
        return Difference(seq, f"{_subject(left)}: {name}", left_text, right_text)
    return Difference(seq, f"{_subject(left)}: its key", left.key, right.key)


def _differences(a: JsonValue, b: JsonValue, name: str) -> Iterator[tuple[str, str, str]]:
    """Yield each leaf that differs: its dotted name and both texts, keys sorted."""
    if (fields := (fields_of(a), fields_of(b))) != (None, None):
        a, b = (raw if inner is None else inner for raw, inner in zip((a, b), fields, strict=True))
    if a != b and (tag_text(a) or tag_text(b)):
        yield name, _leaf(a), _leaf(b)
    elif isinstance(a, dict) and isinstance(b, dict) and a and b:
        for key in sorted(a.keys() | b.keys()):
            dotted = f"{name}.{key}" if name else key
            if key in a and key in b:
                yield from _differences(a[key], b[key], dotted)
            else:
                yield dotted, _text(a, key), _text(b, key)
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for index, (left, right) in enumerate(zip(a, b, strict=True)):
            yield from _differences(left, right, f"{name}[{index}]")
    elif a != b or type(a) is not type(b):
        yield name, canonical(a), canonical(b)


def _leaf(value: JsonValue) -> str:
    return tag_text(value) or canonical(value)


def _text(body: dict[str, JsonValue], key: str) -> str:
    return _leaf(body[key]) if key in body else NOTHING


def _record(seq: int, folder: RunFolder, line: bytes | None) -> Record | None:
    if line is None:
        return None
    try:
        return parse_at(line, seq)
    except LedgerDamaged as error:
        raise LedgerDamaged(f"{folder.ledger}: {error.message}", seq=seq) from None


def _end(folder: RunFolder) -> str:
    return f"ends here: {'finished' if folder.is_finished() else 'interrupted'}"


def _subject(record: Record) -> str:
    if record.kind == "genesis":
        return "the genesis"
    if record.kind == "result":
        return f"the result of {_call(record)} at {place(record)}"
    return f"the {record.kind} of {place(record)}"


def describe(record: Record) -> str:
    """Describe a record in a few words."""
    body = record.body
    if record.kind == "result":
        outcome = readable(canonical(body.get("value", body.get("error"))))
        return f"result {_call(record)} = {outcome:.200} at {place(record)}"
    if record.kind == "round":
        return f"{place(record)} ends with {body.get('recorded')} of {body.get('tasks')} results"
    if record.kind == "lanes":
        return f"{place(record)} opens lanes {canonical(body.get('names')):.200}"
    if record.kind == "answer":
        return f"answer of {place(record)}: {_value(body):.200}"
    return f"genesis of {body.get('search')}"


def _value(body: Mapping[str, JsonValue]) -> str:
    return readable(canonical(body.get("value", body.get("reason"))))


def place(record: Record) -> str:
    """Describe the position of a record: lane, and round and index if it has them."""
    body = record.body
    words = [f"lane {body.get('lane') or '/'}"]
    words += [f"{name} {body[name]}" for name in ("round", "index") if name in body]
    return ", ".join(words)


def _call(record: Record) -> str:
    body = record.body
    return f"{body.get('function')}({readable(canonical(body.get('args'))):.200})"
