"""The ARC Prize submission file: two attempts for every test of every task.

    {"007bbfb7": [{"attempt_1": [[0, 7], …], "attempt_2": [[0, 0], [0, 0]]}], …}

A missing attempt is the placeholder of the official sample, a 2×2 grid of zeros.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from weft.searches.arc.attempts import attempts_of
from weft.searches.arc.recorded import ArcRun
from weft.searches.arc.task import ArcTask
from weft.searches.arc.values import Grid

ATTEMPTS = ("attempt_1", "attempt_2")
PLACEHOLDER = Grid(2, 2, bytes(4))


def write(tasks: Sequence[ArcTask], answers: Mapping[str, Sequence[Sequence[Grid]]]) -> bytes:
    """Return the submission file for these tasks, in name order.

    `answers` maps a task's name to the grids for each of its tests, best first. Grids after the
    second are left out, and missing ones become placeholders. Answers to other tasks are ignored.
    """
    body = {}
    for task in tasks:
        guesses = answers.get(task.name) or [()] * len(task.test)
        assert len(guesses) == len(task.test), f"{task.name}: one answer for each test"
        body[task.name] = [_attempts(grids) for grids in guesses]
    return json.dumps(body, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def of_run(run: ArcRun, tasks: Sequence[ArcTask], most: int) -> bytes:
    """Return the submission file of a run, with at most `most` attempts for each test."""
    answer_of = {item.task.digest: item.answer for item in run.items}
    answers = {
        task.name: [
            [Grid.of(rows) for rows in own[:most]]
            for own in attempts_of(answer_of[task.digest], len(task.test))
        ]
        for task in tasks
    }
    return write(tasks, answers)


def _attempts(grids: Sequence[Grid]) -> dict[str, list[list[int]]]:
    filled = [*grids, PLACEHOLDER, PLACEHOLDER]
    return {name: grid.rows() for name, grid in zip(ATTEMPTS, filled, strict=False)}
