"""A plot for a search's page: points, lines and bars, axes with round numbers.

Owns scales and ticks; knows neither runs nor pages.

>>> ticks(0.0, 9.0)
[0.0, 2.0, 4.0, 6.0, 8.0]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from weft.inspect.report.svg import drawing, element

WIDTH, HEIGHT = 560, 230
LEFT, RIGHT, TOP, BOTTOM = 72, 12, 12, 44
"""Margins of the plot, for tick labels and axis names."""
STEPS = 5
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Axes:
    """The part of the plane that is shown, and the names of the axes."""

    low: tuple[float, float]
    high: tuple[float, float]
    across: str
    up: str
    bars: bool = False
    """Whether there is a bar for every whole number, labelled below its middle."""
    whole: bool = False
    """Whether only whole numbers are meaningful on the horizontal axis."""

    def x(self, value: float) -> float:
        """Return the position of a value from the left."""
        return LEFT + _share(value, self.low[0], self.high[0]) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """Return the position of a value from the top."""
        return HEIGHT - BOTTOM - _share(value, self.low[1], self.high[1]) * (HEIGHT - TOP - BOTTOM)


def axes_of(points: Points, across: str, up: str) -> Axes:
    """Return axes that contain all points and, upwards, zero; a single value gets some room."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    left, right = min(xs), max(xs)
    low, high = min(0.0, *ys), max(0.0, *ys)
    if left == right:
        left, right = left - 1, right + 1
    return Axes((left, low), (right, high if high > low else low + 1), across, up)


def plot(dots: Points, line: Points, axes: Axes, label: str) -> Markup:
    """Draw points and a line over them; `label` describes the plot in words."""
    return framed(axes, label, *(_dot(axes, *dot) for dot in dots), *_path(axes, line))


def framed(axes: Axes, label: str, *inside: Markup) -> Markup:
    """Draw axes around the given elements."""
    return drawing(WIDTH, HEIGHT, *_frame(axes), *inside, label=label)


def bar(axes: Axes, at: float, high: float) -> Markup:
    """Draw a bar from `at` to `at + 1`, slightly narrower than that."""
    left, top = axes.x(at), axes.y(high)
    wide = max(1.0, 0.92 * (axes.x(at + 1) - left))
    return element("rect", x=left, y=top, width=wide, height=axes.y(0) - top, class_="worked")


def ticks(low: float, high: float) -> list[float]:
    """Return at most STEPS + 1 round numbers from `low` to `high`."""
    least = (high - low) / STEPS
    power = 10.0 ** math.floor(math.log10(least))
    step = next(power * many for many in (1, 2, 5, 10, 20) if power * many >= least * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [step * at for at in range(first, math.floor(high / step + 1e-9) + 1)]


def words(text: str, x: float, y: float, anchor: str = "middle", turn: str | None = None) -> Markup:
    """Draw a small text."""
    return element(
        "text", text, x=x, y=y, text_anchor=anchor, transform=turn, font_size=12,
        fill="currentColor",
    )  # fmt: skip


def _share(value: float, low: float, high: float) -> float:
    return (value - low) / (high - low)


def _frame(axes: Axes) -> list[Markup]:
    parts = []
    for value in ticks(axes.low[1], axes.high[1]):
        at = axes.y(value)
        parts.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=at, y2=at, class_="grid"))
        parts.append(words(f"{value:.6g}", LEFT - 8, at + 4, "end"))
    floor = HEIGHT - BOTTOM
    parts += [words(f"{v:.4g}", axes.x(at), floor + 16) for v, at in _below(axes)]
    middle = (TOP + floor) / 2
    parts.append(words(axes.across, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8))
    parts.append(words(axes.up, 14, middle, turn=f"rotate(-90 14 {middle:g})"))
    return parts


def _below(axes: Axes) -> list[tuple[float, float]]:
    """Return the numbers below the plot, each with its position on the axis."""
    numbers = ticks(axes.low[0], axes.high[0])
    if not axes.bars:
        return [(n, n) for n in numbers if not axes.whole or n == math.floor(n)]
    return [(n, n + 0.5) for n in numbers if n < axes.high[0] and n == math.floor(n)]


def _dot(axes: Axes, x: float, y: float) -> Markup:
    return element("circle", cx=axes.x(x), cy=axes.y(y), r=3, class_="worked")


def _path(axes: Axes, line: Points) -> list[Markup]:
    points = " ".join(f"{axes.x(x):.1f},{axes.y(y):.1f}" for x, y in line)
    return [element("polyline", points=points, class_="best")] if line else []
