"""Checked access to parsed JSON: each function narrows a value to one type or refuses it.

A refusal is a one-line FileInvalid with the place: `x.json: seed: a text where an integer
should be`. Knows JSON values and their places, not files.
"""

from __future__ import annotations

from weft.errors import FileInvalid
from weft.model.values import JsonValue

_NAMES = {dict: "an object", list: "an array", str: "a text", type(None): "null"}


def kind_of(value: JsonValue) -> str:
    """Return the type of a JSON value in words."""
    return _NAMES.get(type(value), "a number" if type(value) in (int, float) else "true or false")


def as_array(value: JsonValue, where: str, expected: str = "an array") -> list[JsonValue]:
    """Return a value that is an array."""
    if isinstance(value, list):
        return value
    raise _refusal(value, where, expected)


def as_text(value: JsonValue, where: str, expected: str = "a text") -> str:
    """Return a value that is a text."""
    if isinstance(value, str):
        return value
    raise _refusal(value, where, expected)


def as_integer(value: JsonValue, where: str, expected: str = "an integer") -> int:
    """Return a value that is an integer; true and false are not."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise _refusal(value, where, expected)


def _refusal(value: JsonValue, where: str, expected: str) -> FileInvalid:
    return FileInvalid(f"{where}: {kind_of(value)} where {expected} should be")
