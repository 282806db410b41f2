"""Parts for a search's page: timelines in percent, filter controls, colour legends."""

from __future__ import annotations

import re

import pytest
from markupsafe import Markup

from weft.inspect.report.controls import finder
from weft.inspect.report.lanes import SlotBar, SlotLane, draw_lanes
from weft.inspect.report.svg import colour_key
from weft.inspect.report.text import short_digests


def lane(*bars: SlotBar) -> SlotLane:
    return SlotLane("rig1/gpu0", f"{len(bars)} jobs", bars, "what it did")


def places(drawn: Markup) -> list[tuple[float, float]]:
    """Start and width of each bar, in percent."""
    matches = re.findall(r'<svg x="([\d.]+)%" width="([\d.]+)%"', drawn)
    return [(float(x), float(width)) for x, width in matches]


def test_bars_lie_on_one_clock_from_the_first_start_to_the_last_end() -> None:
    first = lane(SlotBar(100.0, 105.0, "a"), SlotBar(105.0, 107.5, "b"))
    second = lane(SlotBar(102.5, 110.0, "c"))
    starts = [x for x, _ in places(draw_lanes([first, second]))]
    assert starts == [0.0, 50.0, 25.0]
    widths = [width for _, width in places(draw_lanes([first, second]))]
    assert widths == pytest.approx([50.0, 25.0, 75.0], abs=0.2)
    ticks = re.findall(r"<span>([^<]+)</span>", draw_lanes([first, second]))
    assert (ticks[0], ticks[-1]) == ("0 s", "10 s")


def test_bar_without_length_is_still_visible_and_has_no_name_in_it() -> None:
    drawn = draw_lanes([lane(SlotBar(1.0, 1.0, "short", name="short"), SlotBar(1.0, 9.0, "long"))])
    assert min(width for _, width in places(drawn)) > 0
    assert "<text" not in drawn
    assert "<title>short</title>" in drawn


def test_names_of_bars_and_kinds_of_chips_are_text() -> None:
    hostile = '<b>"x"&</b>'
    drawn = draw_lanes(
        [SlotLane(hostile, hostile, [SlotBar(0, 1, hostile, name=hostile)], hostile)]
    )
    controls = finder(hostile, hostile, {hostile: 2})
    for part in (drawn, controls, colour_key({"failed": hostile})):
        assert "<b>" not in part
        assert '"x"' not in part


def test_finder_has_a_chip_for_all_and_one_for_each_kind() -> None:
    controls = finder("idea", "Verdicts", {"promoted": 4, "timeout": 1200})
    assert re.findall(r'data-only="(\w*)"', controls) == ["", "promoted", "timeout"]
    assert "timeout 1,200" in controls
    assert controls.count("aria-pressed=true") == 1


def test_digests_are_shortened_and_short_words_are_not() -> None:
    digest = "6eeb03fff997" + "0" * 52
    assert short_digests(f"/{digest} : 0 : 1") == "/6eeb03fff997… : 0 : 1"
    assert short_digests("cafe 6eeb03fff997") == "cafe 6eeb03fff997"
