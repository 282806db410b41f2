"""The effort of an analysis, a chart and a table of the report: hypotheses tried against time.

Hypotheses are counted in powers of ten; time is the run time of the tasks. Both come from the
records of the run, so the chart is available while it is still in progress.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from weft.inspect.report.plot import axes_of, plot
from weft.inspect.report.svg import element, table
from weft.inspect.report.text import counted, duration
from weft.inspect.report.view import ViewedTask
from weft.searches.prng.apis import call_text

COVER = "prng.cover"
SHOWN = 8
MAX_POINTS = 400


@dataclass(frozen=True, slots=True)
class TriedRange:
    """One range of one plan: attack, call, hypotheses tried, run time and matches."""

    attack: str
    call: str
    tried: int
    run_s: float
    matches: int


def tried_ranges(tasks: Iterable[ViewedTask]) -> list[TriedRange]:
    """Return the ranges that the finished tasks of a run have covered, in order."""
    return [
        _tried_range(task, task.args["planned"]["plan"])
        for task in tasks
        if task.function == COVER and isinstance(task.value, Mapping)
    ]


def _tried_range(task: ViewedTask, plan: Mapping[str, object]) -> TriedRange:
    share = task.args["hi"] - task.args["lo"]
    tried = int(str(plan["tried"])) * share // int(str(plan["units"]))
    call = call_text(str(plan["family"]), str(plan["output"]))
    return TriedRange(str(plan["attack"]), call, tried, task.run_s or 0.0, len(task.value["found"]))


def effort_section(ranges: Sequence[TriedRange]) -> Markup:
    """Plot hypotheses against seconds and list how the time was spent."""
    if not ranges:
        return Markup("")
    points = _points(ranges)
    axes = axes_of(points, "seconds of tasks", "hypotheses tried, log10")
    chart = plot([], points, axes, "hypotheses tried against seconds")
    seconds = sum(item.run_s for item in ranges)
    note = (
        f"{counted(len(ranges), 'range')} in {duration(seconds)} of tasks;"
        f" 10^{points[-1][1]:.1f} hypotheses were tried."
    )
    head = element("h3", "What was tried, by time") + element("p", note, class_="quiet")
    sides = element("div", chart), element("div", _by_call(ranges))
    return head + element("div", *sides, class_="charts")


def _points(ranges: Sequence[TriedRange]) -> list[tuple[float, float]]:
    """Return cumulative seconds and log10 of hypotheses; thinned, but always with the last."""
    seconds, tried, points = 0.0, 0, [(0.0, 0.0)]
    step = -(-len(ranges) // MAX_POINTS)
    for number, item in enumerate(ranges, 1):
        seconds, tried = seconds + item.run_s, tried + item.tried
        if number % step == 0 or number == len(ranges):
            points.append((seconds, math.log10(max(1, tried))))
    return points


def _by_call(ranges: Sequence[TriedRange]) -> Markup:
    """List calls and attacks by time spent, the longest first."""
    grouped: dict[tuple[str, str], list[TriedRange]] = {}
    for item in ranges:
        grouped.setdefault((item.call, item.attack), []).append(item)
    rows = sorted(grouped.items(), key=lambda row: (-sum(i.run_s for i in row[1]), row[0]))
    cells = [
        [
            call,
            attack,
            duration(sum(item.run_s for item in items)),
            f"10^{math.log10(max(1, sum(item.tried for item in items))):.1f}",
            str(sum(item.matches for item in items)),
        ]
        for (call, attack), items in rows
    ]
    heads = ["call", "attack", "time", "hypotheses", "candidates"]
    if len(cells) <= SHOWN:
        return table(heads, cells)
    rest = element("summary", f"{len(cells) - SHOWN} more that took less time")
    return table(heads, cells[:SHOWN]) + element("details", rest, table(heads, cells[SHOWN:]))
