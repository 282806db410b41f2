"""Writes results as CSV or Parquet, and converts them to data frames. The run is only read.

CSV needs only Python, Parquet needs pyarrow or polars, a data frame pandas or polars. None of these
is a dependency of Weft; the error for a missing one includes the command that installs it.
"""

from __future__ import annotations

import csv
import importlib
import importlib.util
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from weft.errors import FileInvalid, InputError, UsageError
from weft.inspect.columns import Cell, Column, cells, columns_of
from weft.inspect.resultrows import ResultRow
from weft.runs.execution import SEALED_VIEWS
from weft.storage.folder import RunFolder

DataFrame: TypeAlias = Any
"""A pandas.DataFrame or a polars.DataFrame; neither package is a dependency."""
FRAMES = ("pandas", "polars")
ROW_GROUP = 65_536
"""Number of rows in a Parquet row group."""
_PANDAS = {"bool": "boolean", "int": "Int64", "float": "float64", "time": "datetime64[us, UTC]",
           "text": "string"}  # fmt: skip


def to_frame(run: Path, rows: Iterable[ResultRow], kind: str | None = None) -> DataFrame:
    """Return a data frame; `kind` is one of FRAMES, or None for the first that is installed."""
    if kind not in (None, *FRAMES):
        raise UsageError(f"a frame is one of {', '.join(FRAMES)}, not {kind!r}")
    name = _installed((kind,) if kind else FRAMES, "a data frame")
    columns = result_columns(run, rows)
    by_row = cells(rows, columns)
    by_column = [list(values) for values in zip(*by_row, strict=True)] or [[] for _ in columns]
    module = importlib.import_module(name)
    return (_pandas if name == "pandas" else _polars)(module, columns, by_column)


def write_csv(run: Path, rows: Iterable[ResultRow], target: Path) -> Path:
    """Write the results as CSV (RFC 4180, UTF-8) atomically; return the path."""
    with (
        _replaced(run, target) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as f,
    ):
        print_csv(run, rows, f)
    return target


def print_csv(run: Path, rows: Iterable[ResultRow], stream: TextIO) -> None:
    """Write the results as CSV to a stream."""
    columns = result_columns(run, rows)
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([column.name for column in columns])
    for row in cells(rows, columns):
        writer.writerow([csv_text(cell) for cell in row])


def write_parquet(run: Path, rows: Iterable[ResultRow], target: Path) -> Path:
    """Write the results as Parquet atomically; return the path."""
    name = _installed(("pyarrow", "polars"), "Parquet")
    with _replaced(run, target) as temporary:
        if name == "polars":
            to_frame(run, rows, "polars").write_parquet(temporary)
        else:
            _write_arrow(temporary, result_columns(run, rows), rows)
    return target


def result_columns(run: Path, rows: Iterable[ResultRow]) -> list[Column]:
    """Return the columns; raises InputError for a run with sealed views."""
    if SEALED_VIEWS in RunFolder(run).read_run_file().tags:
        raise InputError(
            f"{run} is sealed: its results are not shown one by one",
            hint="weft report shows what may be shown",
        )
    return columns_of(rows)


def csv_text(cell: Cell) -> Cell:
    """Convert a cell to its CSV form."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return cell.isoformat() if isinstance(cell, datetime) else cell


def _pandas(pandas: Any, columns: Sequence[Column], values: Sequence[list[Cell]]) -> DataFrame:
    series = {
        column.name: pandas.Series(cells_, dtype=_PANDAS[column.type])
        for column, cells_ in zip(columns, values, strict=True)
    }
    return pandas.DataFrame(series)


def _polars(polars: Any, columns: Sequence[Column], values: Sequence[list[Cell]]) -> DataFrame:
    types = {
        "bool": polars.Boolean,
        "int": polars.Int64,
        "float": polars.Float64,
        "time": polars.Datetime("us", "UTC"),
        "text": polars.String,
    }
    series = [
        polars.Series(column.name, cells_, dtype=types[column.type])
        for column, cells_ in zip(columns, values, strict=True)
    ]
    return polars.DataFrame(series)


def _write_arrow(path: Path, columns: Sequence[Column], rows: Iterable[ResultRow]) -> None:
    """Write one row group at a time, so that memory does not grow with the results."""
    arrow: Any = importlib.import_module("pyarrow")
    parquet: Any = importlib.import_module("pyarrow.parquet")
    types = {
        "bool": arrow.bool_(),
        "int": arrow.int64(),
        "float": arrow.float64(),
        "time": arrow.timestamp("us", "UTC"),
        "text": arrow.string(),
    }
    schema = arrow.schema([(column.name, types[column.type]) for column in columns])
    remaining = cells(rows, columns)
    with parquet.ParquetWriter(path, schema) as writer:
        while group := list(islice(remaining, ROW_GROUP)):
            arrays = [
                arrow.array(list(values), type_)
                for values, type_ in zip(zip(*group, strict=True), schema.types, strict=True)
            ]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))


def _installed(names: Sequence[str], what: str) -> str:
    """Return the first installed package; raises InputError with the command to install one."""
    for name in names:
        if importlib.util.find_spec(name) is not None:
            return name
    needed = " or ".join(names)
    raise InputError(f"{what} needs {needed}", hint=f"pip install {names[0]}")


@contextmanager
def _replaced(run: Path, target: Path) -> Iterator[Path]:
    """Yield the path of a temporary file that replaces the target if the block succeeds."""
    if target.is_dir():
        raise FileInvalid(f"{target} is a folder", hint="give --out a file's name")
    if target.resolve().is_relative_to(run.resolve()):
        raise FileInvalid(f"{target} is inside the run", hint="choose another --out")
    temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        temporary.replace(target)
    except OSError as error:
        raise FileInvalid(f"{target}: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)
