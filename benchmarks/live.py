"""Measure the live page in a real browser: first paint of 100,000 tasks, and delay of results.

    python -m benchmarks live

The page itself records when it shows each number of finished tasks; the manifest records when each
task finished. The difference is the lateness, for every task of a running run. Needs Debian's
chromium.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

PAGES = Path(__file__).parents[1] / "docs" / "benchmarks"
WEFT = (sys.executable, "-m", "weft.main")
TASKS = 100_000
LOADS = 10
ROUNDS = 60
SLOW = f"""\
import time
import weft

@weft.task
def wait(x: int) -> int:
    time.sleep(0.1)
    return x

@weft.search(version=1)
def slow():
    for number in range({ROUNDS}):
        yield [wait(number * 4 + i) for i in range(4)]
    return {ROUNDS}
"""
NOTES = """
window.shown = [];
const look = () => {
  const said = document.querySelector('.figures dd');
  const count = said ? Number(said.firstChild.data.replaceAll(',', '')) : 0;
  const last = window.shown.at(-1);
  if (!last || last[1] !== count)
    window.shown.push([performance.timeOrigin + performance.now(), count]);
};
new MutationObserver(look).observe(document, {childList: true, subtree: true, characterData: true});
"""


def main() -> None:
    program = shutil.which("chromium")
    if program is None:
        print("live: there is no chromium; next: apt-get install chromium")
        return
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        os.environ["XDG_STATE_HOME"] = f"{folder}/state"
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        body = {
            "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}",
            "paint": first_paint(browser.new_page(), Path(folder) / "paint"),
            "late": lateness(browser.new_page(), Path(folder) / "late"),
        }
        browser.close()
    (PAGES / "live.json").write_text(json.dumps(body, sort_keys=True) + "\n")
    page = render(body)
    (PAGES / "live.md").write_text(page)
    print(page)


@contextmanager
def served(root: Path) -> Iterator[str]:
    """Serve a folder of runs; yields the address to open."""
    argv = [*WEFT, "serve", str(root), "--json"]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["url"]
    finally:
        process.terminate()
        process.wait()


def first_paint(page: Page, root: Path) -> dict[str, Any]:
    """Load the page of a large run repeatedly; return the times to first paint and to its rows."""
    argv = [sys.executable, "-m", "benchmarks.tiny", str(root / "many"), str(TASKS)]
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    paints, rows = [], []
    with served(root) as url:
        page.goto(url)
        page.click("text=many")
        for _ in range(LOADS):
            page.reload()
            page.locator("#task-table tr.row").nth(99).wait_for()
            rows.append(page.evaluate("performance.now()"))
            name = "first-contentful-paint"
            paints.append(page.evaluate(f"performance.getEntriesByName('{name}')[0].startTime"))
    return {"tasks": TASKS, "paint_ms": whole(paints), "rows_ms": whole(rows)}


def lateness(page: Page, root: Path) -> dict[str, Any]:
    """Return the milliseconds from the end of each task until the page shows it."""
    (root / "runs").mkdir(parents=True)
    (root / "slow.py").write_text(SLOW)
    argv = [*WEFT, "run", "slow.py:slow", "--out", "runs/slow", "--workers", "2", "-q"]
    page.add_init_script(NOTES)
    with served(root / "runs") as url:
        page.goto(url)
        process = subprocess.Popen(argv, cwd=root, stdout=subprocess.DEVNULL)
        page.click("text=slow", timeout=60_000)
        page.locator("#badge", has_text="verified").wait_for(timeout=120_000)
        shown_ms = page.evaluate("window.shown")
        assert process.wait() == 0
    with sqlite3.connect(root / "runs" / "slow" / "manifest.sqlite") as base:
        ends = [row[0] for row in base.execute("SELECT finished_at FROM tasks ORDER BY 1")]
    return {"late_ms": whole(late(ends, shown_ms))}


def whole(milliseconds: list[float]) -> list[int]:
    return [round(value) for value in milliseconds]


def late(ends_s: list[float], shown: list[list[float]]) -> list[float]:
    """Return how late each task was shown after its end, except those shown at first."""
    first = int(shown[0][1])
    delays = []
    for count, end_s in enumerate(ends_s[first:], first + 1):
        seen_ms = next(at_ms for at_ms, many in shown if many >= count)
        delays.append(seen_ms - 1000 * end_s)
    return delays


def render(body: dict[str, Any]) -> str:
    paint, late_ms = body["paint"], body["late"]["late_ms"]
    rows = [
        f"| {name} | {statistics.median(ms):.0f} | {max(ms):.0f} | {aim} |"
        for name, ms, aim in (
            ("first paint", paint["paint_ms"], "≤ 1000"),
            ("a hundred rows of the table", paint["rows_ms"], ""),
        )
    ]
    tail = statistics.quantiles(late_ms, n=20)[-1]
    return f"""# The live page

`python -m benchmarks live` on {body["machine"]}, in headless chromium.

A run of {paint["tasks"]:,} tasks, loaded {len(paint["paint_ms"])} times:

| milliseconds until | median | worst | target |
|---|---|---|---|
{chr(10).join(rows)}

A run under way, two workers, {len(late_ms)} tasks of 100 ms: from the end of a task, as the
manifest has it, to the page that counts it.

| milliseconds late | 95 % | worst | target |
|---|---|---|---|
| {statistics.median(late_ms):.0f} (median) | {tail:.0f} | {max(late_ms):.0f} | ≤ 1000 |
"""
