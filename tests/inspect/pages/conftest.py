"""Pages of every search in a browser: the live page, and the report without any network."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.inspect.runs import heads
from tests.inspect.serve.conftest import Server, start, stop
from tests.support.axe import findings
from tests.support.forked import ForkServer
from tests.support.searchruns import SearchRuns
from weft.inspect.report.page import write_report

WIDTHS = {"desk": 1280, "phone": 390}
TABBABLE = (
    "root => [...root.querySelectorAll("
    "'a[href], button, input, select, summary, [tabindex=\"0\"]')]"
    ".filter(e => e.checkVisibility() && !e.disabled && e.tabIndex >= 0)"
)
FILLED = {
    "Tasks": "#task-table tr.row", "Progress": "canvas", "Timeline": "#tracks .lane",
    "Events": ".said, .quiet", "Ledger": "#ledger-table tbody tr",
}  # fmt: skip
"""Elements that a tab of the engine shows once its data is loaded."""
OUR_TOOLS = "Blocked script execution"
"""The browser's message when Playwright inspects a frame in which no script may run."""
CUT = """root => [...root.querySelectorAll('table, .scroll, td, th, h1, h2, h3, p, dd')]
  .filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1
    && ['hidden', 'clip', 'auto', 'scroll'].includes(getComputedStyle(e).overflowX)
    && !e.matches('pre, .wide, td.code'))
  .map(e => e.outerHTML.slice(0, 120))"""


@dataclass(frozen=True)
class Shown:
    """A run on a page: the window, and access to the search's own tabs."""

    page: Page
    logged: list[str]
    is_live: bool

    def tabs(self) -> list[str]:
        """The titles of the tabs, without their counts."""
        texts = self.page.get_by_role("tab").all_inner_texts()
        return [re.sub(r"\s*[\d,]+$", "", text) for text in texts]

    def open(self, title: str) -> Locator:
        """Open a tab of the search; return its content."""
        tab = self.page.get_by_role("tab", name=title)
        tab.click()
        panel = self.page.locator(f"#{tab.get_attribute('aria-controls')}")
        if not self.is_live:
            return panel
        expect(panel.locator("iframe")).to_have_count(1)
        expect(panel.locator(".loading")).to_have_count(0)
        return panel.frame_locator("iframe").locator("body")

    def check(self, title: str) -> None:
        """Check that axe-core reports nothing serious, nothing overflows and no cell is cut off."""
        part = self.open(title)
        part.evaluate("root => root.querySelectorAll('details').forEach(d => d.open = true)")
        assert findings(self.page) == [], title
        self.fits(title, part)

    def fits(self, title: str, part: Locator) -> None:
        """Check that nothing is wider than the window, and that no cell is cut off."""
        wide = self.page.evaluate("document.documentElement.scrollWidth > innerWidth")
        assert not wide, f"{title} is wider than the window"
        assert part.evaluate(CUT) == [], f"cut in {title}"

    def open_engine(self, title: str) -> Locator:
        """Open a tab that every run has; return its content once it is loaded."""
        tab = self.page.get_by_role("tab", name=title)
        tab.click()
        panel = self.page.locator(f"#{tab.get_attribute('aria-controls')}")
        expect(panel.get_by_text("Loading …")).to_have_count(0)
        expect(panel.locator(FILLED[title]).first).to_be_visible()
        return panel

    def reach_all(self, title: str, part: Locator | None = None) -> None:
        """Walk through a tab with the Tab key; every control must be reached."""
        part = part or self.open(title)
        count = part.evaluate(f"root => ({TABBABLE})(root).length")
        part.evaluate(f"root => ({TABBABLE})(root).forEach(e => e.dataset.waits = '1')")
        self.page.get_by_role("tab", name=title).focus()
        for _ in range(count + 3):
            self.page.keyboard.press("Tab")
            part.evaluate("root => { delete root.ownerDocument.activeElement.dataset.waits; }")
        assert part.locator("[data-waits]").evaluate_all("all => all.map(e => e.outerHTML)") == []


@pytest.fixture(scope="session")
def search_runs(tmp_path_factory: pytest.TempPathFactory, forks: ForkServer) -> SearchRuns:
    runs = SearchRuns(tmp_path_factory.mktemp("searches") / "runs", forks)
    runs.folder.mkdir(exist_ok=True)
    return runs


@pytest.fixture(scope="session")
def search_server(search_runs: SearchRuns, forks: ForkServer) -> Iterator[Server]:
    server = start(forks, search_runs.folder)
    yield server
    assert stop(server) == 0


@pytest.fixture(scope="session")
def reports(search_runs: SearchRuns) -> Callable[[str], Path]:
    """Returns the report of a run, which is written once."""
    written: dict[str, Path] = {}

    def report(name: str) -> Path:
        if name not in written:
            out = search_runs.folder.parent / f"{name}.html"
            written[name] = write_report(search_runs.get(name), heads(), out)
        return written[name]

    return report


@pytest.fixture(params=["live-desk", "report-phone"])
def shown(
    request: pytest.FixtureRequest,
    chromium: Browser,
    search_runs: SearchRuns,
    search_server: Server,
    reports: Callable[[str], Path],
) -> Iterator[Callable[[str], Shown]]:
    """Show a run, live or offline, on a desktop or on a phone in dark mode; it must log nothing."""
    place, size = request.param.split("-")
    opened: list[Shown] = []

    def show(name: str) -> Shown:
        is_live = place == "live"
        settings: dict[str, Any] = {} if is_live else {"offline": True, "bypass_csp": True}
        context = chromium.new_context(
            viewport={"width": WIDTHS[size], "height": 1000},
            color_scheme="dark" if size == "phone" else "light", **settings,
        )  # fmt: skip
        page, logged = context.new_page(), list[str]()
        page.on("console", lambda message: logged.append(message.text))
        page.on("pageerror", lambda error: logged.append(str(error)))
        if is_live:
            search_runs.get(name)
            page.goto(search_server.url)
            page.goto(f"http://127.0.0.1:{search_server.port}/run/{search_server.id_of(name)}")
            expect(page.locator("#badge")).to_contain_text("verified")
        else:
            report = reports(name)
            page.on("request", lambda r: r.url == report.as_uri() or logged.append(r.url))
            page.goto(report.as_uri())
        opened.append(Shown(page, logged, is_live))
        return opened[-1]

    yield show
    for opened_page in opened:
        opened_page.page.context.close()
        assert [line for line in opened_page.logged if not line.startswith(OUR_TOOLS)] == []
