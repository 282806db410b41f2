"""The pages and status lines of the searches that ship with Weft.

Installed searches are found by their entry points; ours are named here, so that they are there
from a plain checkout too.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from weft.inspect.report.hook import Page, fits, lines_for, register
from weft.inspect.report.view import RunView


def register_pages() -> None:
    """Make the pages of our searches known to the report."""
    from weft.searches.jobs import report as jobs  # noqa: PLC0415 - only when one is asked for
    from weft.searches.tree import report as tree  # noqa: PLC0415

    register("weft.searches.arc", _arc_pages, _arc_lines)
    register("weft.searches.jobs", jobs.pages, jobs.lines)
    register("weft.searches.prng.analyse", _prng_pages, _prng_lines)
    register("weft.searches.prng.pipeline", _pipeline_pages, _pipeline_lines)
    register("weft.searches.tree", tree.pages, tree.lines)


def _arc_pages(run: RunView) -> Sequence[Page]:
    from weft.searches.arc import report  # noqa: PLC0415 - brings in numba, for runs of its own only

    return report.pages(run)


def _arc_lines(run: RunView) -> Sequence[str]:
    from weft.searches.arc import report  # noqa: PLC0415

    return report.lines(run)


def _prng_pages(run: RunView) -> Sequence[Page]:
    from weft.searches.prng import report  # noqa: PLC0415 - brings in numba, for runs of its own only

    return report.pages(run)


def _prng_lines(run: RunView) -> Sequence[str]:
    from weft.searches.prng import report  # noqa: PLC0415

    return report.lines(run)


def write_summaries(run: Path, search: str) -> None:
    """Write the files that a finished run of one of our searches has beside its ledger."""
    if fits("weft.searches.tree", search):
        from weft.searches.tree.run import write_summary  # noqa: PLC0415 - only for runs of its own

        write_summary(run)


def _pipeline_pages(run: RunView) -> Sequence[Page]:
    from weft.searches.prng.pipeline import report  # noqa: PLC0415 - brings in numba, for runs of its own only

    return report.pages(run)


def _pipeline_lines(run: RunView) -> Sequence[str]:
    from weft.searches.prng.pipeline import summary  # noqa: PLC0415

    *steps, end = summary.lines(run)
    return [end, *steps]


def summary_lines(run: Path, search: str) -> list[str]:
    """Return what a run's search adds to its status."""
    register_pages()
    return lines_for(RunView(run, search))
