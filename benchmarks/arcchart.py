"""A chart of solved tasks against the budget, as an SVG file: lines over a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from weft.inspect.report.svg import element

WIDTH, HEIGHT = 720, 360
LEFT, RIGHT, TOP, BOTTOM = 52, 130, 20, 44
INK, RULE = "#7a7f87", "#7a7f8744"
FONT = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
LINES = (
    ("top2", "right in two guesses", "#3b82c4"),
    ("right", "answered, right", "#2f9e6e"),
    ("wrong", "answered, wrong", "#d0574b"),
)
"""The lines of the chart: key of the count, label, colour."""
Point = tuple[float, float]


def draw(runs: Mapping[str, Mapping[str, Any]]) -> str:
    """Draw the counts of runs keyed by their budget in programs."""
    budgets = sorted(int(name) for name in runs)
    most = max(run["top2"] for run in runs.values())
    top = 20 * math.ceil(most / 20)
    tasks = next(iter(runs.values()))["tasks"]
    x = {budget: _across(budget, budgets[0], budgets[-1]) for budget in budgets}
    parts = [element("title", "Training tasks solved by budget"), *_axes(budgets, x, top, tasks)]
    for key, name, colour in LINES:
        points = [(x[budget], _down(runs[str(budget)][key], top)) for budget in budgets]
        parts += _line(points, name, colour)
    box = f"0 0 {WIDTH} {HEIGHT}"
    document = element(
        "svg", *parts, xmlns="http://www.w3.org/2000/svg", viewBox=box, width=WIDTH,
        height=HEIGHT, role="img", font_family=FONT, font_size=12, fill=INK,
    )  # fmt: skip
    return f"{document}\n"


def _across(budget: int, first: int, last: int) -> float:
    share = math.log(budget / first) / math.log(last / first) if last > first else 0.0
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def _down(count: int, top: int) -> float:
    return round(HEIGHT - BOTTOM - count / top * (HEIGHT - TOP - BOTTOM), 1)


def _axes(budgets: Sequence[int], x: Mapping[int, float], top: int, tasks: int) -> list[str]:
    parts = []
    for count in range(0, top + 1, 20 if top <= 120 else 40):
        y = _down(count, top)
        parts.append(element("line", x1=LEFT, y1=y, x2=WIDTH - RIGHT, y2=y, stroke=RULE))
        parts.append(element("text", str(count), x=LEFT - 8, y=y + 4, text_anchor="end"))
    for budget in budgets:
        place = {"x": x[budget], "y": HEIGHT - BOTTOM + 18, "text_anchor": "middle"}
        parts.append(element("text", f"{budget // 1000}k", **place))
    middle = (LEFT + WIDTH - RIGHT) / 2
    below = {"x": middle, "y": HEIGHT - 6, "text_anchor": "middle"}
    return [*parts, element("text", f"programs tried per task, {tasks} training tasks", **below)]


def _line(points: Sequence[Point], name: str, colour: str) -> list[str]:
    path = " ".join(f"{x},{y}" for x, y in points)
    x, y = points[-1]
    dots = [element("circle", cx=a, cy=b, r=3, fill=colour) for a, b in points]
    return [
        element("polyline", points=path, fill="none", stroke=colour, stroke_width=2),
        *dots,
        element("text", name, x=x + 8, y=y + 4, fill=colour),
    ]
