"""The leaves of a value that JSON has no form of its own for, and where their bytes go.

    Object   a reference to bytes in the run's object store
    Typed    what a value was in Python (an array, a table, bytes, a dataclass) and its content

Both are plain data: reading a ledger needs no NumPy, and imports nothing that it names.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from weft.errors import ValueInvalid

INLINE_BYTES = 4096
"""Content up to this size is part of the value's own text; more becomes an object of the run."""
DATACLASS = "dataclass"
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, order=True)
class Object:
    """A reference to bytes in the run's object store, named by their SHA-256."""

    digest: str
    """64 hexadecimal digits."""

    def __post_init__(self) -> None:
        if type(self.digest) is not str or not _DIGEST.fullmatch(self.digest):
            raise ValueInvalid("an object digest is 64 lower-case hex digits (SHA-256)")


@dataclass(frozen=True, slots=True)
class Typed:
    """A value with a type beyond JSON, as recorded: `natives.restore` makes it what it was."""

    kind: str
    """`bytes`, `numpy.ndarray`, `pandas.DataFrame`, `dataclass` and the like."""
    summary: str
    """What to show of it: `float64 (3, 4)`; of a dataclass, its name."""
    payload: bytes | Object | dict[str, Value]
    """Its bytes or where they are; the fields of a dataclass."""

    @property
    def label(self) -> str:
        """What it is in a few words, such as `array float64 (3, 4)`."""
        return _LABELS.get(self.kind, self.kind + " ") + self.summary


_LABELS = {"numpy.ndarray": "array ", "bytes": "", DATACLASS: ""}

Value: TypeAlias = (
    bool | int | float | str | list["Value"] | dict[str, "Value"] | Object | Typed | None
)
"""The type of arguments and results: JSON values, integers of any size, objects and more."""
JsonValue: TypeAlias = bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"] | None
"""What a JSON document holds: a `Value` without object references and typed values."""


class ByteStore(Protocol):
    """Takes what does not fit into a value's own text."""

    has_records: bool
    """Set when a dataclass was met: whether it can be read back is to be checked."""

    def put(self, data: bytes) -> Object:
        """Store bytes and return their reference."""


class HashOnly:
    """Names bytes without storing them, where they are stored already or not needed."""

    has_records = False

    def put(self, data: bytes) -> Object:
        """Return the reference under which the bytes would be stored."""
        return Object(hashlib.sha256(data).hexdigest())


class GatheredBytes(HashOnly):
    """Keeps the bytes for whoever stores them later."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        """By digest, in the order in which they came."""

    def put(self, data: bytes) -> Object:
        """Keep bytes and return their reference."""
        reference = super().put(data)
        self.objects[reference.digest] = data
        return reference

    def read(self, reference: Object) -> bytes:
        """Return bytes that are kept."""
        return self.objects[reference.digest]
