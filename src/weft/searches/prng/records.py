"""A file of draws as rows of uninterpreted texts.

    bytes ──► unpacked ──► JSON | JSON lines | table (comma, semicolon, tab, bar, blank) ─► Records

Nothing is interpreted here: numbers stay as written. Errors name the file and, where possible,
the row.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from weft.errors import FileInvalid
from weft.model.strictjson import loads
from weft.model.values import JsonValue

JSON_ADVICE = "correct it there, or save the draws as text, one per row"
MAX_BYTES = 256 * 2**20
MAX_ROWS = 10_000_000
GZIP = b"\x1f\x8b"
DELIMITERS = (",", ";", "\t", "|")
_DATE = re.compile(
    r"(?:[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2,4})"
    r"(?:[T ][0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9:]+)?)?"
)
BESIDE = ("date", "time", "timestamp", "id", "session")
"""Names of columns that contain no draws."""
PLAIN = "draw"
"""Column name in a file without headings."""


@dataclass(frozen=True, slots=True)
class Records:
    """Rows of cells; `columns` are the names given by the file, or (PLAIN,)."""

    where: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def column(self, name: str | None) -> Records:
        """Return a single column by name; None returns all. Raises FileInvalid if unknown."""
        if name is None:
            return self
        if name not in self.columns:
            known = ", ".join(self.columns) or "none, it has no headings"
            raise FileInvalid(f"{self.where}: there is no column {name[:40]!r}; there are {known}")
        at = self.columns.index(name)
        cells = (row[at : at + 1] for row in self.rows)
        return Records(self.where, (name,), tuple(cell for cell in cells if cell))

    def drawn(self) -> Records:
        """Return all columns that may contain draws: without dates, times and row numbers."""
        if len(self.columns) < 2:
            return self
        names = [name for name in self.columns if name not in BESIDE]
        at = [self.columns.index(name) for name in names]
        columns = [[row[place] for row in self.rows if place < len(row)] for place in at]
        places = [place for place, cells in zip(at, columns, strict=True) if not are_dates(cells)]
        rows = [tuple(row[place] for place in places if place < len(row)) for row in self.rows]
        return Records(self.where, tuple(self.columns[place] for place in places), tuple(rows))

    @property
    def cells(self) -> list[str]:
        """All cells, row by row."""
        return [cell for row in self.rows for cell in row]


def are_dates(cells: Sequence[str]) -> bool:
    """Whether all cells of a column are dates, with or without a time."""
    return bool(cells) and all(map(_DATE.fullmatch, cells))


@contextmanager
def advised(hint: str) -> Iterator[None]:
    """Add a hint to a FileInvalid that has none."""
    try:
        yield
    except FileInvalid as error:
        raise error if error.hint else FileInvalid(error.message, hint=hint) from None


def unpacked(data: bytes, where: str) -> bytes:
    """Decompress gzip, up to one byte over the limit, and convert UTF-16 text to UTF-8."""
    if data[:2] != GZIP:
        return _without_utf16(data)
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            return _without_utf16(file.read(MAX_BYTES + 1))
    except (OSError, EOFError, zlib.error) as error:
        raise FileInvalid(
            f"{where}: a damaged gzip file: {error}", hint="copy it again, or unpack what is left"
        ) from None


def _without_utf16(data: bytes) -> bytes:
    """Convert the "Unicode text" of spreadsheets to UTF-8; return other data unchanged."""
    if not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data
    try:
        text = data.decode("utf-16")
    except UnicodeDecodeError:
        return data
    is_text = all(line.isprintable() for line in text.replace("\t", " ").splitlines())
    return text.encode() if is_text else data


def read_records(data: bytes, where: str) -> Records:
    """Read a file in any of the formats; `where` names it in errors."""
    data = unpacked(data, where)
    if len(data) > MAX_BYTES:
        raise FileInvalid(f"{where}: more than {MAX_BYTES:,} bytes, which is the most allowed")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileInvalid(
            f"{where}: not UTF-8 text at byte {error.start}",
            hint="for raw bytes give --form bytes or --form words",
        ) from None
    if "\0" in text:
        raise FileInvalid(
            f"{where}: contains a NUL character", hint="for raw bytes give --form bytes"
        )
    if not text.strip():
        raise FileInvalid(f"{where}: is empty", hint="write one draw per row, oldest first")
    if text.lstrip()[0] in "[{":
        with advised(JSON_ADVICE):
            records = _json(text, where)
    else:
        records = _table(text, where)
    if not records.rows:
        raise FileInvalid(f"{where}: has a header but no draws")
    if len(records.rows) > MAX_ROWS:
        raise FileInvalid(f"{where}: more than {MAX_ROWS:,} rows")
    return records


# -- JSON -------------------------------------------------------------------------------------


def _json(text: str, where: str) -> Records:
    """Read one document, or one document per line."""
    first, _, rest = text.strip().partition("\n")
    if rest and first.rstrip()[-1:] in "]}" and first.strip() not in "[{":
        lines = [line for line in text.splitlines() if line.strip()]
        values: list[JsonValue] = [
            loads(line, where=f"{where}: line {at}", hint=JSON_ADVICE)
            for at, line in enumerate(lines, 1)
        ]
    else:
        value = loads(text, where=where, max_bytes=MAX_BYTES, hint=JSON_ADVICE)
        values = _list_in(value, where)
    return _of_values(values, where)


def _list_in(value: JsonValue, where: str) -> list[JsonValue]:
    """Return a list, or the only list in an object."""
    if isinstance(value, list):
        return value
    lists = [item for item in value.values() if isinstance(item, list)] if _is_object(value) else []  # type: ignore[union-attr]
    if len(lists) != 1:
        raise FileInvalid(f"{where}: should be a list of draws, or an object with one list")
    return lists[0]


def _is_object(value: JsonValue) -> bool:
    return isinstance(value, dict)


def _of_values(values: Sequence[JsonValue], where: str) -> Records:
    columns = tuple(values[0]) if values and isinstance(values[0], dict) else (PLAIN,)
    rows = []
    for number, value in enumerate(values, 1):
        place = f"{where}: row {number}"
        if isinstance(value, dict):
            rows.append(tuple(_cell(value.get(name, ""), place) for name in columns))
        elif isinstance(value, list):
            rows.append(tuple(_cell(item, place) for item in value))
        else:
            rows.append((_cell(value, place),))
    return Records(where, columns, tuple(rows))


def _cell(value: JsonValue, place: str) -> str:
    if isinstance(value, list) and all(isinstance(item, int | str) for item in value):
        return " ".join(map(str, value))
    if isinstance(value, dict | list) or value is None:
        raise FileInvalid(f"{place}: a cell is a number or a text")
    return repr(value) if isinstance(value, float) else str(value)


# -- tables -----------------------------------------------------------------------------------


def _table(text: str, where: str) -> Records:
    lines = [line for line in text.splitlines() if line.strip()]
    delimiter = _delimiter(lines)
    rows = list(_split(lines, delimiter, where))
    columns: tuple[str, ...] = (PLAIN,)
    if len(rows) > 1 and _is_heading(rows[0], rows[1:20]):
        columns, rows = tuple(cell.lower() for cell in rows[0]), rows[1:]
    elif all(len(row) > 1 for row in rows) and are_dates([row[0] for row in rows]):
        rows = [row[1:] for row in rows]
    if len(rows) == 1 and len(rows[0]) > 1:  # all draws on one line
        rows = [(cell,) for cell in rows[0]]
    return Records(where, columns, tuple(rows))


def _delimiter(lines: Sequence[str]) -> str | None:
    """Return the delimiter in most of the first lines; None for blanks."""
    sample = lines[:50]
    for delimiter in DELIMITERS:
        if 2 * sum(delimiter in line for line in sample) > len(sample):
            return delimiter
    return None


def _split(lines: Iterable[str], delimiter: str | None, where: str) -> Iterable[tuple[str, ...]]:
    if delimiter is None:
        yield from (tuple(line.split()) for line in lines)
        return
    try:
        for cells in csv.reader(lines, delimiter=delimiter, strict=True):
            yield tuple(cell.strip() for cell in cells)
    except csv.Error as error:
        raise FileInvalid(f"{where}: not a table: {error}") from None


def _is_heading(first: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    """Whether a row of words is a heading: it begins with a known name, or numbers follow."""
    plain = [cell.replace("_", "").replace(" ", "") for cell in first]
    if not all(cell[:1].isalpha() and cell.isalnum() for cell in plain):
        return False
    if first[0].lower() in ("draw", "date", "time", "value", "token", "id", "number"):
        return True
    return all(any(_looks_numeric(cell) for cell in row) for row in others)


def _looks_numeric(cell: str) -> bool:
    return cell.lstrip("+-").replace(".", "", 1).isdigit()
