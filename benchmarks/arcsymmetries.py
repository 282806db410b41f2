"""Transform whole training tasks: transpose, mirror, recolour, exchange the background colour.

Orientation and colours are arbitrary, so each transformed task should have the transformed answer.
A task that is lost was solved thanks to an accidental orientation or colour, and unseen puzzles
have such accidents too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.arcruns import bench
from weft.searches.arc.attempts import solved_within
from weft.searches.arc.data import load
from weft.searches.arc.recorded import read_run
from weft.searches.arc.score import ATTEMPTS
from weft.searches.arc.symmetries import AUGMENTATIONS, COLOURS, SAME, Symmetry, permuted
from weft.searches.arc.task import ArcTask

ON_GROUND = "on another ground"
NAMES = (SAME.name, "transposed", "left to right", "colours permuted", ON_GROUND)
_SYMMETRIES = {
    **{symmetry.name: symmetry for symmetry in (SAME, *AUGMENTATIONS)},
    "colours permuted": permuted("colours permuted", (0, 2, 3, 4, 5, 6, 7, 8, 9, 1)),
}
Figures = dict[str, Any]


def measure(place: Path, workers: int, every: int) -> Iterator[Figures]:
    """Benchmark the training tasks under each symmetry and compare them with the originals."""
    ordered = sorted(load("arc-agi-1", "training").tasks, key=lambda task: task.digest)
    runs: Figures = {}
    solved: dict[str, set[str]] = {}
    for name in NAMES:
        folder = place / f"tasks-{name.replace(' ', '-')}"
        tasks = write(ordered[::every], folder, name)
        out = place / f"run-{name.replace(' ', '-')}"
        totals = bench(out, workers, "--data", str(folder))
        solved[name] = _solved(out, tasks)
        runs[name] = {
            **totals,
            "lost": sorted(solved[NAMES[0]] - solved[name]),
            "gained": sorted(solved[name] - solved[NAMES[0]]),
        }
        yield {"runs": runs, "every": every}


def write(tasks: Sequence[ArcTask], folder: Path, name: str) -> list[ArcTask]:
    """Write transformed tasks to files; return them as loaded from there."""
    folder.mkdir(parents=True)
    for task in tasks:
        change = change_of(name, task).apply
        pairs = [(pair.input, pair.output) for pair in task.train]
        tests = list(zip(task.test, task.truth, strict=True))
        body = {
            part: [{"input": change(a).rows(), "output": change(b).rows()} for a, b in both]
            for part, both in (("train", pairs), ("test", tests))
        }
        (folder / f"{task.name}.json").write_text(json.dumps(body))
    return list(load(str(folder)).tasks)


def change_of(name: str, task: ArcTask) -> Symmetry:
    """Return the symmetry for a task; for ON_GROUND, black is exchanged with an unused colour.

    If the task uses all colours, black is exchanged with grey.
    """
    if name != ON_GROUND:
        return _SYMMETRIES[name]
    grids = [grid for pair in task.train for grid in (pair.input, pair.output)]
    used = {colour for grid in (*grids, *task.test, *task.truth) for colour in grid.cells}
    free = max((colour for colour in range(1, COLOURS) if colour not in used), default=5)
    names = [{0: free, free: 0}.get(colour, colour) for colour in range(COLOURS)]
    return permuted(name, tuple(names))


def _solved(out: Path, tasks: Sequence[ArcTask]) -> set[str]:
    """Return the names of the tasks that one of two guesses solves."""
    truth = {task.digest: task for task in tasks}
    return {
        truth[item.task.digest].name
        for item in read_run(out).items
        if solved_within(item.answer, truth[item.task.digest].truth, ATTEMPTS)
    }


def section(part: Mapping[str, Any]) -> str:
    """Return the section of the page."""
    rows = [
        f"| {name} | {run['top1']} | {run['top2']} | {run['right']} | {run['wrong']}"
        f" | {run['cpu_s_per_task']:.2f} | {_names(run['lost'])} | {_names(run['gained'])} |"
        for name, run in part["runs"].items()
    ]
    number = part["runs"][NAMES[0]]["tasks"]
    return f"""\
## Symmetries

`python -m benchmarks arc --parts symmetries`, on {part["machine"]}: {number} training tasks, each
transformed as a whole. On another ground, black is exchanged with a colour that the task does not
have. Tasks are lost or gained within two guesses.

| tasks | pass@1 | pass@2 | right | wrong | CPU s per task | lost | gained |
|---|---|---|---|---|---|---|---|
{chr(10).join(rows)}
"""


def _names(names: Sequence[str]) -> str:
    return ", ".join(names)
