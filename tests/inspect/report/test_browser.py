"""Reports in a real browser: nothing logged, nothing fetched, tabs, search, explain, zoom."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.inspect.report.browser import Browser, Tab
from tests.inspect.report.conftest import KINDS, Kinds, page_of
from tests.inspect.report.test_hook import planted
from weft.inspect.report.hook import register, unregister

pytestmark = pytest.mark.xdist_group("report")
VIEWS = ("tasks", "progress", "timeline", "events", "ledger")
SHOWN = "[...document.querySelectorAll('.view')].filter(v => v.offsetParent).map(v => v.id)"
ROWS = "document.querySelectorAll('#task-table tbody tr.row').length"


def click(tab: Tab, selector: str) -> None:
    tab.js(f"document.querySelector({selector!r}).click()")


def type_into(tab: Tab, field: str, text: str) -> None:
    element = f"document.getElementById({field!r})"
    tab.js(f"{element}.value = {text!r}; {element}.dispatchEvent(new Event('input'))")


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("kind", KINDS)
def test_report_opens_without_complaints(
    browser: Browser, kinds: Kinds, tmp_path: Path, kind: str, width: int
) -> None:
    with browser.open(kinds.reports[kind], width=width, height=1000) as tab:
        for view in VIEWS:
            click(tab, f"#tab-{view}")
            assert tab.js(SHOWN) == [view]
            assert not tab.overflows(), view
        tab.screenshot(tmp_path / "shot.png")
        assert (tmp_path / "shot.png").stat().st_size > 10_000
        assert tab.complaints() == []
        assert tab.fetched() == []


def test_large_report_opens_and_is_quick_to_search(browser: Browser, many: Path) -> None:
    with browser.open(many) as tab:
        assert tab.js(ROWS) == 50
        type_into(tab, "find", "valueerror 25777")
        assert tab.js(ROWS) == 1
        click(tab, "#tab-timeline")
        assert tab.js("document.querySelectorAll('#tracks svg').length") >= 2
        assert tab.complaints() == []


def test_hostile_texts_are_inert(browser: Browser, hostile: Path) -> None:
    with browser.open(hostile) as tab:
        for view in VIEWS:
            click(tab, f"#tab-{view}")
        click(tab, "#tab-tasks")
        tab.js("document.querySelectorAll('#task-table .place button').forEach(b => b.click())")
        assert tab.js("document.title") != "owned"
        assert tab.js("document.querySelectorAll('img').length") == 0
        assert "<script>" in tab.js("document.querySelector('#task-table').textContent")
        assert "\\u202e" in tab.js("document.querySelector('#task-table').textContent")
        assert tab.complaints() == []


def test_policy_stops_a_script_that_got_in(browser: Browser, kinds: Kinds, tmp_path: Path) -> None:
    planted_page = tmp_path / "planted.html"
    script = "<script>document.title = 'owned'</script></body>"
    planted_page.write_text(kinds.text("finished").replace("</body>", script))
    with browser.open(planted_page) as tab:
        assert tab.js("document.title") != "owned"
        assert any("Content Security Policy" in text for text in tab.complaints())


def test_tabs_work_by_keyboard_and_address(browser: Browser, kinds: Kinds) -> None:
    with browser.open(kinds.reports["finished"]) as tab:
        assert tab.js(SHOWN) == ["values"], "what the search is about comes first"
        tab.js("document.getElementById('tab-values').focus()")
        tab.press("ArrowRight")
        assert tab.js(SHOWN) == ["tasks"]
        tab.press("End")
        assert tab.js(SHOWN) == ["ledger"]
        tab.press("ArrowRight")
        assert tab.js(SHOWN) == ["values"]
        tab.js("location.hash = '#events'")
        tab.js("dispatchEvent(new HashChangeEvent('hashchange'))")
        assert tab.js(SHOWN) == ["events"]
        selected = "document.querySelectorAll('[aria-selected=true]').length"
        assert tab.js(selected) == 1


def test_task_table_sorts_filters_and_explains(browser: Browser, kinds: Kinds) -> None:
    with browser.open(kinds.reports["finished"]) as tab:
        assert tab.js(ROWS) == 48
        click(tab, "[data-sort=took] button")
        assert tab.js("document.querySelector('[data-sort=took]').ariaSort") == "descending"
        took = (
            "[...document.querySelectorAll('#task-table tr.row td.took')]"
            ".map(c => parseFloat(c.textContent) * (c.textContent.includes('ms') ? 1 : 1000))"
        )
        times = tab.js(took)
        assert times == sorted(times, reverse=True)
        type_into(tab, "find", ":3:7")
        assert tab.js(ROWS) == 1
        click(tab, "#task-table .place button")
        life = tab.js("document.querySelector('.life').textContent")
        assert "recorded as record" in life
        assert "slept_ms" in life
        click(tab, "#task-table .place button")
        assert tab.js("document.querySelector('.life')") is None
        type_into(tab, "find", "")
        click(tab, "#state-chips button:nth-child(2)")
        assert tab.js("document.querySelector('#state-chips [aria-pressed=true]').textContent") == (
            "completed 48"
        )
        assert tab.js(ROWS) == 48, "a chip selects"
        more = "getComputedStyle(document.getElementById('task-more').parentElement).display"
        assert tab.js(more) == "none", "there is nothing more to show"


def test_event_leads_to_its_task(browser: Browser, kinds: Kinds) -> None:
    with browser.open(kinds.reports["all-failed"]) as tab:
        click(tab, "#tab-events")
        click(tab, "#event-table tr[data-kind=failed] a")
        assert tab.js(SHOWN) == ["tasks"]
        assert "ValueError: no" in tab.js("document.querySelector('.life').textContent")
        assert tab.complaints() == []


def test_timeline_zooms_and_tells(browser: Browser, kinds: Kinds) -> None:
    with browser.open(kinds.reports["finished"]) as tab:
        click(tab, "#tab-timeline")
        box = "document.querySelector('#tracks svg').getAttribute('viewBox')"
        assert tab.js(box) == "0 0 1000 10"
        click(tab, "[data-zoom=in]")
        assert tab.js(box) == "250 0 500 10"
        tab.js("document.getElementById('tracks').focus()")
        tab.press("ArrowRight")
        assert tab.js(box) == "375 0 500 10"
        click(tab, "[data-zoom=all]")
        assert tab.js(box) == "0 0 1000 10"
        tab.js(
            "(() => { const s = document.querySelector('#tracks svg');"
            " const e = s.getBoundingClientRect();"
            " s.dispatchEvent(new PointerEvent('pointermove', {bubbles: true,"
            " clientX: e.left + e.width / 2, clientY: e.top + 4})) })()"
        )
        tip = tab.js("document.getElementById('tip').textContent")
        assert "task" in tip or "idle" in tip


def test_essentials_are_there_without_scripts(browser: Browser, kinds: Kinds) -> None:
    with browser.open(kinds.reports["finished"], script=False) as tab:
        boxes = tab.call("DOMSnapshot.captureSnapshot", computedStyles=[], includePaintOrder=False)
        texts = " ".join(boxes["strings"])
        for words in ("finished, verified", "48 completed", "weave:nap", "Timeline", "Ledger"):
            assert words in texts
        indices = boxes["documents"][0]["layout"]["text"]
        drawn = {boxes["strings"][i].strip() for i in indices if i >= 0}
        assert {"TASKS", "TIMELINE", "EVENTS", "LEDGER"} <= drawn, "headings, in small capitals"
        assert "copy" not in drawn, "a button that would do nothing"


def test_page_of_a_search_is_a_tab(browser: Browser, kinds: Kinds, tmp_path: Path) -> None:
    register("weave", planted)
    try:
        page = tmp_path / "page.html"
        page.write_text(page_of(kinds.runs["finished"]), "utf-8")
    finally:
        unregister("weave")
    with browser.open(page) as tab:
        click(tab, "#tab-page-2")
        assert tab.js(SHOWN) == ["page-2"]
        assert tab.js("document.querySelectorAll('#page-2 circle').length") == 44
        assert tab.complaints() == []
