"""What the product that a run's search comes from adds to it: files of its own, lines of status."""

from __future__ import annotations

from pathlib import Path

from weft.inspect.report.hook import lines_for
from weft.inspect.report.view import RunView
from weft.product import product_of


def finish_run(run: Path, search: str) -> None:
    """Write the files that a finished run of an installed product has beside its ledger."""
    product = product_of(search)
    if product is not None and product.finish:
        product.part(product.finish)(run)


def summary_lines(run: Path, search: str) -> list[str]:
    """Return what a run's search adds to its status."""
    return lines_for(RunView(run, search))
