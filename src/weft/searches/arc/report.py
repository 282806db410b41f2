"""The report pages and status lines of an ARC run: every task drawn, and search statistics.

Only the totals of a sealed run are shown.
"""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from weft.inspect.report.hook import Page
from weft.inspect.report.svg import element, table
from weft.inspect.report.text import counted, percent
from weft.inspect.report.view import RunView
from weft.searches.arc import truth
from weft.searches.arc.recorded import ArcRun, of_view
from weft.searches.arc.runview import view_of
from weft.searches.arc.telemetry import SearchTelemetry, telemetry
from weft.searches.arc.views.page import build_page

SEARCH_PAGE_BYTES = 40_000
"""Space reserved for the page of figures."""
MAX_WORKERS = 64


def lines(run: RunView) -> list[str]:
    """Return the lines that an ARC run adds to its status."""
    arc_run = of_view(run)
    outcomes = ", ".join(f"{count} {name}" for name, count in arc_run.outcomes().items())
    return [
        f"{counted(len(arc_run.items), 'puzzle')}: {outcomes}",
        *telemetry_of(run, arc_run).lines(),
    ]


def pages(run: RunView) -> list[Page]:
    """Build the report pages of an ARC run: its tasks, and search statistics."""
    arc_run = of_view(run)
    figures = Page("Search", _figures(telemetry_of(run, arc_run)), order=2)
    if arc_run.sealed:
        return [Page("Puzzles", _totals(arc_run.outcomes()), order=1), figures]
    known = truth.read(run.path)
    views = [view_of(item, known.get(item.task.digest, ())) for item in arc_run.items]
    drawn = build_page(views, max_bytes=run.page_bytes - SEARCH_PAGE_BYTES)
    return [Page("Puzzles", drawn, order=1), figures]


def telemetry_of(run: RunView, arc_run: ArcRun) -> SearchTelemetry:
    """Return the search statistics of a run."""
    return telemetry(len(arc_run.items), run.tasks())


def _totals(outcomes: Mapping[str, int]) -> Markup:
    notice = "These are evaluation tasks: only totals are shown."
    rows = [[name, f"{count:,}"] for name, count in outcomes.items()]
    return element("p", notice, class_="notice") + table(["outcome", "tasks"], rows)


def _figures(telemetry: SearchTelemetry) -> Markup:
    if not telemetry.cost.programs:
        return element("p", "Nothing has been searched yet.", class_="quiet")
    c = telemetry.cost.rates()
    facts = [
        ["programs tried", f"{c['programs']:,}"],
        ["programs per CPU second", f"{c['programs_per_s']:,}"],
        ["states per CPU second", f"{c['states_per_s']:,}"],
        ["CPU seconds per puzzle", f"{c['cpu_s_per_task']:.2f}"],
        *([f"pruned by {rule}", percent(share)] for rule, share in telemetry.pruned_shares.items()),
        ["repeated (known already)", percent(c["repeated_share"])],
        ["failed", percent(c["failed_share"])],
        ["cache hits", percent(c["cache_hit_share"])],
    ]
    if telemetry.slice_balance is not None:
        facts.append(["slice balance", percent(telemetry.slice_balance)])
    rates = [
        [w.name, f"{w.programs:,}", f"{w.busy_s:.1f}", f"{w.per_s:,}"]
        for w in telemetry.workers[:MAX_WORKERS]
    ]
    heads = ["worker", "programs", "seconds", "programs/s"]
    return (
        element("h3", "The search in figures")
        + table(["", ""], facts)
        + element("h3", "Workers")
        + table(heads, rates)
    )
