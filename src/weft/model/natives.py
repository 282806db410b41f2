"""Converts Python values beyond JSON to plain data and back, each type in its own format.

    lower    a NumPy scalar → the number it equals; array, table, bytes, dataclass → `Typed`
    restore  `Typed` → the original value; bytes that are not inline come from the object store

Types are recognised by name, so that no library has to be imported for it.
A dataclass is read back only by an annotation: see `records`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any, Final

from weft.errors import InputError, ValueInvalid
from weft.model import arrays, tables
from weft.model.codec import to_json
from weft.model.leaves import DATACLASS, INLINE_BYTES, ByteStore, HashOnly, Object, Typed

UNKNOWN: Final = object()
"""Returned by `lower` for a value of a type that it does not know."""
Read = Callable[[Object], bytes]
_LIBRARIES = ("numpy", "pandas", "polars", "pyarrow")
_PYTHON: dict[str, type] = {"bytes": bytes, "bytearray": bytearray}
_ARRAY = "numpy.ndarray"
TABLES = (
    "pandas.DataFrame",
    "pandas.Series",
    "polars.DataFrame",
    "polars.Series",
    "pyarrow.Table",
)
KINDS = frozenset({*_PYTHON, _ARRAY, *TABLES, DATACLASS})
_NO_STORE = HashOnly()


def lower(value: Any, store: ByteStore | None) -> Any:
    """Return the plain scalar or the `Typed` that represents a value, or UNKNOWN.

    Content that is not inline goes to `store`. Raises ValueInvalid if it cannot be stored.
    """
    store = store or _NO_STORE
    kind = type(value)
    if kind is bytes or kind is bytearray:
        return _packed(kind.__name__, _size(value), bytes(value), store)
    library = kind.__module__.partition(".")[0]
    if library in _LIBRARIES:
        return _lower_foreign(value, library, store)
    if is_dataclass(value) and not isinstance(value, type):
        store.has_records = True
        return Typed(DATACLASS, kind.__name__, to_json(value))
    return UNKNOWN


def restore(value: Typed, read: Read) -> Any:
    """Return the original of a typed value; raises ValueInvalid if its content does not match."""
    data = read(value.payload) if isinstance(value.payload, Object) else value.payload
    assert isinstance(data, bytes), "a dataclass is built by records"
    if isinstance(value.payload, Object) and len(data) <= INLINE_BYTES:
        raise ValueInvalid(f"{len(data)} bytes of {value.kind} are an object, not inline")
    try:
        summary, restored = _unpacked(value.kind, data)
    except ModuleNotFoundError as error:
        raise InputError(_missing(value.kind, error)) from None
    if summary != value.summary:
        raise ValueInvalid(f"{value.label!r:.80} is recorded, its content is {summary!r:.80}")
    return restored


def _lower_foreign(value: Any, library: str, store: ByteStore) -> Any:
    name = f"{library}.{type(value).__qualname__}"
    if library == "numpy":
        if arrays.is_scalar(value):
            scalar = arrays.plain_scalar(value)
            return lower(scalar, store) if type(scalar) is bytes else scalar
        if not arrays.is_array(value):
            return UNKNOWN
        return _packed(_ARRAY, *arrays.write_array(value), store)
    if name not in TABLES:
        return UNKNOWN
    try:
        return _packed(name, *tables.write_table(value, name), store)
    except ModuleNotFoundError as error:
        raise ValueInvalid(_missing(name, error)) from None


def _missing(kind: str, error: ModuleNotFoundError) -> str:
    package = (error.name or "pyarrow").partition(".")[0]
    return f"a stored {kind} needs {package}, which is not installed; pip install {package}"


def _packed(kind: str, summary: str, data: bytes, store: ByteStore) -> Typed:
    return Typed(kind, summary, data if len(data) <= INLINE_BYTES else store.put(data))


def _unpacked(kind: str, data: bytes) -> tuple[str, Any]:
    if kind in _PYTHON:
        return _size(data), _PYTHON[kind](data)
    return arrays.read_array(data) if kind == _ARRAY else tables.read_table(data, kind)


def _size(data: bytes) -> str:
    return f"{len(data)} byte{'' if len(data) == 1 else 's'}"
