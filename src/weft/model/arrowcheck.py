"""Reads an Arrow IPC stream that may be damaged or forged; a false size costs no memory.

Bodies are read in place and never decompressed; lengths are checked against the actual buffers;
columns without data cannot claim more rows than the stream could describe.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

from weft.errors import ValueInvalid
from weft.model.libraries import Library

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import ipc
else:
    pa, ipc = Library("pyarrow"), Library("pyarrow.ipc")

ROWS_PER_BYTE = 8
"""Rows per byte of a column of bits, the densest there is: the upper limit for any table."""
DICTIONARY_BATCH, RECORD_BATCH = 2, 3  # MessageHeader of Arrow's Message.fbs


def read_stream(data: bytes) -> pa.Table:
    """Return the fully validated table of a stream; raises ValueInvalid."""
    try:
        _check_messages(data)
        with ipc.open_stream(pa.py_buffer(data)) as reader:
            check_schema(reader.schema)
            table = reader.read_all()
        check_rows(table.num_rows, len(data))
        table.validate(full=True)
    except (pa.ArrowException, ValueError, struct.error, IndexError, OSError) as error:
        raise ValueInvalid(f"not a table in the recorded format: {str(error)[:120]!r}") from None
    return table


def check_rows(rows: int, size: int) -> None:
    """Refuse more rows than the bytes could hold."""
    if rows > ROWS_PER_BYTE * size:
        raise ValueError(f"{rows:,} rows in {size:,} bytes: columns without content")


def check_schema(schema: pa.Schema) -> None:
    """Refuse column types that Weft does not store."""
    for field in schema:
        if not pa.types.is_null(field.type):
            _check_type(field.type, field.name)


def _check_type(type_: pa.DataType, name: str) -> None:
    test = next((children for known, children in _known() if known(type_)), None)
    if test is None:
        raise ValueError(f"column {name!r:.40} is of type {str(type_)[:80]}")
    for child in test(type_):
        _check_type(child, name)


_Children = Callable[["pa.DataType"], list["pa.DataType"]]


def _known() -> list[tuple[Callable[[pa.DataType], bool], _Children]]:
    """Return a test for each stored type, with its child types; all need space for every row."""
    t = pa.types
    scalars = (
        t.is_boolean, t.is_integer, t.is_floating, t.is_decimal, t.is_temporal,
        t.is_string, t.is_large_string, t.is_binary, t.is_large_binary,
    )  # fmt: skip
    return [
        *((scalar, lambda _: []) for scalar in scalars),
        (lambda x: t.is_fixed_size_binary(x) and x.byte_width > 0, lambda _: []),
        (t.is_dictionary, lambda x: [x.index_type, x.value_type]),
        (t.is_map, lambda x: [x.key_type, x.item_type]),
        (lambda x: t.is_list(x) or t.is_large_list(x), lambda x: [x.value_type]),
        (lambda x: t.is_fixed_size_list(x) and x.list_size > 0, lambda x: [x.value_type]),
        (lambda x: t.is_struct(x) and x.num_fields > 0, lambda x: [f.type for f in x]),
    ]


# -- messages -----------------------------------------------------------------------------------


def _check_messages(data: bytes) -> None:
    """Refuse compressed batches: Arrow would allocate whatever size they claim."""
    reader = ipc.MessageReader.open_stream(pa.py_buffer(data))
    while True:
        try:
            message = reader.read_next_message()
        except StopIteration:
            return
        if _is_compressed(message.metadata.to_pybytes()):
            raise ValueError("a compressed batch")


def _is_compressed(metadata: bytes) -> bool:
    """Whether a message's RecordBatch has a `compression` field (Message.fbs, RecordBatch)."""
    message = _follow(metadata, 0)
    kind_at = _field(metadata, message, 1)
    kind = metadata[kind_at] if kind_at else 0
    header_at = _field(metadata, message, 2)
    if kind not in (DICTIONARY_BATCH, RECORD_BATCH) or not header_at:
        return False
    batch = _follow(metadata, header_at)
    if kind == DICTIONARY_BATCH:
        batch = _follow(metadata, _field(metadata, batch, 1))
    return _field(metadata, batch, 3) != 0


def _follow(metadata: bytes, place: int) -> int:
    """Return the position that the offset at `place` points to."""
    return place + int(struct.unpack_from("<I", metadata, place)[0])


def _field(metadata: bytes, table: int, number: int) -> int:
    """Return the position of a field of a FlatBuffers table; 0 if it is absent."""
    vtable = table - int(struct.unpack_from("<i", metadata, table)[0])
    if 4 + 2 * number >= struct.unpack_from("<H", metadata, vtable)[0]:
        return 0
    offset = int(struct.unpack_from("<H", metadata, vtable + 4 + 2 * number)[0])
    return table + offset if offset else 0
