"""The true outputs of a bench, kept beside its run for reports: `truth.json`.

They are written when the search is over and decide nothing. A bench of evaluation tasks writes none
unless it was asked to reveal them.
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
    """Keep the true outputs of some tasks beside their run."""
    rows = {task.digest: [grid.rows() for grid in task.truth] for task in tasks}
    (run / FILE).write_text(canonical(rows) + "\n", encoding="ascii")


def read(run: Path) -> Truth:
    """Read what `write` wrote; nothing where there is none, or something else."""
    try:
        body = json.loads((run / FILE).read_bytes())
        return {digest: tuple(map(Grid.of, grids)) for digest, grids in body.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
