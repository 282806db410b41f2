"""One ledger record as one line of RFC 8785 canonical JSON: `render` writes it, `parse` reads it.

Owns the fields of a line and its canonical bytes. Knows neither the order of records (`chain`)
nor what a body means: a body stays the raw wire JSON it was written as.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, NoReturn

from weft.errors import LedgerDamaged

FORMAT = 1
ZERO_HASH = "0" * 64
KINDS = ("genesis", "result", "round", "lanes", "answer")
MAX_INT = 2**53 - 1  # RFC 7493 §2.2: beyond it, readers that use doubles disagree
MAX_DEPTH = 256  # of nested arrays and objects in a line, the line's own object included

_FIELDS = ("body", "key", "kind", "prev_hash", "seq", "v")  # in canonical order
_HEX_DIGITS = "0123456789abcdef"


@dataclass(frozen=True, slots=True)
class Record:
    """One record; `body` is raw wire JSON, not decoded."""

    seq: int
    prev_hash: str
    kind: str
    key: str
    body: dict[str, Any]


def render(seq: int, prev_hash: str, kind: str, key: str, body: str) -> bytes:
    """Build the line of a record, without its newline, around a body that is canonical already."""
    assert kind in KINDS, f"unknown kind {kind!r}"
    assert is_hash(key), f"key {key!r} is not a SHA-256 in hex"
    return (
        f'{{"body":{body},"key":"{key}","kind":"{kind}",'
        f'"prev_hash":"{prev_hash}","seq":{seq},"v":{FORMAT}}}'
    ).encode()


def parse(line: bytes) -> Record:
    """Read a line back, accepting only the bytes that `render` writes.

    Raises LedgerDamaged, without a `seq`, for anything else.
    """
    value = _decode(line)
    if type(value) is not dict or tuple(value) != _FIELDS:
        raise LedgerDamaged(f"the fields are not {', '.join(_FIELDS)}")
    body, key, kind, prev_hash, seq, version = value.values()
    if type(version) is not int or version != FORMAT:
        raise LedgerDamaged(f"format version {version!r:.40} is not {FORMAT}")
    if type(seq) is not int or seq < 0:
        raise LedgerDamaged(f"seq {seq!r:.40} is not a count")
    if kind not in KINDS:
        raise LedgerDamaged(f"kind {kind!r:.40} is not one of {', '.join(KINDS)}")
    if not is_hash(key) or not is_hash(prev_hash):
        raise LedgerDamaged("key or prev_hash is not a SHA-256 in lower-case hex")
    if type(body) is not dict:
        raise LedgerDamaged("the body is not an object")
    return Record(seq, prev_hash, kind, key, body)


def line_hash(line: bytes) -> str:
    """Hash a line without its newline; the next record carries it as `prev_hash`."""
    return hashlib.sha256(line).hexdigest()


def is_hash(value: object) -> bool:
    """Tell whether a value is a SHA-256 in lower-case hex."""
    return type(value) is str and len(value) == 64 and not value.strip(_HEX_DIGITS)


def canonical(value: Any) -> str:
    """Write a parsed value (no floats, integers within MAX_INT) as RFC 8785 JSON.

    RFC 8785 §3.2.3 sorts keys by UTF-16 units, Python by code points; the two orders
    differ only where a key has a character beyond U+FFFF.
    """
    text = _ENCODER.encode(value)
    if text.isascii() or len(text.encode("utf-16-le", "surrogatepass")) == 2 * len(text):
        return text
    return _ENCODER_UNSORTED.encode(_in_utf16_order(value))


def _in_utf16_order(value: Any) -> Any:
    """Rebuild a value with every object's keys in the order of RFC 8785 §3.2.3."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return {name: _in_utf16_order(value[name]) for name in names}
    if isinstance(value, list):
        return [_in_utf16_order(item) for item in value]
    return value


def _decode(line: bytes) -> Any:
    """Decode a line and insist that it is canonical.

    Writing the value again gives other bytes for duplicate keys, white space, trailing bytes,
    `-0`, needless escapes and lone surrogates, so one comparison refuses them all.
    """
    try:
        text = line.decode()
        value, _ = _DECODER.raw_decode(text)
        same = canonical(value) == text
        deep = line.count(b"{") + line.count(b"[") > MAX_DEPTH and _is_deeper(value, MAX_DEPTH)
    except RecursionError:
        same, deep = True, True
    except UnicodeDecodeError as error:
        raise LedgerDamaged(f"byte {error.start} is not UTF-8") from None
    except ValueError:  # the decoder's own message would quote the line
        raise LedgerDamaged("the line is not JSON") from None
    if deep:
        raise LedgerDamaged(f"more than {MAX_DEPTH} arrays and objects inside each other")
    if not same:
        raise LedgerDamaged("the line is not canonical JSON (RFC 8785)")
    return value


def _is_deeper(value: Any, limit: int) -> bool:
    """Tell whether arrays and objects nest deeper than `limit`."""
    if not isinstance(value, (dict, list)):
        return False
    items = value.values() if isinstance(value, dict) else value
    return limit == 0 or any(_is_deeper(item, limit - 1) for item in items)


def _read_int(digits: str) -> int:
    # Length first: int() of a very long text is slow or refused by Python itself.
    if len(digits) > 17 or not -MAX_INT <= (number := int(digits)) <= MAX_INT:
        raise LedgerDamaged(f"integer {digits:.20} is outside ±(2^53−1)")
    return number


def _refuse_number(text: str) -> NoReturn:
    raise LedgerDamaged(f"number {text:.40} is not an integer")


_DECODER = json.JSONDecoder(
    parse_int=_read_int, parse_float=_refuse_number, parse_constant=_refuse_number
)
_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, check_circular=False
)
_ENCODER_UNSORTED = json.JSONEncoder(
    separators=(",", ":"), ensure_ascii=False, check_circular=False
)
