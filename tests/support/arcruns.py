"""ARC tasks as files, small runs on them, and the command line called in this process.

Grids and pairs are few: every cell of a grid without a pattern is an object, and learning how
objects change is most of the cost of a run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Told
from tests.support.inprocess import workers_here
from weft.main import _exit_code
from weft.runs.execution import Execution
from weft.runs.outcome import Run
from weft.searches.arc.data import TaskSet, load
from weft.searches.arc.program import Program
from weft.searches.arc.request import ArcRequest, solve
from weft.searches.arc.synthesis.budget import SearchBudget
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid

Here = Callable[..., Told]
TINY = ("--max-programs", "400", "--max-depth", "2", "--competitor-programs", "400")
BUDGET = SearchBudget(max_programs=400, max_depth=2, competitor_programs=400)


def scattered(seed: int, height: int = 6, width: int = 7) -> Grid:
    """A grid without any pattern, a third of it black; determined by the seed on every machine."""
    x, cells = seed * 7919 + 13, []
    for _ in range(height * width):
        x = (x * 1103515245 + 12345) % 2**31
        cells.append(x // 65536 % 9 + 1 if x // 7777 % 3 else 0)
    return Grid(height, width, bytes(cells))


def symmetric(seed: int) -> Grid:
    """A grid whose left half is the mirror image of its right half."""
    return Grid.of([row + row[::-1] for row in scattered(seed, 3, 2).rows()])


def made(name: str, operators: Sequence[str], inputs: Sequence[Grid]) -> ArcTask:
    """A task that a program solves; the last input is the test."""
    program = Program(tuple(operators))
    pairs = []
    for grid in inputs:
        output = program.run(grid)
        assert output is not None
        pairs.append(Pair(grid, output))
    return ArcTask(name, tuple(pairs[:-1]), (inputs[-1],), (pairs[-1].output,))


def solved(name: str = "plain", first: int = 0) -> ArcTask:
    """A task that the tiny budget solves, with enough examples to exclude other solutions."""
    grids = [scattered(first + i, 6 + i % 2, 7 + i % 2) for i in range(5)]
    return made(name, ["mirror_down"], grids)


def ambiguous() -> ArcTask:
    """A rotation or a flip? The symmetric examples allow both, the test does not."""
    return made("torn", ["rotate_180"], [*(symmetric(i) for i in range(3)), scattered(9, 3, 4)])


def hopeless(seed: int = 0, height: int = 6, width: int = 7) -> ArcTask:
    """A task whose outputs are unrelated to its inputs."""
    grids = [scattered(100 * seed + i, height, width) for i in range(8)]
    pairs = tuple(Pair(a, b) for a, b in zip(grids[:3], grids[4:7], strict=True))
    return ArcTask(f"lost{seed or ''}", pairs, (grids[3],), (grids[7],))


def shrunk() -> ArcTask:
    """A task without a solution, with outputs smaller than its inputs, so objects may be chosen."""
    pairs = tuple(Pair(scattered(i, 3, 4), scattered(50 + i, 2, 2)) for i in range(3))
    return ArcTask("shrunk", pairs, (scattered(9, 3, 4),), (scattered(99, 2, 2),))


TASKS = (solved(), ambiguous(), hopeless())


@cache
def named_set(name: str, split: str) -> TaskSet:
    """A task set shipped with Weft, read once for all tests."""
    return load(name, split)


def as_json(task: ArcTask) -> dict[str, Any]:
    """A task in the format of the official files."""
    tests: list[dict[str, Any]] = [{"input": grid.rows()} for grid in task.test]
    for entry, truth in zip(tests, task.truth, strict=False):
        entry["output"] = truth.rows()
    train = [{"input": p.input.rows(), "output": p.output.rows()} for p in task.train]
    return {"train": train, "test": tests}


def write_tasks(folder: Path, tasks: Sequence[ArcTask]) -> Path:
    """Write tasks to a folder, one file per task."""
    folder.mkdir(parents=True, exist_ok=True)
    for task in tasks:
        (folder / f"{task.name}.json").write_text(json.dumps(as_json(task)))
    return folder


def run_tasks(out: Path, tasks: Sequence[ArcTask], **settings: Any) -> Run:
    """Solve tasks with the tiny budget, in this process."""
    execution = Execution(out, workers=1, tags=tuple(settings.pop("tags", ())))
    with workers_here():
        return solve(ArcRequest(tuple(tasks), **{"budget": BUDGET, **settings}), execution)


def weft_here(capfd: pytest.CaptureFixture[str]) -> Here:
    """Return a function that runs a command, and the tasks of its run, in this process."""

    def call(*words: str | Path) -> Told:
        capfd.readouterr()
        with workers_here():
            code = _exit_code([str(word) for word in words])
        printed = capfd.readouterr()
        return Told(code, printed.out, printed.err)

    return call
