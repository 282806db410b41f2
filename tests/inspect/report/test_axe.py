"""axe-core finds nothing serious in a report: light and dark, on a desktop and on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.inspect.report.conftest import Kinds
from tests.support.axe import LOOKS, findings

pytestmark = pytest.mark.xdist_group("report")


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_report_has_no_serious_finding(
    kinds: Kinds, chromium: Browser, width: int, dark: bool
) -> None:
    context = chromium.new_context(
        viewport={"width": width, "height": 1000},
        color_scheme="dark" if dark else "light",
        bypass_csp=True,
    )
    page = context.new_page()
    every = ("tasks", "timeline", "events", "ledger")
    looks = {"all-failed": every} if dark else {"finished": every, "damaged": ("ledger",)}
    for kind, views in looks.items():
        page.goto(kinds.reports[kind].resolve().as_uri())
        for view in views:
            page.click(f"#tab-{view}")
            assert findings(page) == [], (kind, view)
    context.close()
