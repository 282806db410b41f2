"""Plots on a search's page: round ticks inside the axes, everything inside the picture."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.inspect.report.plot import HEIGHT, STEPS, WIDTH, Axes, axes_of, bar, framed, plot, ticks
from weft.inspect.report.svg import table

VALUES = st.floats(-1e9, 1e9, allow_nan=False).map(lambda x: round(x, 3))


@given(VALUES, st.floats(1e-3, 1e9))
def test_ticks_lie_inside_and_are_few(low: float, span: float) -> None:
    values = ticks(low, low + span)
    assert 1 <= len(values) <= STEPS + 1
    assert values == sorted(values)
    slack = 1e-6 * (abs(low) + span)
    assert all(low - slack <= tick <= low + span + slack for tick in values)


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=20))
def test_points_lie_inside_the_picture(points: list[tuple[float, float]]) -> None:
    axes = axes_of(points, "x", "y")
    for x, y in points:
        assert -1e-6 <= axes.x(x) <= WIDTH + 1e-6
        assert -1e-6 <= axes.y(y) <= HEIGHT + 1e-6


def test_plot_names_its_axes_and_draws_every_point() -> None:
    dots = [(1.0, 2.0), (2.0, 8.0)]
    html = str(plot(dots, dots, axes_of(dots, "trial", "worth <3"), "two trials"))
    assert html.count("<circle") == 2
    assert html.count("<polyline") == 1
    for text in (">trial<", ">worth &lt;3<", 'aria-label="two trials"', ">8<", ">0<"):
        assert text in html


def test_numbers_of_bars_stand_below_their_middles() -> None:
    axes = Axes((0.0, 0.0), (8, 4.0), "residue", "draws", bars=True)
    html = str(framed(axes, "residues", bar(axes, 2, 4.0)))
    places = re.findall(r'<text x="([\d.]+)"[^>]*>2</text>', html)
    assert float(places[-1]) == pytest.approx(axes.x(2.5), abs=0.1)
    assert f'height="{axes.y(0) - axes.y(4):g}"' in html


@pytest.mark.parametrize(
    ("cells", "right"),
    [
        (["1", "12,345", ""], True),
        (["77/80", "1.9e-52"], True),
        (["22 %", "0.5 ms", "–"], True),
        (["", ""], False),
        (["12", "n1"], False),
        (["0: 2, 1: 2"], False),
    ],
)
def test_columns_of_numbers_are_flush_right(cells: list[str], right: bool) -> None:
    html = str(table(["name", "count"], [["a", cell] for cell in cells]))
    assert ('class="n"' in html) is right
    assert '<th scope="col">name</th>' in html
