"""Converts dataclasses to JSON objects and back, by their annotations, for every recorded form.

    dataclass ── to_json ──► Value        fields in declared order, tuples as lists
    dataclass ◄─ from_json ─ Value        every field checked against its annotation

Invariant: from_json(type(v), to_json(v)) == v. An annotation is a scalar, `Object`, `Literal`, a
dataclass, `tuple[T, ...]`, `tuple[A, B]`, `list[T]`, a mapping with text keys, a union of these, or
`Value` for any value, unchanged. A field with a default may be missing; unknown keys are ignored,
so that a reader accepts what a newer writer added. The type comes from the reader, never from data.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from weft.errors import LedgerDamaged
from weft.model.leaves import Object, Typed, Value

T = TypeVar("T")
Reader: TypeAlias = Callable[[Any], Any]
"""Converts a recorded value into the value of a field."""
Table: TypeAlias = Mapping[str, Value]
"""A JSON object as recorded."""
_SCALARS: dict[Any, str] = {
    str: "text",
    int: "an integer",
    bool: "true or false",
    bytes: "bytes",
    bytearray: "a bytearray",
    Object: "a reference to an object",
}
_LIBRARIES = frozenset({"numpy", "pandas", "polars", "pyarrow"})
_NAMES: dict[type, tuple[str, ...]] = {}
_READERS: dict[type, Reader] = {}


def to_json(record: object) -> dict[str, Value]:
    """Return the recorded form of a dataclass; `from_json` is the inverse."""
    kind = type(record)
    names = _NAMES.get(kind) or _remember_names(kind)
    return {name: _plain(getattr(record, name)) for name in names}


def from_json(kind: type[T], raw: object) -> T:
    """Read the recorded form of a dataclass; raises LedgerDamaged naming the field that differs."""
    try:
        record: T = (_READERS.get(kind) or _remember_reader(kind))(raw)
    except _Mismatch as mismatch:
        place = kind.__name__ + "".join(reversed(mismatch.place))
        raise LedgerDamaged(f"a record's field {place} {mismatch.problem}") from None
    return record


class _Mismatch(Exception):  # noqa: N818 - becomes LedgerDamaged at the door
    """A recorded value of the wrong type; its place is collected from the inside out."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.place: list[str] = []

    def inside(self, step: str) -> _Mismatch:
        """Return this mismatch with its place extended by one step outwards."""
        self.place.append(step)
        return self


# -- write --------------------------------------------------------------------------------------


def _remember_names(kind: Any) -> tuple[str, ...]:
    _NAMES[kind] = tuple(field.name for field in fields(kind))
    return _NAMES[kind]


def _plain(value: Any) -> Value:
    if is_dataclass(value) and not isinstance(value, Object | Typed):
        return to_json(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    plain: Value = value
    return plain


# -- read ---------------------------------------------------------------------------------------


def _remember_reader(kind: Any) -> Reader:
    """Build the reader of a dataclass and cache it."""
    # the alias `Value` refers to itself; a class of that name in the module takes precedence
    names = {"Value": Value, **vars(sys.modules.get(kind.__module__, types))}
    hints = get_type_hints(kind, localns=names)
    readers = [(field, _reader(hints[field.name])) for field in fields(kind)]

    def read(raw: Any) -> object:
        if not isinstance(raw, Mapping):
            raise _Mismatch("is not an object")
        return kind(**{field.name: _field(raw, field, reader) for field, reader in readers})

    _READERS[kind] = read
    return read


def _field(raw: Table, field: Field[Any], reader: Reader) -> object:
    if field.name not in raw:
        return _default(field)
    try:
        return reader(raw[field.name])
    except _Mismatch as mismatch:
        raise mismatch.inside(f".{field.name}") from None


def _default(field: Field[Any]) -> object:
    if field.default is not MISSING:
        return field.default
    if field.default_factory is not MISSING:
        return field.default_factory()
    raise _Mismatch("is missing").inside(f".{field.name}")


def _reader(hint: Any) -> Reader:
    """Return the reader for an annotation."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {Union, types.UnionType}:
        return _union(arguments)
    if origin is Literal:
        return _literal(arguments)
    if origin is tuple and arguments[-1] is not Ellipsis:
        return _items([_reader(argument) for argument in arguments])
    if origin in {tuple, list, Sequence}:
        return _sequence(_reader(arguments[0]), list if origin is list else tuple)
    if origin in {dict, Mapping}:
        return _mapping(_reader(arguments[1]))
    if is_dataclass(hint) and hint is not Object:
        return _nested(hint)
    if hint is tuple:
        return _sequence(_unchecked, tuple)
    return _foreign(hint) or _scalar(hint)


def _nested(kind: Any) -> Reader:
    def read(raw: Any) -> object:  # looked up on each read: a type may contain itself
        return (_READERS.get(kind) or _remember_reader(kind))(raw)

    return read


def _scalar(hint: Any) -> Reader:
    if hint is float:
        return _number
    if hint is types.NoneType:
        return _literal((None,))
    if hint not in _SCALARS:
        return _unchecked
    problem = f"is not {_SCALARS[hint]}"

    def read(raw: Any) -> object:
        if type(raw) is not hint:
            raise _Mismatch(problem)
        return raw

    return read


def _foreign(hint: Any) -> Reader | None:
    """Return the reader of a library's type, such as an array, whose dtype is also checked."""
    kind = get_origin(hint) or hint
    library = getattr(kind, "__module__", "").partition(".")[0]
    if library not in _LIBRARIES or not isinstance(kind, type):
        return None
    dtypes = [item for part in get_args(hint) for item in get_args(part) if isinstance(item, type)]
    wanted = dtypes[-1] if dtypes and kind.__name__ == "ndarray" else None

    def read(raw: Any) -> object:
        if not isinstance(raw, kind):
            raise _Mismatch(f"is not a {library}.{kind.__name__}")
        dtype = getattr(raw, "dtype", None)
        if wanted is not None and not issubclass(getattr(dtype, "type", object), wanted):
            raise _Mismatch(f"is an array of {dtype}, not of {wanted.__name__}")
        return raw

    return read


def _number(raw: Any) -> float:
    if type(raw) not in {int, float}:
        raise _Mismatch("is not a number")
    number: float = raw
    return number


def _unchecked(raw: Any) -> object:
    """Return a `Value` unchanged; whether it fits the annotation is checked where it is used."""
    return raw


def _literal(allowed: Sequence[object]) -> Reader:
    choices = [(type(choice), choice) for choice in allowed]

    def read(raw: Any) -> object:
        if (type(raw), raw) not in choices:
            raise _Mismatch("is not " + " or ".join(repr(choice) for _, choice in choices))
        return raw

    return read


def _items(readers: Sequence[Reader]) -> Reader:
    def read(raw: Any) -> object:
        if not isinstance(raw, list | tuple) or len(raw) != len(readers):
            raise _Mismatch(f"is not a list of {len(readers)}")
        return tuple(_each(zip(readers, raw, strict=True)))

    return read


def _sequence(reader: Reader, kind: type[list[Any]] | type[tuple[Any, ...]]) -> Reader:
    def read(raw: Any) -> object:
        if not isinstance(raw, list | tuple):
            raise _Mismatch("is not a list")
        return kind(_each((reader, item) for item in raw))

    return read


def _each(pairs: Iterable[tuple[Reader, Any]]) -> list[Any]:
    values: list[Any] = []
    try:
        for reader, item in pairs:
            values.append(reader(item))
    except _Mismatch as mismatch:
        raise mismatch.inside(f"[{len(values)}]") from None
    return values


def _mapping(reader: Reader) -> Reader:
    def read(raw: Any) -> object:
        if not isinstance(raw, Mapping):
            raise _Mismatch("is not an object")
        return dict(zip(raw, _each((reader, item) for item in raw.values()), strict=True))

    return read


def _union(arguments: Sequence[Any]) -> Reader:
    """Try each type in turn, None first; if none matches, report the last mismatch."""
    ordered = sorted(arguments, key=lambda argument: argument is not types.NoneType)
    *earlier, last = [_reader(argument) for argument in ordered]

    def read(raw: Any) -> object:
        for reader in earlier:
            try:
                return reader(raw)
            except _Mismatch:
                continue
        return last(raw)

    return read
