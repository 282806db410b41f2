"""One page of a run's tasks: any order, any filter, a hundred thousand of them or more.

SQLite chooses the ids; what is told of each is the report's. Of a run with sealed views neither
shows nor finds what tasks took and gave.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weft.inspect.access import open_manifest
from weft.inspect.report.payload import made_visible, task_table
from weft.inspect.report.places import Places
from weft.inspect.report.tasks import MAX_ROW_BYTES, TEXT_BYTES, Chooser, TaskFacts, sealed
from weft.inspect.report.work import measure
from weft.inspect.status import STATES
from weft.storage.folder import SEALED_VIEWS, RunFolder
from weft.storage.manifest import FINAL, Manifest

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
_SHOWN = "args || ' ' || coalesce(value, '') || ' ' || coalesce(error, '')"
_TOLD = (
    " OR id IN (SELECT task FROM attempts"
    " WHERE instr(lower(reason || ' ' || coalesce(detail, '')), ?))"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """Which tasks, in which order, from which on."""

    first: int = 0
    order: str = "place"
    descending: bool = False
    states: tuple[str, ...] = STATES
    words: tuple[str, ...] = ()

    @staticmethod
    def of(query: Mapping[str, str]) -> Asked:
        """Read a query string; what makes no sense is left out."""
        first, order = query.get("first", ""), query.get("sort", "")
        off = query.get("off", "").split(",")
        words = query.get("find", "").lower().split()[:MAX_WORDS]
        return Asked(
            min(int(first), MAX_FIRST) if first.isascii() and first.isdigit() else 0,
            order if order in ORDERS else "place",
            query.get("down") == "1",
            tuple(state for state in STATES if state not in off),
            tuple(word[:MAX_WORD_CHARS] for word in words),
        )


def read_rows(run: Path, asked: Asked) -> dict[str, Any]:
    """Return one page of tasks, as the page's script reads it, and how many fit in all."""
    folder = RunFolder(run)
    is_sealed = SEALED_VIEWS in folder.read_run_file().tags
    if not folder.manifest.is_file():
        return {"total": 0, "first": 0, **task_table((), None)}
    with open_manifest(folder) as manifest:
        places = Places.read(manifest)
        where, values = _where(places, asked, is_sealed)
        total = manifest.query(f"SELECT count(*) FROM tasks WHERE {where}", *values)[0][0]  # noqa: S608
        first = min(asked.first, max(0, (total - 1) // PAGE_ROWS * PAGE_ROWS))
        ids = _ids(manifest, where, values, _order(asked, is_sealed), first)
        limit = min(MAX_ROW_BYTES, TEXT_BYTES // max(1, len(ids)))
        tasks = Chooser(manifest, places, folder.logs).told(sorted(ids), limit)
        found = dict(zip(sorted(ids), tasks, strict=True))
        work = measure(manifest)
    shown = [_live(found[id_], is_sealed) for id_ in ids]
    table = made_visible({"total": total, "first": first, **task_table(shown, work)})
    assert isinstance(table, dict)
    return table


def _live(task: TaskFacts, is_sealed: bool) -> TaskFacts:
    """Say of a task that is over only that: the number of its record is asked for by itself."""
    told = replace(task, why="its end is durable") if task.state in FINAL else task
    return sealed(told) if is_sealed else told


def _order(asked: Asked, is_sealed: bool) -> str:
    order = ORDERS["place" if is_sealed and asked.order in CONTENTS else asked.order]
    return f"{order} {'DESC' if asked.descending else 'ASC'}, id"


def _ids(manifest: Manifest, where: str, values: list[object], order: str, first: int) -> list[int]:
    rows = manifest.query(
        f"SELECT id FROM tasks WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?",  # noqa: S608
        *values,
        PAGE_ROWS,
        first,
    )
    return [row[0] for row in rows]


def _where(places: Places, asked: Asked, is_sealed: bool) -> tuple[str, list[object]]:
    """Return a condition and its values; every word must be found, or be the task's place."""
    parts, values = ["1"], list[object]()
    if asked.states != STATES:
        parts.append(f"state IN ({','.join('?' * len(asked.states))})")
        values += asked.states
    text = "key || ' ' || function" if is_sealed else f"key || ' ' || function || ' ' || {_SHOWN}"
    for word in asked.words:
        span = _span(places, word)
        if span is not None:
            parts.append("id >= ? AND id < ?")
            values += span
        else:
            told = "" if is_sealed else _TOLD
            parts.append(f"(instr(lower({text}), ?){told})")
            values += [word] if is_sealed else [word, word]
    return " AND ".join(parts), values


def _span(places: Places, word: str) -> tuple[int, int] | None:
    """The id that `LANE:ROUND:INDEX` names, as a range; None where there is no such place."""
    lane, *numbers = word.rsplit(":", 2)
    if len(numbers) < 2 or not all(n.isascii() and n.isdigit() and len(n) < 16 for n in numbers):
        return None
    round_, index = map(int, numbers)
    for block in places.blocks:
        id_ = block.first + index
        if (block.lane.lower(), block.round) == (lane.strip() * (lane != "/"), round_):
            return (id_, id_ + 1) if id_ < block.end else None
    return None
