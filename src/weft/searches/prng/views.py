"""What the runs of both searches add to report and status: chosen by the run's search."""

from __future__ import annotations

from collections.abc import Sequence

from weft.inspect.report.hook import Page
from weft.inspect.report.view import RunView
from weft.searches.prng import report as analysis
from weft.searches.prng.pipeline import report as pipeline
from weft.searches.prng.pipeline import summary

PIPELINE = "prng.pipeline"


def pages(run: RunView) -> Sequence[Page]:
    """Make the page of an analysis or of a pipeline run."""
    return pipeline.pages(run) if run.search == PIPELINE else analysis.pages(run)


def lines(run: RunView) -> Sequence[str]:
    """Return the verdict as lines of status; a pipeline's steps follow it."""
    if run.search != PIPELINE:
        return analysis.lines(run)
    *steps, end = summary.lines(run)
    return [end, *steps]
