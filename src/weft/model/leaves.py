"""The leaves of a value that JSON cannot represent, and where their bytes are stored.

    Object   a reference to bytes in the run's object store
    Typed    the Python type of a value (array, table, bytes, dataclass) and its content

Both are plain data: reading a ledger needs no NumPy and imports nothing that the ledger names.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from weft.errors import ValueInvalid

INLINE_BYTES = 4096
"""Content up to this size is inlined in the value's text; more becomes an object of the run."""
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
    """A value of a type beyond JSON, as recorded; `natives.restore` rebuilds the original."""

    kind: str
    """`bytes`, `numpy.ndarray`, `pandas.DataFrame`, `dataclass` or another of `natives.KINDS`."""
    summary: str
    """A summary for display, such as `float64 (3, 4)`; for a dataclass, its name."""
    payload: bytes | Object | dict[str, Value]
    """Its bytes or a reference to them; for a dataclass, its fields."""

    @property
    def label(self) -> str:
        """A short description, such as `array float64 (3, 4)`."""
        return _LABELS.get(self.kind, self.kind + " ") + self.summary


_LABELS = {"numpy.ndarray": "array ", "bytes": "", DATACLASS: ""}

Value: TypeAlias = (
    bool | int | float | str | list["Value"] | dict[str, "Value"] | Object | Typed | None
)
"""The type of arguments and results: JSON values, integers of any size, objects and more."""
JsonValue: TypeAlias = bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"] | None
"""The content of a JSON document: a `Value` without object references and typed values."""


class ByteStore(Protocol):
    """Stores content that is too large for a value's text."""

    has_records: bool
    """Set when a dataclass is encoded: the caller must check that it can be read back."""

    def put(self, data: bytes) -> Object:
        """Store bytes and return their reference."""


class HashOnly:
    """Names bytes without storing them, for bytes that are stored already or not needed."""

    has_records = False

    def put(self, data: bytes) -> Object:
        """Return the reference under which the bytes would be stored."""
        return Object(hashlib.sha256(data).hexdigest())


class GatheredBytes(HashOnly):
    """Collects bytes in memory, to be stored later."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        """The bytes by digest, in the order in which they were added."""

    def put(self, data: bytes) -> Object:
        """Add bytes and return their reference."""
        reference = super().put(data)
        self.objects[reference.digest] = data
        return reference

    def read(self, reference: Object) -> bytes:
        """Return bytes that were added."""
        return self.objects[reference.digest]
