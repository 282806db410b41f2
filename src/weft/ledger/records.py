"""One ledger record as one line of RFC 8785 canonical JSON: `render` writes it, `parse` reads it.

Owns the fields of a line and its canonical bytes. Knows neither the order of records (`chain`)
nor the meaning of a body, which stays raw wire JSON.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from weft.errors import LedgerDamaged, ValueInvalid
from weft.model.values import JsonValue, canonical

FORMAT = 1
ZERO_HASH = "0" * 64
KINDS = ("genesis", "result", "round", "lanes", "answer")
MAX_INT = 2**53 - 1  # RFC 7493 §2.2: beyond it, readers that use doubles disagree
MAX_DEPTH = 256  # nested arrays and objects, the body itself included

KEY_CHARS = 64

_HEAD = '{"body":'
_TAIL = re.compile(
    rf',"key":"([0-9a-f]{{64}})","kind":"({"|".join(KINDS)})","prev_hash":"([0-9a-f]{{64}})"'
    rf',"seq":(0|[1-9][0-9]{{0,14}}),"v":{FORMAT}\}}'
)
_TOO_DEEP = f"more than {MAX_DEPTH} arrays and objects stand inside each other"


@dataclass(frozen=True, slots=True)
class Record:
    """One record; `body` is raw wire JSON, not decoded."""

    seq: int
    prev_hash: str
    kind: str
    key: str
    body: dict[str, Any]


def render(seq: int, prev_hash: str, kind: str, key: str, body: str) -> bytes:
    """Return the line of a record, without its newline, around a body that is already canonical."""
    tail = f',"key":"{key}","kind":"{kind}","prev_hash":"{prev_hash}","seq":{seq},"v":{FORMAT}}}'
    assert _TAIL.fullmatch(tail), f"a record cannot hold {tail}"
    return f"{_HEAD}{body}{tail}".encode()


def parse(line: bytes) -> Record:
    """Read a line back, accepting only the bytes that `render` writes.

    Raises LedgerDamaged, without a `seq`, for anything else.
    """
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise LedgerDamaged(f"byte {error.start} is not UTF-8") from None
    if not text.startswith(_HEAD):
        raise LedgerDamaged(f"the line does not begin with {_HEAD}")
    body, end = _read_body(text)
    tail = _TAIL.fullmatch(text, end)
    if tail is None:
        raise LedgerDamaged(
            f'the body is not followed by "key":…,"kind":…,"prev_hash":…,"seq":…,"v":{FORMAT}}}'
        )
    key, kind, prev_hash, seq = tail.groups()
    return Record(int(seq), prev_hash, kind, key, body)


def are_keys(keys: Sequence[str]) -> bool:
    """Whether all are 64 lower-case hex digits, as `render` requires of each."""
    text = "".join(keys)
    try:
        same = bytes.fromhex(text).hex() == text  # in a third of the time of a pattern
    except ValueError:
        return False
    return same and {*map(len, keys)} <= {KEY_CHARS}


def line_hash(line: bytes) -> str:
    """Hash a line without its newline; the next record carries it as `prev_hash`."""
    return hashlib.sha256(line).hexdigest()


def _read_body(text: str) -> tuple[dict[str, Any], int]:
    """Decode the body and require that it is canonical; also return where it ends.

    Re-encoding the body gives a different text if it has duplicate keys, white space, `-0` or
    needless escapes, so one comparison refuses them all.
    """
    start = len(_HEAD)
    try:
        body, end = _DECODER.raw_decode(text, start)
        same = canonical(body) == text[start:end]
        deep = end > 2 * MAX_DEPTH and _is_deep(body, text)
    except RecursionError:
        raise LedgerDamaged(_TOO_DEEP) from None
    except (ValueError, ValueInvalid):  # not JSON, or a lone surrogate, which UTF-8 cannot carry
        raise LedgerDamaged("the body is not JSON") from None
    if deep:
        raise LedgerDamaged(_TOO_DEEP)
    if not same or type(body) is not dict:
        raise LedgerDamaged("the body is not an object in canonical JSON (RFC 8785)")
    return body, end


def _is_deep(body: JsonValue, text: str) -> bool:
    """Return whether arrays and objects nest deeper than MAX_DEPTH."""
    if text.count("{") + text.count("[") <= MAX_DEPTH:
        return False
    level = [body]
    for _ in range(MAX_DEPTH):
        nested = (item for item in level if isinstance(item, dict | list))
        level = [
            child
            for item in nested
            for child in (item.values() if isinstance(item, dict) else item)
        ]
    return any(isinstance(item, dict | list) for item in level)


def _read_int(digits: str) -> int:
    if len(digits) < 16 or (len(digits) < 18 and abs(int(digits)) <= MAX_INT):
        return int(digits)
    raise LedgerDamaged(f"integer {digits:.20} is outside ±(2^53−1)")


def _refuse_number(text: str) -> NoReturn:
    raise LedgerDamaged(f"number {text:.40} is not an integer")


_DECODER = json.JSONDecoder(
    parse_int=_read_int, parse_float=_refuse_number, parse_constant=_refuse_number
)
