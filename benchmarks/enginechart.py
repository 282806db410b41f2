"""A chart of each engine's cost per tiny task, as an SVG file: bars over a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarks.rivals.table import Rival
from weft.inspect.report.svg import element

WIDTH, LEFT, RIGHT, TOP, BAR, GAP, BOTTOM = 720, 172, 70, 58, 18, 8, 44
INK, RULE = "#7a7f87", "#7a7f8744"
FONT = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
KINDS = {
    "Weft: stores every result": "#2f9e6e",
    "stores every result": "#3b82c4",
    "keeps results in memory": "#9aa1ab",
}
"""Kinds of engines, and their colours."""


def kind(rival: Rival) -> str:
    """Return the kind of an engine, a key of KINDS."""
    weft, stores, memory = KINDS
    return weft if rival.ours else stores if rival.stores else memory


def draw(costs: Sequence[tuple[Rival, float]]) -> str:
    """Draw a bar for each engine and its µs per task, in the order given."""
    low, high = _decades([cost_us for _, cost_us in costs])
    height = TOP + len(costs) * (BAR + GAP) + BOTTOM
    parts = [element("title", "µs per tiny task, warm"), *_legend(), *_axis(low, high, height)]
    for row, (rival, cost_us) in enumerate(costs):
        y = TOP + row * (BAR + GAP)
        parts += _bar(rival, cost_us, y, across(cost_us, low, high))
    document = element(
        "svg", *parts, xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {WIDTH} {height}",
        width=WIDTH, height=height, role="img", font_family=FONT, font_size=12, fill=INK,
    )  # fmt: skip
    return f"{document}\n"


def across(cost_us: float, low: int, high: int) -> float:
    """Return the position of a cost on the logarithmic axis."""
    share = (math.log10(cost_us) - low) / (high - low)
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def _decades(costs_us: Sequence[float]) -> tuple[int, int]:
    low, high = math.floor(math.log10(min(costs_us))), math.ceil(math.log10(max(costs_us)))
    return low, max(high, low + 1)


def _bar(rival: Rival, cost_us: float, y: int, end: float) -> list[str]:
    middle, label = y + BAR - 5, f"{cost_us:,.1f}" if cost_us < 99.95 else f"{cost_us:,.0f}"
    colour = KINDS[kind(rival)]
    weight = {"font_weight": 600} if rival.ours else {}
    return [
        element("text", rival.name, x=LEFT - 8, y=middle, text_anchor="end", **weight),
        element("rect", x=LEFT, y=y, width=max(1.0, end - LEFT), height=BAR, fill=colour, rx=2),
        element("text", label, x=end + 6, y=middle, **weight),
    ]


def _axis(low: int, high: int, height: int) -> list[str]:
    parts = []
    for power in range(low, high + 1):
        x, bottom = across(10**power, low, high), height - BOTTOM
        parts.append(element("line", x1=x, y1=TOP - 8, x2=x, y2=bottom, stroke=RULE))
        name = f"{10**power:,}" if power >= 0 else f"{10.0**power:g}"
        parts.append(element("text", name, x=x, y=bottom + 16, text_anchor="middle"))
    middle = {"x": (LEFT + WIDTH - RIGHT) / 2, "y": height - 6, "text_anchor": "middle"}
    return [*parts, element("text", "µs per tiny task, warm (logarithmic)", **middle)]


def _legend() -> list[str]:
    parts, x = [], 20
    for name, colour in KINDS.items():
        parts.append(element("rect", x=x, y=14, width=12, height=12, fill=colour, rx=2))
        parts.append(element("text", name, x=x + 18, y=24))
        x += 44 + 6 * len(name)
    return parts
