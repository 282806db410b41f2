"""All results of a run as one file: CSV and JSON, streamed, or Parquet if it can be written here.

The columns are those of `weft export`. Nothing is written to the run.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from starlette.responses import PlainTextResponse, Response, StreamingResponse

from weft.errors import WeftError
from weft.inspect.columns import Cell, Column, cells
from weft.inspect.export import csv_text, result_columns
from weft.inspect.results import RunResults, read_results
from weft.inspect.serve.rundirectory import ServedRun

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}
KINDS = tuple(TYPES)
ROWS = 1000
"""Number of rows sent at a time."""


def kinds_here() -> tuple[str, ...]:
    """Return the kinds that are available here: Parquet needs pyarrow or polars."""
    has_parquet = any(importlib.util.find_spec(name) for name in ("pyarrow", "polars"))
    return KINDS if has_parquet else ("csv", "json")


def download(run: ServedRun, kind: str) -> Response:
    """Return the results as a file; refused for a run with sealed views."""
    try:
        if kind not in kinds_here():
            return PlainTextResponse("Parquet needs pyarrow or polars\n", 404)
        rows = read_results(run.path)
        columns = result_columns(run.path, rows)
        name = f"{run.path.resolve().name}.{kind}".encode("ascii", "replace").decode()
        quoted = "".join(c if c.isalnum() or c in "-_." else "_" for c in name)
        headers = {"content-disposition": f'attachment; filename="{quoted}"'}
        if kind == "parquet":
            return Response(_parquet(rows), headers=headers, media_type=TYPES[kind])
        lines = _csv(rows, columns) if kind == "csv" else _json(rows, columns)
        return StreamingResponse(lines, headers=headers, media_type=TYPES[kind])
    except WeftError as error:
        return PlainTextResponse(f"{error.message}\n", 403)


def _csv(rows: RunResults, columns: list[Column]) -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([column.name for column in columns])
    for number, row in enumerate(cells(rows, columns)):
        writer.writerow([csv_text(cell) for cell in row])
        if number % ROWS == 0:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def _json(rows: RunResults, columns: list[Column]) -> Iterator[str]:
    """Yield a JSON array of objects, one per line."""
    start = "[\n"
    for row in cells(rows, columns):
        named = {column.name: _plain(cell) for column, cell in zip(columns, row, strict=True)}
        yield start + json.dumps(named, ensure_ascii=False)
        start = ",\n"
    yield "[]\n" if start == "[\n" else "\n]\n"


def _plain(cell: Cell) -> Cell:
    """Convert a cell for JSON: times to text, NaN and infinities to None."""
    if isinstance(cell, datetime):
        return cell.isoformat()
    return None if isinstance(cell, float) and cell - cell != 0 else cell


def _parquet(rows: RunResults) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return rows.to_parquet(Path(folder) / "results.parquet").read_bytes()
