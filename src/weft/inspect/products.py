"""What the product of a run's search adds to the run: a follower, files, lines of status."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from weft.coordinator.loop import Watcher
from weft.errors import UsageError
from weft.inspect.report.hook import lines_for
from weft.inspect.report.view import RunView
from weft.product import product_of


@contextlib.contextmanager
def followed(
    run: Path, search: str, watcher: Watcher | None, events: Path | None
) -> Iterator[Watcher | None]:
    """Wrap `watcher` so that the search's product can follow the run; `events` is its event log."""
    product = product_of(search)
    if product is None or not product.follow:
        if events is not None:
            raise UsageError(f"--events: runs of {search} have no events of their own")
        yield watcher
        return
    follower = product.part(product.follow)(run, watcher, events)
    try:
        yield follower
    finally:
        follower.close()


def finish_run(run: Path, search: str) -> None:
    """Write the files that an installed product adds to a finished run."""
    product = product_of(search)
    if product is not None and product.finish:
        product.part(product.finish)(run)


def summary_lines(run: Path, search: str) -> list[str]:
    """Return the lines that a run's search adds to its status."""
    return lines_for(RunView(run, search))
