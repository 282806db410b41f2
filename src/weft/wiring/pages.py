"""The pages and status lines of the searches that ship with Weft.

Installed searches are found by their entry points; ours are named here, so that they are there
from a plain checkout too.
"""

from __future__ import annotations

from pathlib import Path

from weft.report.hook import lines_for, register
from weft.report.view import RunView


def register_pages() -> None:
    """Make the pages of our searches known to the report."""
    from weft.jobs import report as jobs  # noqa: PLC0415 - only when one is asked for

    register("weft.jobs", jobs.pages, jobs.lines)


def summary_lines(run: Path, search: str) -> list[str]:
    """Return what a run's search adds to its status."""
    register_pages()
    return lines_for(RunView(run, search))
