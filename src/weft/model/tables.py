"""Converts tables of pandas, polars and pyarrow to uncompressed Arrow IPC streams and back.

Equal content has equal bytes: a table is written as one batch of freshly built columns (no slices,
no leftovers under nulls or after the last bit) and without the versions that pandas adds to it.
A table that would come back with another schema or index is refused when it is written.
Reading refuses compression, whose sizes may be false, and checks every length before it is used.
"""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

from weft.errors import ValueInvalid
from weft.model import arrowcheck
from weft.model.libraries import Library

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyarrow import compute as pc
    from pyarrow import ipc
else:
    pa, pl = Library("pyarrow"), Library("polars")
    pc, ipc = Library("pyarrow.compute"), Library("pyarrow.ipc")

COLUMN = "value"
"""The column that holds a pandas Series; the series' name is in the metadata."""
NAME = b"weft.name"


def write_table(table: Any, kind: str) -> tuple[str, bytes]:
    """Return a summary of a table for display, and its Arrow IPC bytes; `kind` is its class."""
    try:
        arrow = _canonical(_TO_ARROW[kind](table))
        arrowcheck.check_schema(arrow.schema)
        data = _written(arrow)
        arrowcheck.check_rows(arrow.num_rows, len(data))
        difference = _DIFFERENCE[kind](table, _FROM_ARROW[kind](arrowcheck.read_stream(data)))
    except (pa.ArrowException, ValueError, TypeError, NotImplementedError) as error:
        raise ValueInvalid(f"a {kind} is not stored: {_line(error)}", hint=_HINT) from None
    if difference:
        raise ValueInvalid(f"a {kind} is not stored: {difference}", hint=_HINT)
    return _summary(table), data


def read_table(data: bytes, kind: str) -> tuple[str, Any]:
    """Return summary and table from `write_table`'s bytes; raises ValueInvalid for any others."""
    table = _FROM_ARROW[kind](arrowcheck.read_stream(data))
    return _summary(table), table


def _summary(table: Any) -> str:
    return str(tuple(table.shape))


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


_HINT = "convert the column, or pass its columns as arrays or lists"


# -- equal bytes for equal content --------------------------------------------------------------


def _canonical(table: pa.Table) -> pa.Table:
    """Rebuild the table with one chunk per column, so that equal tables have equal buffers."""
    rows = pa.array(range(table.num_rows), pa.int64())
    columns = [pc.take(column.combine_chunks(), rows) for column in table.columns]
    if not columns:
        return table
    return pa.Table.from_arrays(columns, schema=table.schema)


def _written(table: pa.Table) -> bytes:
    options = ipc.IpcWriteOptions(
        metadata_version=ipc.MetadataVersion.V5, compression=None, use_threads=False
    )
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


# -- pandas -------------------------------------------------------------------------------------


def _from_frame(frame: Any) -> pa.Table:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the comparison finds what it warns of
        table = pa.Table.from_pandas(frame, nthreads=1)
    _check_objects(frame, table)
    metadata = dict(table.schema.metadata)
    notes = json.loads(metadata[b"pandas"])
    for written_by in ("creator", "pandas_version"):
        notes.pop(written_by, None)
    return table.replace_schema_metadata({b"pandas": json.dumps(notes, sort_keys=True).encode()})


def _check_objects(frame: Any, table: pa.Table) -> None:
    for name, dtype, column in zip(frame.columns, frame.dtypes, table.columns, strict=False):
        if dtype.kind == "O" and pa.types.is_nested(column.type):
            raise ValueError(f"column {name!r} holds Python objects, {column.type}")


def _to_frame(table: pa.Table) -> Any:
    return table.to_pandas(use_threads=False)


def _from_series(series: Any) -> pa.Table:
    if series.name is not None and type(series.name) not in (str, int):
        raise ValueError(f"a series named {series.name!r:.40}, names are text or integers")
    table = _from_frame(series.to_frame(COLUMN))
    name = json.dumps(series.name).encode()
    return table.replace_schema_metadata({**table.schema.metadata, NAME: name})


def _to_series(table: pa.Table) -> Any:
    series = _to_frame(table)[COLUMN]
    return series.rename(json.loads(table.schema.metadata[NAME]))


def _frame_difference(before: Any, after: Any) -> str:
    for name, old, new in zip(before.columns, before.dtypes, after.dtypes, strict=True):
        if old != new:
            return f"column {name!r:.40} of dtype {old} would come back as {new}"
    return _index_difference("columns", before.columns, after.columns) or _index_difference(
        "index", before.index, after.index
    )


def _series_difference(before: Any, after: Any) -> str:
    if before.dtype != after.dtype:
        return f"dtype {before.dtype} would come back as {after.dtype}"
    return _index_difference("index", before.index, after.index)


def _index_difference(name: str, before: Any, after: Any) -> str:
    same = (
        type(before) is type(after)
        and before.equals(after)
        and list(before.names) == list(after.names)
        and list(before.to_frame().dtypes) == list(after.to_frame().dtypes)
    )
    return "" if same else f"its {name} would not survive a round trip"


# -- polars -------------------------------------------------------------------------------------


def _from_polars(frame: Any) -> pa.Table:
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    for place, (name, dtype) in enumerate(frame.schema.items()):
        if dtype == pl.Categorical:  # its codes depend on what else the process has seen
            column, field = table.column(place), table.schema.field(place)
            text = column.cast(field.type.value_type).combine_chunks().dictionary_encode()
            table = table.set_column(place, field, text.cast(field.type))
        elif dtype.is_nested() and "Categorical" in str(dtype):
            raise ValueError(f"column {name!r:.40} has categories inside {dtype}")
    return table


def _to_polars(table: pa.Table) -> Any:
    return pl.from_arrow(table)


def _from_polars_series(series: Any) -> pa.Table:
    return _from_polars(series.to_frame())


def _to_polars_series(table: pa.Table) -> Any:
    return _to_polars(table).to_series()


def _polars_difference(before: Any, after: Any) -> str:
    for name, dtype in before.schema.items():
        if after.schema.get(name) != dtype:
            return f"column {name!r:.40} of type {dtype} would come back as {after.schema[name]}"
    return ""


def _polars_series_difference(before: Any, after: Any) -> str:
    return _polars_difference(before.to_frame(), after.to_frame())


# -- pyarrow ------------------------------------------------------------------------------------


def _same(table: pa.Table) -> pa.Table:
    return table


def _arrow_difference(before: pa.Table, after: pa.Table) -> str:
    same = before.schema.equals(after.schema, check_metadata=True)
    return "" if same else "its schema would not survive a round trip"


_TO_ARROW = {
    "pandas.DataFrame": _from_frame,
    "pandas.Series": _from_series,
    "polars.DataFrame": _from_polars,
    "polars.Series": _from_polars_series,
    "pyarrow.Table": _same,
}
_FROM_ARROW = {
    "pandas.DataFrame": _to_frame,
    "pandas.Series": _to_series,
    "polars.DataFrame": _to_polars,
    "polars.Series": _to_polars_series,
    "pyarrow.Table": _same,
}
_DIFFERENCE = {
    "pandas.DataFrame": _frame_difference,
    "pandas.Series": _series_difference,
    "polars.DataFrame": _polars_difference,
    "polars.Series": _polars_series_difference,
    "pyarrow.Table": _arrow_difference,
}
