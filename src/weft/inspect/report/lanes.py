"""A timeline for a search's page: a row for each slot, bars on one time scale, an axis below.

Positions are percentages, so that it fits a phone as well as a desktop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from weft.inspect.report.svg import element
from weft.inspect.report.text import duration

NAMED_SHARE = 3.0
"""Minimum width of a bar that contains its name, in percent of the timeline."""
GAP = 0.15
"""Gap between adjacent bars, in percent of the timeline."""
TICKS = 5


@dataclass(frozen=True, slots=True)
class SlotBar:
    """A period of work."""

    start: float
    end: float
    tip: str
    """Text shown while the pointer is over the bar."""
    kind: str = "worked"
    """CSS class, which sets the colour: `worked`, `broken`, or one of the page's own."""
    name: str = ""


@dataclass(frozen=True, slots=True)
class SlotLane:
    """The work of one slot."""

    label: str
    stat: str
    bars: Sequence[SlotBar]
    words: str
    """Text alternative of the picture."""


def draw_lanes(lanes: Sequence[SlotLane]) -> Markup:
    """Draw lanes on a time axis from the earliest start to the latest end of a bar."""
    bars = [bar for lane in lanes for bar in lane.bars]
    start = min(bar.start for bar in bars)
    length = max(bar.end for bar in bars) - start or 1.0
    ticks = [element("span", duration(length * i / (TICKS - 1))) for i in range(TICKS)]
    rows = [_lane(lane, start, length) for lane in lanes]
    return element("div", *rows, element("div", *ticks, class_="axis"), class_="timeline")


def _lane(lane: SlotLane, start: float, length: float) -> Markup:
    picture = element(
        "svg", *(_bar(bar, start, length) for bar in lane.bars), role="img", class_="named",
        aria_label=lane.words,
    )  # fmt: skip
    label = element("span", lane.label, class_="label")
    return element("div", label, picture, element("span", lane.stat, class_="stat"), class_="lane")


def _bar(bar: SlotBar, start: float, length: float) -> Markup:
    """Draw a bar with its name; a nested SVG clips a name that is too long."""
    share = max(GAP, 100 * (bar.end - bar.start) / length - GAP)
    tip = element("title", bar.tip)
    parts = [element("rect", tip, width="100%", height="100%", class_=bar.kind)]
    if bar.name and share >= NAMED_SHARE:
        parts.append(element("text", bar.name, x=5, y=14))
    x = f"{100 * (bar.start - start) / length:.3f}%"
    return element("svg", *parts, x=x, width=f"{share:.3f}%", height="100%")
