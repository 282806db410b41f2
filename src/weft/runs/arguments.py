"""The arguments of `weft.run` as plain Python values: NumPy numbers converted, wrong types refused.

A type checker would refuse wrong types too, but a notebook has none. Ranges are checked later, in
the same place as those of command-line options.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import SupportsFloat, SupportsIndex

from weft.errors import UsageError
from weft.model.slots import Node


def whole_number(name: str, value: SupportsIndex) -> int:
    """Return an integer of any kind as an int.

    >>> whole_number("seed", 7)
    7
    """
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise UsageError(f"{name} must be a whole number, not {value!r:.80}")


def optional_number(name: str, value: SupportsIndex | None) -> int | None:
    """Return an integer of any kind as an int; None stays None."""
    return None if value is None else whole_number(name, value)


def path(name: str, value: str | PathLike[str]) -> Path:
    """Return a path as a `Path`."""
    if not isinstance(value, str | PathLike):
        raise UsageError(f"{name} must be a path, not {value!r:.80}")
    return Path(value)


def optional_path(name: str, value: str | PathLike[str] | None) -> Path | None:
    """Return a path as a `Path`; None for None and an empty text."""
    return path(name, value) if value else None


def seconds(name: str, value: SupportsFloat | None) -> float | None:
    """Return a number of any kind as a float; None stays None."""
    if value is None:
        return None
    if isinstance(value, bool | str | bytes) or not hasattr(type(value), "__float__"):
        raise UsageError(f"{name} must be a number of seconds, not {value!r:.80}")
    return float(value)


def words(name: str, value: Sequence[str]) -> tuple[str, ...]:
    """Return texts as a tuple; a single text counts as one.

    >>> words("accept", "code")
    ('code',)
    """
    texts = (value,) if isinstance(value, str) else tuple(value)
    if not all(isinstance(text, str) for text in texts):
        raise UsageError(f"{name} must be a list of texts, not {value!r:.80}")
    return texts


def machines(name: str, value: Sequence[Node]) -> tuple[Node, ...]:
    """Return nodes as a tuple."""
    if not all(isinstance(node, Node) for node in value):
        raise UsageError(f"{name} must be a list of weft.Node, not {value!r:.80}")
    return tuple(value)


def files(
    name: str, value: Mapping[str, str | Path | bytes] | None
) -> Mapping[str, str | Path | bytes]:
    """Return files by name; empty for None."""
    if value is not None and not isinstance(value, Mapping):
        raise UsageError(f"{name} must be a dict of files by name, not {value!r:.80}")
    return value or {}


def counts(name: str, value: Mapping[str, SupportsIndex] | None) -> dict[str, int]:
    """Return counts by name as ints."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise UsageError(f"{name} must be a dict of counts by name, not {value!r:.80}")
    return {key: whole_number(f"{name} {key!r}", count) for key, count in value.items()}
