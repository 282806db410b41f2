"""Constants of a notebook as Python literals: the same value is always the same text."""

from __future__ import annotations

import math

MAX_CHARS = 1 << 20
"""Limit for one constant; anything larger is data, to be passed as an input."""
MAX_DEPTH = 50
MAX_DECIMAL = 1 << 64


class LiteralError(Exception):
    """Raised for a value that has no literal; the message says why."""


def literal(value: object) -> str:
    """Return the literal of a constant; raises `LiteralError`."""
    text = _text(value, MAX_DEPTH)
    if len(text) > MAX_CHARS:
        raise LiteralError(f"{len(text):,} characters long")
    return text


def _text(value: object, depth: int) -> str:
    """Return a literal for exact types only: what a subclass adds would be lost."""
    kind = type(value)
    if depth == 0:
        raise LiteralError("nested too deeply")
    if kind is float:
        assert isinstance(value, float)
        return repr(value) if math.isfinite(value) else f'float("{value}")'
    if kind is int and isinstance(value, int) and abs(value) > MAX_DECIMAL:
        return hex(value)  # Python refuses to write long integers in decimal
    if value is None or value is ... or kind in (bool, int, str, bytes, complex, range):
        return repr(value)
    if isinstance(value, dict) and kind is dict:
        pairs = [f"{_text(k, depth - 1)}: {_text(v, depth - 1)}" for k, v in value.items()]
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list | tuple | set | frozenset) and kind in (list, tuple, set, frozenset):
        return _sequence([_text(item, depth - 1) for item in value], kind)
    raise LiteralError(_described(value))


def _sequence(items: list[str], kind: type) -> str:
    if kind is list:
        return f"[{', '.join(items)}]"
    if kind is tuple:
        return f"({', '.join(items)}{',' * (len(items) == 1)})"
    return f"{kind.__name__}([{', '.join(sorted(items))}])"


def _described(value: object) -> str:
    """Return a value's type with its article: `a DataFrame`, `an ndarray`."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'AEIOUaeiou' or name.startswith('nd') else 'a'} {name}"
