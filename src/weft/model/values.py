"""The values tasks take and return, and their one canonical text.

A value is JSON plus `Object` references and `Typed` data. It travels in a *wire form* that any
JSON reader keeps exact: floats are {"$f":"0.1"}, integers beyond ±(2^53−1) {"$i":"0x…"}, objects
{"$o":digest}, arrays and the like {"$t":[kind,summary,content]}, and a user key that starts with
"$" gets one more "$". `natives` determines which Python values `Typed` represents.

    value ── to_wire ──► wire ── canonical ──► text (RFC 8785)      encode = both
    value ◄─ from_wire ─ wire ◄── JSON ─────── text                 decode = both, strict

Invariant: decode(encode(v)) == v with the same types (tuples come back as lists), and decode
accepts only text that encode writes. Knows nothing of files, tasks or stores.
"""

from __future__ import annotations

import binascii
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from json.scanner import make_scanner
from typing import Any, TypeAlias, TypeGuard

from weft.errors import ValueInvalid
from weft.model.leaves import (
    DATACLASS,
    INLINE_BYTES,
    ByteStore,
    JsonValue,
    Object,
    Typed,
    Value,
)
from weft.model.natives import KINDS, UNKNOWN, lower

__all__ = [
    "C_ENCODER", "Argument", "JsonValue", "Object", "Typed", "Value", "canonical", "compact_json",
    "decode", "decode_trusted", "encode", "encode_args", "from_wire", "objects_in",
    "parse_trusted", "to_wire",
]  # fmt: skip

MAX_DEPTH = 100
MAX_ARGS_CHARS = 16 * 2**20
MAX_SEARCH_ARGS_CHARS = 64 * 2**20
"""A search's own arguments may list what its tasks get one by one."""
_MAX_INT = 2**53 - 1
_ATOMS = frozenset({str, bool, type(None)})
_OBJECT_REF = re.compile(r'\{"\$o":"([0-9a-f]{64})"\}')
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_HIGH_BMP = re.compile("[\ue000-\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_HINTS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((memoryview,), "pass bytes(view)"),
    ((set, frozenset), "pass a sorted list"),
    ((complex,), "pass [z.real, z.imag]"),
    ((object,), "pass JSON values, bytes, arrays, tables, dataclasses or a weft object"),
)
_NOT_FINITE = "return None or a str in its place; inside a NumPy array or a table it is kept"
_scan: Callable[[str, int], tuple[Any, int]] = make_scanner(json.JSONDecoder())  # type: ignore[arg-type] # typeshed
"""Parses the JSON value at an offset; raises StopIteration if there is none."""


MakeEncoder: TypeAlias = Callable[..., Callable[[object, int], Iterable[str]]]
"""The factory of the encoder inside `json.JSONEncoder`, which creates one for every text."""


def compact_json(make_encoder: MakeEncoder | None, *, sort_keys: bool) -> Callable[[object], str]:
    """Return a function that writes compact JSON like `JSONEncoder.encode`, reusing one encoder.

    Without `make_encoder`, on an interpreter that has none, it is `JSONEncoder.encode` itself.
    """
    plain = json.JSONEncoder(ensure_ascii=False, sort_keys=sort_keys, separators=(",", ":"))
    if make_encoder is None:
        return plain.encode
    quoted = json.encoder.encode_basestring
    chunks = make_encoder(None, plain.default, quoted, None, ":", ",", sort_keys, False, True)
    return lambda wire: "".join(chunks(wire, 0))


C_ENCODER: MakeEncoder | None = getattr(json.encoder, "c_make_encoder", None)
"""CPython's encoder factory; None on an interpreter that has none."""
_dump = compact_json(C_ENCODER, sort_keys=True)
_dump_as_ordered = compact_json(C_ENCODER, sort_keys=False)


Argument: TypeAlias = (
    bool
    | int
    | float
    | str
    | bytes
    | Sequence["Argument"]
    | Mapping[str, object]
    | Object
    | Typed
    | None
)
"""The type of what may be encoded, for type checkers: to them a `TypedDict` is a
`Mapping[str, object]`. `encode` refuses whatever is not a `Value`."""
_Path: TypeAlias = tuple["_Path", str | int] | None  # linked from the leaf up, rendered on error


def encode(value: object, store: ByteStore | None = None) -> str:
    """Return `value` as canonical text; raises ValueInvalid naming the place that it refuses.

    Content too large to be part of the text goes to `store`; without one it is only named.
    """
    if type(value) is int and -_MAX_INT <= value <= _MAX_INT:
        return str(value)  # the commonest value of a short task, in a fifth of the time
    return canonical(value if _is_wire(value, 0) else _tag(value, 0, None, store))


def encode_args(
    args: Mapping[str, object], limit: int = MAX_ARGS_CHARS, store: ByteStore | None = None
) -> str:
    """Encode arguments; refuse more than `limit` characters, and a long text before copying it.

    Arguments are written to the manifest and the ledger; large data belongs in objects.
    """
    if len(args) == 1:
        [(name, value)] = args.items()
        # a single integer, the commonest kind, in a fifth of the time
        if type(value) is int and -_MAX_INT <= value <= _MAX_INT and type(name) is str:
            text = f"{_opening(name)}{value}}}"
            if len(text) <= limit:
                return text
    text = _any_args(args, limit, store)
    if len(text) > limit:
        raise _too_large(len(text), limit, None)
    return text


@lru_cache(maxsize=1024)
def _opening(name: str) -> str:
    """Return the text of a JSON object with one member, up to its value."""
    return encode({name: None}).removesuffix("null}")


def _any_args(args: Mapping[str, object], limit: int, store: ByteStore | None) -> str:
    is_wire = type(args) is dict
    value: Any
    for name, value in args.items():
        kind = type(value)
        if kind is str and len(value) > limit:
            raise _too_large(len(value), limit, (None, name))
        # most arguments are their own wire form: no need to inspect them twice
        is_wire &= kind in _ATOMS or (kind is int and -_MAX_INT <= value <= _MAX_INT)
        is_wire &= type(name) is str and name[:1] != "$"
    return canonical(args) if is_wire else encode(args, store)


def decode(text: str) -> Value:
    """Read text that encode wrote; raises ValueInvalid for any other text."""
    try:
        raw = json.loads(text)
    except RecursionError:
        raise ValueInvalid(f"nested deeper than {MAX_DEPTH}") from None
    except json.JSONDecodeError as error:
        raise ValueInvalid(f"not JSON: {error.msg} at character {error.pos}") from None
    except ValueError:  # the interpreter's own limit on decimal digits
        raise ValueInvalid("an integer with thousands of digits") from None
    value: Value = raw if _is_wire(raw, 0) else _untag(raw, 0, None)
    if canonical(raw) != text:
        raise ValueInvalid("not in canonical form (RFC 8785): keys, spaces, escapes or numbers")
    return value


def decode_trusted(text: str) -> Value:
    """Read text known to come from encode, such as our own rows; the same result as decode."""
    raw = parse_trusted(text)
    return from_wire(raw) if '"$' in text else raw


def parse_trusted(text: str) -> Any:
    """Read the wire structure of text known to come from encode."""
    try:
        return _scan(text, 0)[0]
    except StopIteration:  # which would end the generator of a search
        raise ValueError(f"not JSON: {text[:40]!r}") from None


def to_wire(value: object, store: ByteStore | None = None) -> Any:
    """Convert `value` into a fresh structure of plain JSON with tags, for embedding."""
    return _tag(value, 0, None, store)


def from_wire(raw: Any) -> Value:
    """Convert a wire structure back into its value; refuse what to_wire would not produce."""
    return _untag(raw, 0, None)


def canonical(wire: Argument) -> str:
    """Write a wire structure (no floats, integers within ±(2^53−1)) as RFC 8785 text."""
    text = _dump(wire)
    if text.isascii():
        return text
    if _SURROGATE.search(text):
        to_wire(wire)  # raises, naming the place
    # RFC 8785 §3.2.3 sorts by UTF-16 units. That differs from code point order only where a
    # character above U+FFFF (units from D800) meets one of U+E000..U+FFFF.
    if _ASTRAL.search(text) and _HIGH_BMP.search(text):
        return _dump_as_ordered(_by_utf16(wire))
    return text


def objects_in(text: str) -> list[str]:
    """List the object digests in a canonical text, in order of appearance, repeats kept.

    Exact without parsing: inside a string every quote follows a backslash, and user keys never
    read "$o" (they are "$$o"), so the pattern matches references only.
    """
    return _OBJECT_REF.findall(text) if '"$o"' in text else []


def _is_wire(value: object, depth: int) -> TypeGuard[Value]:
    """Whether `value` is its own wire form: the shortcut past _tag for most values."""
    if type(value) is dict:
        for key in value:
            if type(key) is not str or key[:1] == "$":
                return False
        items: Any = value.values()
    elif type(value) is list or type(value) is tuple:
        items = value
    else:
        return type(value) in _ATOMS or (type(value) is int and -_MAX_INT <= value <= _MAX_INT)
    for item in items:
        kind = type(item)
        if kind is int:
            if not -_MAX_INT <= item <= _MAX_INT:
                return False
        elif kind not in _ATOMS and (depth + 1 >= MAX_DEPTH or not _is_wire(item, depth + 1)):
            return False
    return True


def _tag(value: Any, depth: int, path: _Path, store: ByteStore | None = None) -> JsonValue:
    kind = type(value)
    if kind is str:
        return _check_text(value, path)
    if value is None or kind is bool:
        scalar: bool | None = value
        return scalar
    if kind is int:
        return value if -_MAX_INT <= value <= _MAX_INT else {"$i": hex(value)}
    if kind is float:
        if not math.isfinite(value):
            raise _invalid(f"{value!r} is not a JSON number", path, hint=_NOT_FINITE)
        return {"$f": repr(value)}
    if kind is Object:
        return {"$o": value.digest}
    if kind is list or kind is tuple:
        _check_depth(depth, path)
        return [_tag(item, depth + 1, (path, i), store) for i, item in enumerate(value)]
    if kind is dict:
        _check_depth(depth, path)
        return {
            _escape(key, path): _tag(item, depth + 1, (path, key), store)
            for key, item in value.items()
        }
    return _tag_native(value, depth, path, store)


def _tag_native(value: Any, depth: int, path: _Path, store: ByteStore | None) -> JsonValue:
    """Write a value of a type beyond JSON, or refuse it."""
    if hasattr(type(value), "json_hint"):
        raise _refused_type(value, path)
    try:
        leaf = value if type(value) is Typed else lower(value, store)
    except ValueInvalid as error:
        raise _invalid(error.reason, path, hint=error.hint) from None
    if leaf is UNKNOWN:
        raise _refused_type(value, path)
    if type(leaf) is not Typed:
        return _tag(leaf, depth, path)
    content: Any = leaf.payload
    if isinstance(content, bytes):
        content = binascii.b2a_base64(content, newline=False).decode()
    else:
        content = _tag(content, depth + 1, path, store)
    return {"$t": [leaf.kind, _check_text(leaf.summary, path), content]}


def _untag(raw: Any, depth: int, path: _Path) -> Value:
    kind = type(raw)
    if kind is str:
        return _check_text(raw, path)
    if raw is None or kind is bool or (kind is int and -_MAX_INT <= raw <= _MAX_INT):
        return raw  # type: ignore[no-any-return] # checked above
    if kind is list:
        _check_depth(depth, path)
        return [_untag(item, depth + 1, (path, i)) for i, item in enumerate(raw)]
    if kind is dict:
        if len(raw) == 1:
            [(tag, body)] = raw.items()
            if tag in _READERS:
                return _read_tag(tag, body, path)
            if tag == "$t":
                return _read_typed(body, depth, path)
        _check_depth(depth, path)
        return {
            _unescape(key, path): _untag(item, depth + 1, (path, key)) for key, item in raw.items()
        }
    raise _invalid(f"a bare {_type_name(kind)} is not in wire form", path)


def _read_tag(tag: str, body: JsonValue, path: _Path) -> Value:
    """Read one tagged scalar, and accept it only if it would be written the same way."""
    try:
        value = _READERS[tag](body) if type(body) is str else None
        if _tag(value, 0, None) == {tag: body}:
            return value
    except (ValueError, ValueInvalid):
        pass
    raise _invalid(f"not the way {tag} is written", path)


def _read_typed(body: Any, depth: int, path: _Path) -> Typed:
    """Read a typed value as data; `natives` and `records` rebuild the original."""
    if type(body) is not list or [type(part) for part in body[:2]] != [str, str] or len(body) != 3:
        raise _invalid("not the way $t is written", path)
    kind, summary, raw = body
    if kind not in KINDS:
        raise _invalid(f"values of kind {kind!r:.40} are not known", path)
    inline = type(raw) is str
    content: Any = _read_inline(raw, path) if inline else _untag(raw, depth + 1, path)
    if type(content) not in ((dict,) if kind == DATACLASS else (bytes, Object)):
        raise _invalid(f"not the content of a {kind}", path)
    return Typed(kind, _check_text(summary, path), content)


def _read_inline(raw: str, path: _Path) -> bytes:
    try:
        data = binascii.a2b_base64(raw, strict_mode=True)
    except ValueError:
        data = b""
    if len(data) > INLINE_BYTES or binascii.b2a_base64(data, newline=False).decode() != raw:
        raise _invalid("not the way inline content is written", path)
    return data


_READERS: dict[str, Callable[[str], Value]] = {
    "$f": float,
    "$i": lambda body: int(body, 16),
    "$o": Object,
}


def _escape(key: object, path: _Path) -> str:
    if type(key) is not str:
        raise _invalid(f"a key of type {_type_name(type(key))}, keys must be str", path)
    return "$" + key if _check_text(key, (path, key))[:1] == "$" else key


def _unescape(key: str, path: _Path) -> str:
    if _escape(key, path) == key:
        return key
    if key[:2] != "$$":
        raise _invalid(f"unknown tag {json.dumps(key[:40])}", path)
    return key[1:]


def _check_text(text: str, path: _Path) -> str:
    if not text.isascii() and _SURROGATE.search(text):
        raise _invalid("a lone surrogate, which is not Unicode text", path)
    return text


def _check_depth(depth: int, path: _Path) -> None:
    if depth >= MAX_DEPTH:
        raise ValueInvalid(
            f"nested deeper than {MAX_DEPTH}, or contains itself", path=_render(path)[:60] + "…"
        )


def _by_utf16(wire: Any) -> Any:
    if isinstance(wire, dict):
        ordered = sorted(wire.items(), key=lambda pair: pair[0].encode("utf-16-be"))
        return {key: _by_utf16(item) for key, item in ordered}
    return [_by_utf16(item) for item in wire] if isinstance(wire, list | tuple) else wire


def _refused_type(value: object, path: _Path) -> ValueInvalid:
    name = _type_name(type(value))
    for base in (int, float, str, list, tuple, dict):
        if isinstance(value, base):
            reason = f"{name} is a subclass of {base.__name__} and would lose its type"
            return _invalid(reason, path, hint=f"pass {base.__name__}(value)")
    hint = getattr(type(value), "json_hint", "")
    hint = hint or next(text for kinds, text in _HINTS if isinstance(value, kinds))
    return _invalid(f"type {name} is not a JSON value", path, hint=hint)


def _too_large(size: int, limit: int, path: _Path) -> ValueInvalid:
    reason = f"{size:,} characters, the limit for arguments is {limit:,}"
    return _invalid(reason, path, hint="give large data as an input file or an object (weft.put)")


def _type_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


def _invalid(reason: str, path: _Path, hint: str = "") -> ValueInvalid:
    return ValueInvalid(reason, path=_render(path), hint=hint)


def _render(path: _Path) -> str:
    steps = []
    while path is not None:
        path, step = path
        if isinstance(step, str) and step.isascii() and step.isidentifier():
            steps.append(f".{step[:40]}")
        else:
            steps.append(f"[{json.dumps(step[:40] if isinstance(step, str) else step)}]")
    return "$" + "".join(reversed(steps))
