"""One page of a run's tasks in any order, with any filter, out of a hundred thousand or more.

SQLite selects the ids; each row is the report's. If the views of a run are sealed, arguments and
values are neither shown nor searched.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from weft.inspect.access import open_manifest
from weft.inspect.report.data import shows_values
from weft.inspect.report.payload import task_table, visible_texts
from weft.inspect.report.places import Places
from weft.inspect.report.tasks import MAX_ROW_BYTES, TEXT_BYTES, TaskFacts, TaskReader, sealed
from weft.inspect.report.text import visible
from weft.inspect.report.valuetable import argument_names
from weft.inspect.report.work import measure
from weft.inspect.status import STATES
from weft.model.values import JsonValue
from weft.runs.execution import SEALED_VIEWS
from weft.storage.folder import RunFolder
from weft.storage.manifest import Manifest
from weft.storage.rows import FINAL

PAGE_ROWS = 100
MAX_FIRST = 10**12
MAX_WORDS = 8
MAX_WORD_CHARS = 200
ORDERS = {
    "place": "id",
    "state": "state",
    "call": "function || ' ' || args",
    "outcome": "coalesce(error, value, '')",
    "took": "coalesce(run_s, -1)",
    "attempt": "attempt",
    "worker": "coalesce(node, '') || ' ' || coalesce(worker_pid, '')",
}
CONTENTS = ("call", "outcome")
_ARGUMENT = re.compile(r"arg([0-7])")
"""Name of the order by one of the arguments that have a column."""
_BY_ARGUMENT = "coalesce(CAST(json_extract(args, ?) AS REAL), json_extract(args, ?), '')"
"""Takes the path of an argument's tagged float, recorded as text, and that of the argument."""
_CONTENT = "args || ' ' || coalesce(value, '') || ' ' || coalesce(error, '')"
_IN_ATTEMPTS = (
    " OR id IN (SELECT task FROM attempts"
    " WHERE instr(lower(reason || ' ' || coalesce(detail, '')), ?))"
)


@dataclass(frozen=True, slots=True)
class TaskQuery:
    """The filter, order and first row of a page of tasks."""

    first: int = 0
    order: str = "place"
    descending: bool = False
    states: tuple[str, ...] = STATES
    words: tuple[str, ...] = ()

    @staticmethod
    def parse(query: Mapping[str, str]) -> TaskQuery:
        """Parse a query string; invalid values are ignored."""
        first, order = query.get("first", ""), query.get("sort", "")
        chosen = query.get("states", "").split(",")
        states = tuple(state for state in STATES if state in chosen)
        words = query.get("find", "").lower().split()[:MAX_WORDS]
        return TaskQuery(
            min(int(first), MAX_FIRST) if first.isascii() and first.isdigit() else 0,
            order if order in ORDERS or _ARGUMENT.fullmatch(order) else "place",
            query.get("down") == "1",
            states or STATES,
            tuple(word[:MAX_WORD_CHARS] for word in words),
        )


def read_rows(run: Path, query: TaskQuery) -> dict[str, JsonValue]:
    """Return one page of tasks for the page's script, and the total number that match."""
    folder = RunFolder(run)
    is_sealed = SEALED_VIEWS in folder.read_run_file().tags
    if not folder.manifest.is_file():
        return {"total": 0, "first": 0, **task_table((), None), **_about(run, (), 0)}
    with open_manifest(folder) as manifest:
        own = shows_values(folder.read_run_file())
        arguments = argument_names(manifest) if own else ()
        [(functions,)] = manifest.query("SELECT count(DISTINCT function) FROM tasks")
        places = Places.read(manifest)
        where, values = _where(places, query, is_sealed)
        total = manifest.query(f"SELECT count(*) FROM tasks WHERE {where}", *values)[0][0]  # noqa: S608
        first = min(query.first, max(0, (total - 1) // PAGE_ROWS * PAGE_ROWS))
        order, by = _order(query, is_sealed, arguments)
        ids = _ids(manifest, where, [*values, *by], order, first)
        limit = min(MAX_ROW_BYTES, TEXT_BYTES // max(1, len(ids)))
        tasks = TaskReader(manifest, places, folder.logs).read_tasks(sorted(ids), limit)
        by_id = dict(zip(sorted(ids), tasks, strict=True))
        work = measure(manifest)
    rows = [_live(by_id[id_], is_sealed) for id_ in ids]
    table = visible_texts(task_table(rows, work))
    assert isinstance(table, dict)
    return {"total": total, "first": first, **table, **_about(run, arguments, functions)}


def _about(run: Path, arguments: Sequence[str], functions: int) -> dict[str, JsonValue]:
    """Return what the script needs to know about the run besides its rows."""
    name = shlex.quote(run.resolve().name)
    return {"run": visible(name), "arguments": list(arguments), "functions": functions}


def _live(task: TaskFacts, is_sealed: bool) -> TaskFacts:
    """Leave out the record number of a finished task: the page requests it separately."""
    final_task = replace(task, why="its end is durable") if task.state in FINAL else task
    return sealed(final_task) if is_sealed else final_task


def _order(query: TaskQuery, is_sealed: bool, arguments: Sequence[str]) -> tuple[str, list[object]]:
    """Return an SQL order and its parameters."""
    by: list[object] = []
    order = ORDERS["place"]
    if match := _ARGUMENT.fullmatch(query.order):
        number = int(match[1])
        if number < len(arguments) and not is_sealed:
            path = f'$."{arguments[number]}"'
            order, by = _BY_ARGUMENT, [f'{path}."$f"', path]
    elif not (is_sealed and query.order in CONTENTS):
        order = ORDERS[query.order]
    return f"{order} {'DESC' if query.descending else 'ASC'}, id", by


def _ids(manifest: Manifest, where: str, values: list[object], order: str, first: int) -> list[int]:
    rows = manifest.query(
        f"SELECT id FROM tasks WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?",  # noqa: S608
        *values,
        PAGE_ROWS,
        first,
    )
    return [row[0] for row in rows]


def _where(places: Places, query: TaskQuery, is_sealed: bool) -> tuple[str, list[object]]:
    """Return an SQL condition and its parameters; each word must occur or be the task's place."""
    parts, values = ["1"], list[object]()
    if query.states != STATES:
        parts.append(f"state IN ({','.join('?' * len(query.states))})")
        values += query.states
    text = "key || ' ' || function" if is_sealed else f"key || ' ' || function || ' ' || {_CONTENT}"
    for word in query.words:
        span = _span(places, word)
        if span is not None:
            parts.append("id >= ? AND id < ?")
            values += span
        else:
            attempts = "" if is_sealed else _IN_ATTEMPTS
            parts.append(f"(instr(lower({text}), ?){attempts})")
            values += [word] if is_sealed else [word, word]
    return " AND ".join(parts), values


def _span(places: Places, word: str) -> tuple[int, int] | None:
    """Return the id at `LANE:ROUND:INDEX`, as a range; None if there is no such task."""
    lane, *numbers = word.rsplit(":", 2)
    if len(numbers) < 2 or not all(n.isascii() and n.isdigit() and len(n) < 16 for n in numbers):
        return None
    round_, index = map(int, numbers)
    for block in places.blocks:
        id_ = block.first + index
        if (block.lane.lower(), block.round) == (lane.strip() * (lane != "/"), round_):
            return (id_, id_ + 1) if id_ < block.end else None
    return None
