"""axe-core finds nothing serious: every page, light and dark, on a desktop and on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.inspect.serve.conftest import Onlooker, Server
from tests.support.axe import LOOKS, findings

pytestmark = pytest.mark.xdist_group("report")


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_list_and_comparison_have_no_serious_finding(
    server: Server, onlooker: Onlooker, width: int, dark: bool
) -> None:
    page = onlooker.open(server, width=width, dark=dark)
    expect(page.locator("#runs tr")).to_have_count(6)
    assert findings(page) == []
    pair = f"runs={server.id_of('naps')},{server.id_of('more/naps5')}"
    page.goto(f"http://127.0.0.1:{server.port}/compare?{pair}")
    expect(page.locator(".sides")).to_have_count(4)
    assert findings(page) == []


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_run_has_no_serious_finding_in_any_view(
    server: Server, onlooker: Onlooker, width: int, dark: bool
) -> None:
    page = onlooker.open(server, f"/run/{server.id_of('hopeless')}", width=width, dark=dark)
    ready = {"tasks": ".histogram", "progress": "#progress-chart canvas", "timeline": "#tracks",
             "events": "#event-table", "ledger": "#ledger-table tbody tr"}  # fmt: skip
    for view, selector in ready.items():
        page.click(f"#tab-{view}")
        page.locator(selector).first.wait_for()
        if view == "tasks":
            page.locator("#task-table .place button").first.click()
        assert findings(page) == [], view
