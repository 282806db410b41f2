"""The true outputs of a bench, stored in its run's folder for reports: `truth.json`.

They are written after the search and decide nothing. A bench on evaluation tasks writes them only
with `--reveal`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from weft.model.values import canonical
from weft.searches.arc.task import ArcTask
from weft.searches.arc.values import Grid

FILE = "truth.json"
Truth = Mapping[str, tuple[Grid, ...]]
"""True outputs by the task's digest."""


def write(run: Path, tasks: Iterable[ArcTask]) -> None:
    """Write the true outputs of tasks to the folder of their run."""
    rows = {task.digest: [grid.rows() for grid in task.truth] for task in tasks}
    (run / FILE).write_text(canonical(rows) + "\n", encoding="ascii")


def read(run: Path) -> Truth:
    """Read the true outputs of a run; empty if the file is missing or invalid."""
    try:
        body = json.loads((run / FILE).read_bytes())
        return {digest: tuple(map(Grid.of, grids)) for digest, grids in body.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
