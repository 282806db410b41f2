"""The violations that axe-core finds on a page, and the window settings to test."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

SERIOUS = ("serious", "critical")
LOOKS = [(1400, False), (390, True)]
"""Width of the window, and whether it is in dark mode."""


def findings(page: Page) -> list[str]:
    """Violations that axe-core rates serious or worse, with the first place of each."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    violations = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
    return [
        f"{v['id']}: {v['help']} at {v['nodes'][0]['target']} {v['nodes'][0]['failureSummary']}"
        for v in violations
        if v["impact"] in SERIOUS
    ]
