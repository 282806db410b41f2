"""The ARC Prize submission file: two attempts for every test of every task.

    {"007bbfb7": [{"attempt_1": [[0, 7], …], "attempt_2": [[0, 0], [0, 0]]}], …}

`write` and `read` are a pair: what one writes, the other accepts, and gives back. An attempt
that is missing is the placeholder of the official sample, a 2×2 grid of zeros.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from weft.errors import FileInvalid
from weft.model import strictjson
from weft.model.jsonfields import kind_of
from weft.model.values import JsonValue
from weft.searches.arc.recorded import ArcRun
from weft.searches.arc.task import ArcTask
from weft.searches.arc.taskfile import keys_of, printable, read_grid
from weft.searches.arc.values import Grid

ATTEMPTS = ("attempt_1", "attempt_2")
PLACEHOLDER = Grid(2, 2, bytes(4))

Attempts = tuple[Grid, Grid]
"""What is submitted for one test."""


def write(tasks: Sequence[ArcTask], answers: Mapping[str, Sequence[Sequence[Grid]]]) -> bytes:
    """Return the file of these tasks, in name order.

    `answers` maps a task's name to the grids of each of its tests, best first; further grids
    than two are left out, missing ones become placeholders. Other tasks are left out.
    """
    body = {}
    for task in tasks:
        guesses = answers.get(task.name) or [()] * len(task.test)
        assert len(guesses) == len(task.test), f"{task.name}: one answer for each test"
        body[task.name] = [_attempts(grids) for grids in guesses]
    return json.dumps(body, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def of_run(run: ArcRun, tasks: Sequence[ArcTask], attempts: int) -> bytes:
    """Return the file of what a run found, its best `attempts` groups of each task."""
    answer_of = {item.task.digest: item.answer for item in run.items}
    answers: dict[str, list[list[Grid]]] = {}
    for task in tasks:
        answer = answer_of[task.digest]
        groups = [] if answer is None else answer["groups"][:attempts]
        guesses = [[Grid.of(rows) for rows in group["outputs"]] for group in groups]
        answers[task.name] = [[guess[i] for guess in guesses] for i in range(len(task.test))]
    return write(tasks, answers)


def read(data: bytes, tasks: Sequence[ArcTask], where: str) -> dict[str, tuple[Attempts, ...]]:
    """Return the attempts of every task; raise FileInvalid at the first thing that is wrong.

    The file must hold exactly these tasks, with an entry for each of their tests.
    """
    value: JsonValue = strictjson.loads(data, where=where)
    if not isinstance(value, dict):
        raise FileInvalid(f"{where}: {kind_of(value)} where attempts by task should be")
    known = {task.name for task in tasks}
    for name in value:
        if name not in known:
            raise FileInvalid(f"{where}: {printable(name)}: no such task")
    return {task.name: _read_task(task, value, where) for task in tasks}


def score(attempts: Mapping[str, Sequence[Attempts]], tasks: Sequence[ArcTask]) -> float:
    """Return the contest's score: tasks solved, one with several tests in equal parts."""
    total = 0.0
    for task in tasks:
        tests = zip(task.truth, attempts[task.name], strict=True)
        total += sum(truth in pair for truth, pair in tests) / len(task.test)
    return total


def _attempts(grids: Sequence[Grid]) -> dict[str, list[list[int]]]:
    filled = [*grids, PLACEHOLDER, PLACEHOLDER]
    return {name: grid.rows() for name, grid in zip(ATTEMPTS, filled, strict=False)}


def _read_task(task: ArcTask, value: Mapping[str, JsonValue], where: str) -> tuple[Attempts, ...]:
    place = f"{where}: {task.name}"
    if task.name not in value:
        raise FileInvalid(f"{place}: the task is missing")
    entries = value[task.name]
    if not isinstance(entries, list) or len(entries) != len(task.test):
        what = f"{len(entries)} entries" if isinstance(entries, list) else kind_of(entries)
        raise FileInvalid(f"{place}: {what}, the task has {len(task.test)} tests")
    return tuple(_read_entry(entry, f"{place}[{i}]") for i, entry in enumerate(entries))


def _read_entry(value: JsonValue, where: str) -> Attempts:
    body = keys_of(value, where, "an entry", needed=ATTEMPTS)
    first, second = (read_grid(body[name], f"{where}.{name}") for name in ATTEMPTS)
    return first, second
