"""Results as a table: the same columns for CSV, Parquet and data frames.

    lane round index key function state  arg.NAME…  value | value.NAME…
    error error.stage exit_code  attempts run_s started_at finished_at node gpu  note.NAME…

A value that is an object or a dataclass of scalars has one column per field; other objects and
lists become JSON text, arrays and tables a short description. A column has one type: that of all
its cells, float if integers and floats are mixed, otherwise text. Makes two passes over the
results, so that memory does not grow with them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeAlias

from weft.inspect.resultrows import ResultRow
from weft.model.leaves import DATACLASS
from weft.model.records import shown
from weft.model.values import from_wire

Cell: TypeAlias = Any
"""A value of a column's type, or None."""
ColumnType: TypeAlias = Literal["bool", "int", "float", "time", "text"]
TAG = "$t"
"""Key of a typed value in a record, with its kind, summary and content."""
MAX_INT = 2**63 - 1
MAX_HEX_CHARS = 2048
"""Longer integers stay as recorded: Python refuses to convert them to decimal digits."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BEFORE = ("lane", "round", "index", "key", "function", "state")
_BETWEEN = ("error", "error.stage", "exit_code", "attempts", "run_s", "started_at", "finished_at",
            "node", "gpu")  # fmt: skip
_FIXED: dict[str, ColumnType] = {
    "lane": "text", "round": "int", "index": "int", "key": "text", "function": "text",
    "state": "text", "error": "text", "error.stage": "text", "exit_code": "int",
    "attempts": "int", "run_s": "float", "started_at": "time", "finished_at": "time",
    "node": "text", "gpu": "int",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name and the type of its cells."""

    name: str
    type: ColumnType

    def cell(self, value: object) -> Cell:
        """Convert a value to a cell of this column."""
        if value is None:
            return None
        if self.type == "text":
            return value if isinstance(value, str) else _json(value)
        if self.type == "float":
            return float(value)  # type: ignore[arg-type]  # all of the column are numbers
        return value


def columns_of(rows: Iterable[ResultRow]) -> list[Column]:
    """Return the columns of a table of these results, in order."""
    types: dict[str, ColumnType | None] = {}
    for row in rows:
        for name, value in _own_cells(row).items():
            types[name] = _joined(types.get(name), value)
    names = {
        start: [name for name in types if name.partition(".")[0] == start]
        for start in ("arg", "value", "note")
    }
    order = (*_BEFORE, *names["arg"], *names["value"], *_BETWEEN, *names["note"])
    return [Column(name, _FIXED.get(name) or types[name] or "text") for name in order]


def cells(rows: Iterable[ResultRow], columns: Sequence[Column]) -> Iterator[list[Cell]]:
    """Yield the cells of each result, in the order of the columns."""
    for row in rows:
        values = {**_fixed_cells(row), **_own_cells(row)}
        yield [column.cell(values.get(column.name)) for column in columns]


def _fixed_cells(row: ResultRow) -> dict[str, object]:
    error, how = row.error, row.how
    return {
        "lane": row.lane or "/",
        "round": row.round,
        "index": row.index,
        "key": row.key,
        "function": row.function,
        "state": row.state,
        "error": error and error.type,
        "error.stage": error and error.stage,
        "exit_code": error and error.exit_code,
        "attempts": how.attempts,
        "run_s": how.run_s,
        "started_at": _time(how.started_at),
        "finished_at": _time(how.finished_at),
        "node": how.node,
        "gpu": how.gpu,
    }


def _own_cells(row: ResultRow) -> dict[str, object]:
    """Return the cells whose columns depend on the task: arguments, value, notes.

    Reads the recorded JSON, so the Python types of typed values are not needed.
    """
    named = {f"arg.{name}": value for name, value in _items(json.loads(row.args_text))}
    named |= {f"note.{name}": value for name, value in row.notes.items()}
    if not row.ok:
        return named
    raw = _fields(json.loads(row.outcome_text))
    if isinstance(raw, dict) and raw and not _is_tagged(raw):
        items = _items(raw)
        if not any(isinstance(item, list | dict) for _, item in items):
            return named | {f"value.{name}": item for name, item in items}
    return named | {"value": _plain(raw)}


def _items(raw: Mapping[str, Any]) -> list[tuple[str, object]]:
    """Return a recorded object's names, with a doubled leading `$` undone, and plain values."""
    return [(name.removeprefix("$"), _plain(value)) for name, value in raw.items()]


def _plain(raw: Any) -> object:
    """Convert tagged values, at any depth, to values that a table can hold.

    References to objects and very long integers stay as recorded.
    """
    raw = _fields(raw)
    if isinstance(raw, list):
        return [_plain(item) for item in raw]
    if not isinstance(raw, dict):
        return raw
    if raw.keys() == {"$f"} or (raw.keys() == {"$i"} and len(raw["$i"]) < MAX_HEX_CHARS):
        return from_wire(raw)
    if raw.keys() == {TAG}:
        return shown(from_wire(raw))
    return raw if _is_tagged(raw) else dict(_items(raw))


def _fields(raw: Any) -> Any:
    """Return the recorded fields of a dataclass; anything else unchanged."""
    if isinstance(raw, dict) and raw.keys() == {TAG} and raw[TAG][0] == DATACLASS:
        return raw[TAG][2]
    return raw


def _is_tagged(raw: Mapping[str, Any]) -> bool:
    """Whether a recorded JSON object represents a value that JSON lacks, such as an `Object`."""
    return any(name[:1] == "$" and name[:2] != "$$" for name in raw)


def _joined(before: ColumnType | None, value: object) -> ColumnType | None:
    """Return the type of a column after one more cell; `before` is its type so far."""
    if value is None:
        return before
    type_ = _type_of(value)
    if before is None or before == type_:
        return type_
    return "float" if {before, type_} == {"int", "float"} else "text"


def _type_of(value: object) -> ColumnType:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int" if abs(value) <= MAX_INT else "text"
    return "float" if isinstance(value, float) else "text"


def _json(value: object) -> str:
    """Return a value that is not a string as JSON, integers of any size as digits."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else _EPOCH + timedelta(seconds=seconds)
