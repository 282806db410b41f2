"""The pages and status lines of the searches that ship with Weft.

Installed searches are found by their entry points; ours are named here, so that they are there
from a plain checkout too.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from weft.report.hook import Page, fits, lines_for, register
from weft.report.view import RunView


def register_pages() -> None:
    """Make the pages of our searches known to the report."""
    from weft.jobs import report as jobs  # noqa: PLC0415 - only when one is asked for
    from weft.tree import report as tree  # noqa: PLC0415

    register("weft.arc", _arc_pages, _arc_lines)
    register("weft.jobs", jobs.pages, jobs.lines)
    register("weft.prng.analyse", _prng_pages, _prng_lines)
    register("weft.prng.pipeline", _pipeline_pages, _pipeline_lines)
    register("weft.tree", tree.pages, tree.lines)


def _arc_pages(run: RunView) -> Sequence[Page]:
    from weft.arc import report  # noqa: PLC0415 - brings in numba, for runs of its own only

    return report.pages(run)


def _arc_lines(run: RunView) -> Sequence[str]:
    from weft.arc import report  # noqa: PLC0415

    return report.lines(run)


def _prng_pages(run: RunView) -> Sequence[Page]:
    from weft.prng import report  # noqa: PLC0415 - brings in numba, for runs of its own only

    return report.pages(run)


def _prng_lines(run: RunView) -> Sequence[str]:
    from weft.prng import report  # noqa: PLC0415

    return report.lines(run)


def write_summaries(run: Path, search: str) -> None:
    """Write the files that a finished run of one of our searches has beside its ledger."""
    if fits("weft.tree", search):
        from weft.wiring.tree import write_summary  # noqa: PLC0415 - only for runs of its own

        write_summary(run)


def _pipeline_pages(run: RunView) -> Sequence[Page]:
    from weft.prng.pipeline import report  # noqa: PLC0415 - brings in numba, for runs of its own only

    return report.pages(run)


def _pipeline_lines(run: RunView) -> Sequence[str]:
    from weft.prng.pipeline import summary  # noqa: PLC0415

    *steps, end = summary.lines(run)
    return [end, *steps]


def summary_lines(run: Path, search: str) -> list[str]:
    """Return what a run's search adds to its status."""
    register_pages()
    return lines_for(RunView(run, search))
