"""What the product that a run's search comes from adds to it: files of its own, lines of status."""

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
    """Let the product of a run's search follow it while it goes on; `events` is its event log."""
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
    """Write the files that a finished run of an installed product has beside its ledger."""
    product = product_of(search)
    if product is not None and product.finish:
        product.part(product.finish)(run)


def summary_lines(run: Path, search: str) -> list[str]:
    """Return what a run's search adds to its status."""
    return lines_for(RunView(run, search))
