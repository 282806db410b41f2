"""Reads fields of recorded JSON as the types they must have.

The edge between recorded values and the dataclasses of this package: a record may be anybody's,
so a field of another type is damage, named, and never a traceback.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from weft.errors import LedgerDamaged
from weft.model.values import Object, Value

Table = Mapping[str, Value]
"""A JSON object as recorded."""
T = TypeVar("T", str, int, bool)


def text(table: Table, name: str) -> str:
    """Return a field that is text."""
    return _typed(table, name, str)


def count(table: Table, name: str) -> int:
    """Return a field that is an integer."""
    return _typed(table, name, int)


def seconds(table: Table, name: str) -> float:
    """Return a field that is a number of seconds."""
    value = table.get(name)
    if not isinstance(value, float | int) or isinstance(value, bool):
        raise _wrong(name, "number")
    return value


def flag(table: Table, name: str) -> bool:
    """Return a field that is true or false."""
    return _typed(table, name, bool)


def text_or_none(table: Table, name: str) -> str | None:
    """Return a field that is text, None when it is null or not there."""
    return None if table.get(name) is None else text(table, name)


def count_or_none(table: Table, name: str) -> int | None:
    """Return a field that is an integer, None when it is null or not there."""
    return None if table.get(name) is None else count(table, name)


def texts(table: Table, name: str) -> tuple[str, ...]:
    """Return a field that is a list of texts."""
    return tuple(item for item in items(table, name) if isinstance(item, str))


def items(table: Table, name: str) -> list[Value]:
    """Return a field that is a list."""
    value = table.get(name)
    if not isinstance(value, list):
        raise _wrong(name, "list")
    return value


def tables(table: Table, name: str) -> list[dict[str, Value]]:
    """Return a field that is a list of objects."""
    return [item for item in items(table, name) if isinstance(item, dict)]


def inner(table: Table, name: str) -> dict[str, Value]:
    """Return a field that is a JSON object."""
    value = table.get(name)
    if not isinstance(value, dict):
        raise _wrong(name, "object")
    return value


def inner_or_none(table: Table, name: str) -> dict[str, Value] | None:
    """Return a field that is a JSON object, None when it is null or not there."""
    return None if table.get(name) is None else inner(table, name)


def reference(table: Table, name: str) -> Object:
    """Return a field that refers to an object of the run."""
    value = table.get(name)
    if not isinstance(value, Object):
        raise _wrong(name, "reference to an object")
    return value


def reference_or_none(table: Table, name: str) -> Object | None:
    """Return a field that refers to an object, None when it is null or not there."""
    return None if table.get(name) is None else reference(table, name)


def references(table: Table, name: str) -> tuple[Object, ...]:
    """Return a field that is a list of references to objects."""
    return tuple(item for item in items(table, name) if isinstance(item, Object))


def _typed(table: Table, name: str, kind: type[T]) -> T:
    value = table.get(name)
    if type(value) is not kind:
        raise _wrong(name, {str: "text", int: "integer", bool: "boolean"}[kind])
    return value


def _wrong(name: str, kind: str) -> LedgerDamaged:
    return LedgerDamaged(f"a record of the tree search has no field {name!r} of type {kind}")
