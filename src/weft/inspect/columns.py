"""Results as a table: the same columns for CSV, Parquet and data frames.

    lane round index key function state  arg.NAME…  value | value.NAME…
    error error.stage exit_code  attempts run_s started_at finished_at node gpu  note.NAME…

A value that is an object of plain values, or a dataclass, has a column for each; other objects and
lists are JSON text, arrays and tables a text that says what they are. A column has one type: that
of all its cells, decimals where integers mix with them, else text. Two passes over the results, so
that memory does not grow with them.
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
"""The key of a typed value as recorded: kind, summary, content."""
MAX_INT = 2**63 - 1
MAX_HEX_CHARS = 2048
"""Longer integers stay as recorded: Python refuses to write so many digits."""
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
        """Return a value as a cell of this column."""
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
    """Give the cells of each result, in the order of the columns."""
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
    """The cells whose columns depend on the task: arguments, value, notes.

    Read from the recorded texts: what a typed value becomes in Python does not matter here.
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
    """Names and plain values of an object as recorded; `$` at the start of a name is doubled."""
    return [(name.removeprefix("$"), _plain(value)) for name, value in raw.items()]


def _plain(raw: Any) -> object:
    """Turn tagged values, how deep they may be, into what a table can hold.

    References to objects, and integers of very many digits, stay as recorded.
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
    """The fields of a dataclass as recorded; anything else as it is."""
    if isinstance(raw, dict) and raw.keys() == {TAG} and raw[TAG][0] == DATACLASS:
        return raw[TAG][2]
    return raw


def _is_tagged(raw: Mapping[str, Any]) -> bool:
    """Whether an object as recorded stands for a value that JSON lacks, such as an `Object`."""
    return any(name[:1] == "$" and name[:2] != "$$" for name in raw)


def _joined(before: ColumnType | None, value: object) -> ColumnType | None:
    """Return the type of a column that so far had one type and gets another cell."""
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
    """Write what is no text as JSON; integers of any size as their digits."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else _EPOCH + timedelta(seconds=seconds)
