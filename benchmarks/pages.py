"""Measure the pages of large runs in a real browser: report and live page, opened and used.

    python -m benchmarks pages [--tasks N,…] [--runs DIR]

Executes a search with four arguments. For each size: how long `weft report` takes and how large its
page is; then, for the report opened from disk and for the live page, the time until the first
paint, until all charts are drawn, and until the next frame after each of several interactions.
`--runs` keeps the runs in DIR, where a later call reuses them. Sizes that are not measured keep
their figures. Needs Debian's chromium.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

import weft
from benchmarks import machine
from benchmarks.live import PAGES, WEFT, served

TASKS = (100_000, 1_000_000)
OPENINGS = 3
LIMIT_MS = 600_000
PAINT_MS, INTERACTION_MS, REPORT_BYTES = 1000, 100, 2_000_000
KINDS = ("a", "bb", "ccc")
NEXT_FRAME = "await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));"
TIMED = """async () => {
  const times = [];
  for (const step of STEPS) {
    const start = performance.now();
    step();
    NEXT_FRAME
    times.push(performance.now() - start);
  }
  return times;
}""".replace("NEXT_FRAME", NEXT_FRAME)
SET = """(label, text) => () => {
  const field = document.querySelector(`[aria-label="${label}"]`);
  field.value = text;
  field.dispatchEvent(new Event('change'));
}"""
POINT = """(share) => () => {
  const plot = document.querySelector('#values .plot'), box = plot.getBoundingClientRect();
  plot.dispatchEvent(new PointerEvent('pointermove', {bubbles: true,
    clientX: box.left + share * box.width, clientY: box.top + 150}));
}"""
PRESS = "(key) => () => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key}))"
INTERACTIONS = {
    "filter by an argument": f"['0.5', '0.4', '0.2', ''].map((t) => ({SET})('x, most', t))",
    "hover over a chart": f"[0.2, 0.4, 0.6, 0.8].map({POINT})",
    "zoom into a chart": (
        "(document.querySelector('#values .plot').focus(),"
        f" ['+', '+', 'ArrowRight', '0'].map({PRESS}))"
    ),
    "open another view": (
        "['timeline', 'progress', 'tasks', 'values']"
        ".map((name) => () => document.getElementById('tab-' + name).click())"
    ),
}


@weft.task
def loss(x: float, y: float, depth: int, kind: str) -> float:
    return (x - 0.3) ** 2 + (y - 0.6) ** 2 * 0.5 + depth * 0.01 + len(kind) * 0.02


def _spread(number: int, factor: int) -> float:
    """Return a number from 0 to 1; successive tasks get distant numbers."""
    return (number * 2654435761 * factor) % 4294967291 / 4294967291


def _call(number: int) -> Any:
    return loss(_spread(number, 1), _spread(number, 7919), number % 12, KINDS[number % 3])


@weft.search(version=1)
def scan(count: int):
    """Evaluate one lazy round of cheap losses."""
    yield weft.Plan(total=count, best="min")
    results = yield weft.lazy(count, _call)
    return min((r.value, r.index) for r in results)[1]


def main(argv: Sequence[str] = ()) -> None:
    options = _options(argv)
    program = shutil.which("chromium")
    if program is None:
        print("pages: there is no chromium; next: apt-get install chromium")
        return
    path = PAGES / "pages.json"
    body = json.loads(path.read_text()) if path.is_file() else {"sizes": {}}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        os.environ["XDG_STATE_HOME"] = f"{folder}/state"
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for tasks in options.tasks:
            runs = (options.runs or Path(folder)) / str(tasks)
            body["sizes"][str(tasks)] = measure(browser, runs, tasks)
        browser.close()
    path.write_text(json.dumps(body, sort_keys=True) + "\n")
    (PAGES / "pages.md").write_text(page := render(body))
    print(page)


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks pages")
    sizes = lambda text: tuple(map(int, text.split(",")))  # noqa: E731
    parser.add_argument("--tasks", type=sizes, default=TASKS)
    parser.add_argument("--runs", type=Path)
    return parser.parse_args(argv)


def measure(browser: Browser, runs: Path, tasks: int) -> dict[str, Any]:
    """Execute the run unless it exists; write its report; open both pages."""
    run, report = runs / "run", runs.with_suffix(".html")
    if not run.exists():
        weft.run(scan(tasks), out=run, workers=2)
    start_s, cpu_s = time.monotonic(), _children_cpu_s()
    subprocess.run([*WEFT, "report", str(run), "--out", str(report)], check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    facts = {
        "machine": machine.describe(),
        "report_s": time.monotonic() - start_s,
        "report_cpu_s": _children_cpu_s() - cpu_s,
        "report_bytes": report.stat().st_size,
        "report": opened(browser, lambda page: page.goto(report.as_uri())),
    }
    with served(runs) as url:
        address = url.partition("?")[0].rstrip("/")

        def open_live(page: Page) -> None:
            page.goto(url)
            place = page.locator("#runs a", has_text="run").first.get_attribute("href")
            page.goto(address + str(place))

        facts["live"] = opened(browser, open_live)
    return facts


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def opened(browser: Browser, show: Callable[[Page], object]) -> dict[str, Any]:
    """Open and use a page several times; return milliseconds, and its statement on its sample."""
    facts: dict[str, Any] = {"paint": [], "charts": [], "interactions": {}}
    for _ in range(OPENINGS):
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.set_default_timeout(LIMIT_MS)
        show(page)
        page.locator("#values .plot canvas").first.wait_for()
        facts["charts"].append(page.evaluate("performance.now()"))
        name = "first-contentful-paint"
        paint = f"performance.getEntriesByName('{name}')[0].startTime"
        facts["paint"].append(page.evaluate(paint))
        facts["says"] = page.locator("#values .said").inner_text()
        page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        for name, steps in INTERACTIONS.items():
            times = page.evaluate(TIMED.replace("STEPS", steps))
            facts["interactions"].setdefault(name, []).extend(times)
        page.close()
    return facts


# -- the page --------------------------------------------------------------------------------


def render(body: dict[str, Any]) -> str:
    parts = [_size(int(tasks), body["sizes"][tasks]) for tasks in sorted(body["sizes"], key=int)]
    return "# Pages of large runs\n\n" + "\n".join(parts)


def _size(tasks: int, facts: dict[str, Any]) -> str:
    rows = []
    for title, key in (("report", "report"), ("live page", "live")):
        measured = facts[key]
        rows.append(_row(f"{title}: first paint", measured["paint"], PAINT_MS))
        rows.append(_row(f"{title}: all charts drawn", measured["charts"], None))
        for name, times in measured["interactions"].items():
            rows.append(_row(f"{title}: {name}", times, INTERACTION_MS))
    size, cpu_s = facts["report_bytes"], facts["report_cpu_s"]
    return f"""## {tasks:,} tasks

`python -m benchmarks pages --tasks {tasks}` on {facts["machine"]}, in headless
chromium; each page opened {OPENINGS} times. An interaction is over with the next frame.

`weft report`: {size:,} bytes (target ≤ {REPORT_BYTES:,}), in {facts["report_s"]:.1f} s,
{cpu_s:.1f} s of CPU. The report says: “{facts["report"]["says"]}”;
the live page: “{facts["live"]["says"]}”.

| milliseconds | median | worst | target |
|---|---|---|---|
{chr(10).join(rows)}
"""


def _row(name: str, times: Sequence[float], target: int | None) -> str:
    aim = "" if target is None else f"≤ {target}"
    return f"| {name} | {statistics.median(times):.0f} | {max(times):.0f} | {aim} |"


if __name__ == "__main__":
    main(sys.argv[1:])
