"""Arguments and values of a search's tasks, a column each, for every task or a sample.

    manifest ─► rows of functions that return numbers ─► columns: place, arguments, values, time

Numbers are plotted; texts are categories, the most frequent ones by name. A search whose values
are not numbers has no table.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from weft.inspect.report.places import Places
from weft.inspect.report.text import visible
from weft.model.plan import Plan
from weft.storage.manifest import Manifest

Cell: TypeAlias = float | str | None
MAX_ROWS = 100_000
"""Of more tasks, a sample is taken."""
MAX_ARGUMENTS, MAX_VALUES = 16, 8
MAX_COLUMNS, LOOKED_AT = 8, 200
MAX_WORDS, MAX_WORD_CHARS = 60, 60
"""Texts of a column that are named, and their length; all others count as `OTHER`."""
BLOCK = 2000
"""Number of rows whose JSON is parsed in one call."""
OTHER = "(other)"
_FLOAT = "$f"
"""Tag of a recorded float: `{"$f": "0.5"}`."""
TRIAL = "optuna.trial"
"""The task of an Optuna stream, which returns both its parameters and its value."""
_FLAGS = {"yes": 1.0, "no": 0.0}
_SELECT = (
    "SELECT id, function, args, value, run_s FROM tasks"
    " WHERE state IN ('completed', 'failed') AND (id * 2654435761 & 4294967295) < ?"
    " ORDER BY id LIMIT ?"
)
"""Fibonacci hashing spreads any arithmetic progression of ids evenly, so that a sample of a grid
has all its values; every k-th task might have only one of them."""


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """One column: numbers, or texts."""

    name: str
    role: str
    """`argument`, `value`, `time` or `place`."""
    cells: Sequence[Cell]
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class ValueTable:
    """The columns of a run, with a row for each finished task."""

    columns: tuple[ValueColumn, ...]
    lanes: tuple[str, ...]
    functions: tuple[str, ...]
    rows: int
    total: int
    """Number of finished tasks; if it exceeds `rows`, the rows are a sample."""
    direction: str = ""
    """`min` or `max`, if the search says which is better."""
    chosen: str = ""
    """Name of the value to show first."""

    def column(self, name: str) -> ValueColumn:
        """Return the column of this name."""
        return next(column for column in self.columns if column.name == name)


def read_values(
    manifest: Manifest, genesis: Mapping[str, Any] | None = None, *, max_rows: int = MAX_ROWS
) -> ValueTable | None:
    """Read the table; None if no task returned a number."""
    [(total,)] = manifest.query("SELECT count(*) FROM tasks WHERE state IN ('completed', 'failed')")
    limit = 2**32 * max_rows // total if total > max_rows else 2**32
    draft = _Draft(Places.read(manifest))
    rows = manifest.query(_SELECT, limit, max_rows)
    for start in range(0, len(rows), BLOCK):
        draft.add_block(rows[start : start + BLOCK])
    if not draft.functions_with_numbers():
        return None
    plan = _plan(manifest)
    return draft.table(total, plan.best or _direction(genesis), plan.key or "")


def argument_names(manifest: Manifest) -> tuple[str, ...]:
    """Return the arguments, among those of the first tasks, with a column in a table of tasks.

    They are numbers, texts or short lists. If some functions return numbers, only their arguments
    are returned: a sampler's settings would push everything else off the page.
    """
    rows = manifest.query("SELECT function, args, value FROM tasks ORDER BY id LIMIT ?", LOOKED_AT)
    numeric = {function for function, _, value in rows if value and _value_cells(_load(value))}
    is_shown: dict[str, bool] = {}
    for function, args, _ in rows:
        raw = _load(args)
        if function == TRIAL or not isinstance(raw, dict):
            return ()
        for name, item in raw.items() if not numeric or function in numeric else ():
            is_shown[name] = is_shown.get(name, True) and _is_plain(item)
    names = [_name(name) for name, is_plain in is_shown.items() if is_plain and '"' not in name]
    return tuple(name for name in names if name == visible(name))[:MAX_COLUMNS]


def _is_plain(raw: Any) -> bool:
    """Whether an argument fits into a cell: a number, a text, a short list, or None."""
    return raw is None or _cell(raw) is not None


def _plan(manifest: Manifest) -> Plan:
    text = manifest.plans().get("")
    try:
        return Plan() if text is None else Plan.from_text(text)
    except ValueError:
        return Plan()


def _direction(genesis: Mapping[str, Any] | None) -> str:
    """Return the direction of an Optuna study from its plan in the genesis; empty for others."""
    node: Any = genesis or {}
    for name in ("config", "args", "plan", "spec", "directions"):
        node = node.get(name) if isinstance(node, Mapping) else None
    first = node[0] if isinstance(node, list) and node else ""
    return {"minimize": "min", "maximize": "max"}.get(first, "") if isinstance(first, str) else ""


@dataclass(slots=True)
class _Draft:
    """Rows read so far; a column is added with the first row that has it."""

    places: Places
    ids: list[int] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    times: list[float | None] = field(default_factory=list)
    arguments: dict[str, dict[int, Cell]] = field(default_factory=dict)
    values: dict[str, dict[int, Cell]] = field(default_factory=dict)

    def add_block(self, rows: Sequence[tuple[int, str, str, str | None, float | None]]) -> None:
        """Add the columns of some tasks."""
        parsed = _load("[" + ",".join(row[2] for row in rows) + "]")
        results = _load("[" + ",".join(row[3] or "null" for row in rows) + "]")
        for (id_, function, _, value, run_s), args, result in zip(
            rows, parsed, results, strict=True
        ):
            self.ids.append(id_)
            self.functions.append(function)
            self.times.append(run_s)
            self._add(function, args, result, is_over=value is not None)

    def _add(self, function: str, given: Any, result: Any, *, is_over: bool) -> None:
        number = len(self.ids) - 1
        if function == TRIAL and isinstance(result, dict):
            given, result = _trial(result)
        _put(self.arguments, number, _flat(given), MAX_ARGUMENTS)
        if is_over:
            _put(self.values, number, _value_cells(result), MAX_VALUES)

    def functions_with_numbers(self) -> list[str]:
        """Return the functions that returned a number, those with the most tasks first."""
        rows = {number for cells in self.values.values() for number in cells}
        counts = Counter(self.functions[number] for number in sorted(rows))
        return sorted(counts, key=lambda name: (-counts[name], name))

    def table(self, total: int, direction: str, key: str) -> ValueTable:
        """Return the columns of the tasks whose function returns numbers."""
        functions = self.functions_with_numbers()
        chosen = [n for n, name in enumerate(self.functions) if name in functions]
        blocks = [self.places.of(self.ids[number]) for number in chosen]
        lanes = list(dict.fromkeys(block.lane for block in blocks))
        order = {lane: number for number, lane in enumerate(lanes)}
        positions = zip(chosen, blocks, strict=True)
        place = {
            "lane": [float(order[block.lane]) for block in blocks],
            "round": [float(block.round) for block in blocks],
            "index": [float(self.ids[number] - block.first) for number, block in positions],
            "function": [float(functions.index(self.functions[n])) for n in chosen],
        }
        columns = [ValueColumn(name, "place", cells) for name, cells in place.items()]
        columns += _columns("argument", self.arguments, chosen)
        columns += _columns("value", self.values, chosen)
        columns.append(ValueColumn("task time", "time", [self.times[n] for n in chosen]))
        value_key = key if key in self.values else ""
        left_out = len(self.ids) - len(chosen)
        scale = max(1, round(total / max(1, len(self.ids))))
        return ValueTable(
            tuple(columns), tuple(map(visible, lanes)), tuple(map(visible, functions)),
            len(chosen), total - left_out * scale if left_out else total, direction, value_key,
        )  # fmt: skip


def _columns(
    role: str, named: Mapping[str, Mapping[int, Cell]], rows: Sequence[int]
) -> Iterator[ValueColumn]:
    for name, cells in named.items():
        column = [cells.get(number) for number in rows]
        present = [cell for cell in column if cell is not None]
        if not present:
            continue
        is_text = any(isinstance(cell, str) for cell in present)
        data = _categories(column) if is_text else column
        yield ValueColumn(visible(name)[:MAX_WORD_CHARS], role, data, is_text)


def _categories(column: Sequence[Cell]) -> list[Cell]:
    """Convert every cell to a text; if too many differ, the rare ones become OTHER."""
    texts = [None if cell is None else _text(cell) for cell in column]
    counts = Counter(text for text in texts if text is not None)
    if len(counts) <= MAX_WORDS:
        return [*texts]
    frequent = sorted(counts, key=lambda text: (-counts[text], text))[: MAX_WORDS - 1]
    known = set(frequent)
    return [text if text is None or text in known else OTHER for text in texts]


def _text(cell: float | str) -> str:
    text = cell if isinstance(cell, str) else f"{cell:.12g}"
    return visible(text)[:MAX_WORD_CHARS]


def _put(
    columns: dict[str, dict[int, Cell]], number: int, cells: Mapping[str, Cell], most: int
) -> None:
    for name, cell in cells.items():
        if cell is None:
            continue
        column = columns.get(name)
        if column is not None:
            column[number] = cell
        elif len(columns) < most:
            columns[name] = {number: cell}


# -- cells ------------------------------------------------------------------------------------


def _load(text: str) -> Any:
    return json.loads(text)


def _trial(result: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return parameters and value of one trial of an Optuna stream."""
    point = result.get("point")
    return (point.get("params") if isinstance(point, dict) else {}), result.get("value")


def _value_cells(result: Any) -> dict[str, Cell]:
    """Return the numbers that a task returned, by name; a single one is named `value`."""
    fields = _fields(result)
    is_object = isinstance(fields, dict) and not _is_tagged(fields)
    return _numbers(_flat(fields) if is_object else {"value": _cell(fields)})


def _flat(raw: Any) -> dict[str, Cell]:
    """Return the cells of an object by name; those of a nested object as `outer.inner`."""
    fields = _fields(raw)
    if not isinstance(fields, dict):
        return {}
    cells: dict[str, Cell] = {}
    for name, item in fields.items():
        inner = _fields(item) if isinstance(item, dict) and _FLOAT not in item else None
        if isinstance(inner, dict) and not _is_tagged(inner):
            cells |= {f"{_name(name)}.{_name(key)}": _cell(value) for key, value in inner.items()}
        else:
            cells[_name(name)] = _cell(item)
    return cells


def _name(recorded: str) -> str:
    """Return the original name: records double a leading `$`."""
    return recorded.removeprefix("$")


def _fields(raw: Any) -> Any:
    """Return the recorded fields of a dataclass; anything else unchanged."""
    tagged = raw.get("$t") if isinstance(raw, dict) else None
    if isinstance(tagged, list) and len(tagged) == 3 and isinstance(tagged[2], dict):
        return tagged[2]
    return raw


def _is_tagged(raw: Mapping[str, Any]) -> bool:
    return any(name[:1] == "$" and name[:2] != "$$" for name in raw)


def _cell(raw: Any) -> Cell:
    """Convert a recorded value to a number or a text; None if it is neither."""
    if isinstance(raw, str):
        return raw
    if isinstance(raw, dict):
        number = raw.get(_FLOAT, raw.get("$i"))
        return _tagged_number(number) if isinstance(number, str) else None
    if isinstance(raw, bool):
        return "yes" if raw else "no"
    if isinstance(raw, int | float):
        return _finite(raw)
    if isinstance(raw, list) and len(raw) <= 8:
        return json.dumps(raw, ensure_ascii=False)
    return None


def _tagged_number(text: str) -> Cell:
    try:
        return _finite(int(text, 16) if "x" in text else float(text))
    except (ValueError, OverflowError):
        return None


def _finite(number: float) -> float | None:
    try:
        as_float = float(number)
    except OverflowError:
        return None
    return as_float if math.isfinite(as_float) else None


def _numbers(cells: Mapping[str, Cell]) -> dict[str, Cell]:
    """Return the numbers among cells; yes and no count as 1 and 0."""
    named = {name: _FLAGS.get(c) if isinstance(c, str) else c for name, c in cells.items()}
    return {name: cell for name, cell in named.items() if cell is not None}
