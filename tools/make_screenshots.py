"""Retake the screenshots in docs/images: small real runs, opened in a browser.

    python tools/make_screenshots.py             all pictures
    python tools/make_screenshots.py arc tree    those of the named runs
    python tools/make_screenshots.py --runs DIR  keep the runs in DIR, and reuse existing ones

Needs Debian's chromium. Knows commands and tabs, but not how a report is built.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
EXAMPLES = ROOT / "examples"
WEFT = (sys.executable, "-m", "weft.main")
COLOURS = 256
MAX_BYTES = 150_000
LIMIT_MS = 300_000
SETTLE_MS = 800
"""Time for a page to load its own content."""


@dataclass(frozen=True, slots=True)
class Made:
    """A run: the initial contents of its folder, and its commands; the last one writes `run`."""

    folder: Path | None
    commands: tuple[str, ...]
    files: Mapping[str, object] = field(default_factory=dict)
    """Further files to write: text as it is, anything else as JSON."""


@dataclass(frozen=True, slots=True)
class Shot:
    """A screenshot: its run, the tab to open (none: top of the page), its size, and its theme."""

    name: str
    run: str
    tab: str = ""
    width: int = 1200
    height: int = 860
    dark: bool = False
    live: str = ""
    """Shows the live page instead: `list`, `run`, or `compare` with the other runs."""


def tutorial_search() -> str:
    """Return the search that the tutorial shows."""
    page = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
    return page.partition("```python\n")[2].partition("```")[0]


def sleeper(number: int) -> dict[str, object]:
    """Return a job that sleeps for a while; one of them fails."""
    rest = f"sleep {0.6 + 0.17 * (number * 5 % 11):.2f}"
    end = "exit 3" if number == 9 else f"echo '{{\"job\": {number}}}'"
    return {"job_id": f"fold-{number:02}", "argv": ["sh", "-c", f"{rest}; {end}"]}


def rig(name: str, gpus: int) -> dict[str, object]:
    """Return a node with some GPUs."""
    return {"hostname": name, "gpu_count": gpus}


TUNE = """\
import math

import weft

OPTIMIZERS = ("adam", "rmsprop", "sgd")


@weft.task
def error(lr: float, depth: int, dropout: float, optimizer: str) -> float:
    rest = 0.03 * abs(depth - 6) + 0.05 * OPTIMIZERS.index(optimizer) + (dropout - 0.2) ** 2
    sum(math.sin(i) for i in range(int(lr * 2_000_000)))
    return round(0.1 * (math.log10(lr) + 2.5) ** 2 + rest, 5)


@weft.search(version=1)
def tune(trials: int):
    yield weft.Plan(total=trials, best="min")
    calls = []
    for i in range(trials):
        lr, dropout = 10 ** -(1 + 3 * (i * 7919 % 1000) / 1000), i * 131 % 50 / 100
        calls.append(error(lr, 2 + i * 31 % 8, dropout, OPTIMIZERS[i % 3]))
    results = yield calls
    best = min(results, key=lambda r: (r.value, r.index))
    return {"best_error": best.value, **best.args}
"""
MANY = '{"candidates": 64}'
SMALL = "--window-trials 8 --scorer-trials 4 --model-trials 4"
RUNS = {
    "tutorial": Made(
        None,
        (f"run buckets.py:best_multiplier --args '{MANY}' --workers 4 --out run",),
        {"buckets.py": tutorial_search()},
    ),
    "tune": Made(
        None,
        (
            "run tune.py:tune --args '{\"trials\": 120}' --workers 2 --out first",
            "run tune.py:tune --args '{\"trials\": 300}' --workers 2 --out run --tag nightly",
        ),
        {"tune.py": TUNE},
    ),
    "arc": Made(
        None, ("arc solve 007bbfb7 39a8645d 00d62c1b --max-programs 6000 --workers 2 --out run",)
    ),
    "tree": Made(
        EXAMPLES / "tree" / "compressor",
        ("tree run tree.toml --beam-width 2 --max-depth 2 --max-parallel-evals 2 --out run",),
    ),
    "prng": Made(
        None,
        (
            "prng generate java --seed 20240229 --skip 137 --start 1000 --corrupt 0.05 -n 100",
            "prng analyse draws.csv --families java --out run",
        ),
    ),
    "pipeline": Made(
        None,
        (
            "prng generate java --seed 314 -n 240 --corrupt 0.05",
            f"prng pipeline draws.csv --seeds 400 --skips 0:1 --starts 0:240 {SMALL} --out run",
        ),
    ),
    "jobs": Made(
        None,
        ("jobs run jobs.json --nodes nodes.json --simulate-nodes --out run",),
        {
            "jobs.json": [sleeper(number) for number in range(22)],
            "nodes.json": {"nodes": [rig("rig1", 2), rig("rig2", 3), rig("rig3", 3)]},
        },
    ),
}
SHOTS = (
    Shot("report-tutorial", "tutorial", height=500),
    Shot("report-top", "tree"),
    Shot("report-phone", "tree", "Timeline", width=390, height=844, dark=True),
    Shot("report-values", "tune", "Values", height=1150),
    Shot("live-run", "tune", "Timeline", live="run"),
    Shot("live-phone", "tune", "Progress", width=390, height=844, dark=True, live="run"),
    Shot("live-compare", "tune", live="compare", height=900),
    Shot("report-arc", "arc", "Puzzles"),
    Shot("report-tree", "tree", "Tree"),
    Shot("report-prng", "prng", "Verdict"),
    Shot("report-pipeline", "pipeline", "Pipeline"),
    Shot("report-jobs", "jobs", "Jobs", height=640),
    Shot("live-list", "jobs", live="list", height=560),
)


def main(argv: list[str]) -> int:
    """Execute the named runs, or all, and take their screenshots."""
    parser = argparse.ArgumentParser(prog="make_screenshots.py")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(RUNS))
    parser.add_argument("--runs", type=Path, metavar="DIR")
    options = parser.parse_args(argv)
    unknown = [name for name in options.names if name not in RUNS]
    if unknown:
        print(f"no run {unknown[0]!r}; there are: {', '.join(RUNS)}", file=sys.stderr)
        return 2
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place, opened() as browser:
        folder = options.runs or Path(place) / "runs"
        folder.mkdir(exist_ok=True)
        for name in options.names or RUNS:
            report = make(RUNS[name], folder / name)
            with served(folder) as address:
                for shot in (shot for shot in SHOTS if shot.run == name):
                    print(f"wrote {take(browser, shot, report, address).relative_to(ROOT)}")
    return 0


def make(made: Made, folder: Path) -> Path:
    """Execute the commands in a separate folder; what `generate` prints becomes draws.csv."""
    is_there = (folder / "run").is_dir()
    if not is_there and made.folder is None:
        folder.mkdir()
    elif not is_there:
        shutil.copytree(made.folder, folder)
    for name, body in made.files.items():
        (folder / name).write_text(body if isinstance(body, str) else json.dumps(body))
    for line in (*(() if is_there else made.commands), "report run"):
        words = shlex.split(line)
        result = subprocess.run([*WEFT, *words], check=False, cwd=folder, stdout=subprocess.PIPE)
        if words[:2] == ["prng", "generate"]:
            (folder / "draws.csv").write_bytes(result.stdout)
    return folder / "run" / "report.html"


@contextmanager
def opened() -> Iterator[Browser]:
    """Open Debian's browser."""
    program = shutil.which("chromium")
    if program is None:
        raise SystemExit("there is no chromium; next: apt-get install chromium")
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the live page of all runs so far; yields its address."""
    words = [*WEFT, "serve", str(folder), "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.terminate()


def open_live(page: Page, shot: Shot, address: str) -> None:
    """Navigate to a live page as a person would: from the list."""
    page.goto(address)
    page.locator("#runs tr").first.wait_for()
    if shot.live == "compare":
        page.get_by_label("Find").fill(f"{shot.run}/")
        for box in page.locator("#runs .choose:visible").all():
            box.check()
        page.click("#pair")
        page.locator(".times li").first.wait_for()
    elif shot.live == "run":
        page.click(f"#runs a:text-is('{shot.run}/run')")
        page.locator("#badge", has_text="verified").wait_for()


def take(browser: Browser, shot: Shot, report: Path, address: str) -> Path:
    """Open a report or a live page at a tab; save what the window shows."""
    context = browser.new_context(
        viewport={"width": shot.width, "height": shot.height},
        color_scheme="dark" if shot.dark else "light",
    )
    context.set_default_timeout(LIMIT_MS)
    page = context.new_page()
    if shot.live:
        open_live(page, shot, address)
    else:
        page.goto(report.as_uri())
    if shot.tab:
        page.get_by_role("tab", name=shot.tab).click()
        page.evaluate("document.querySelector('.tabs').scrollIntoView()")
    page.wait_for_timeout(SETTLE_MS)
    path = IMAGES / f"{shot.name}.png"
    page.screenshot(path=path)
    context.close()
    shrink(path)
    return path


def shrink(path: Path) -> None:
    """Reduce a picture to a palette of its most frequent colours, each of which stays exact."""
    with Image.open(path) as picture:
        flat = picture.convert("RGB")
        counts = sorted(flat.getcolors(flat.width * flat.height) or [], reverse=True)[:COLOURS]
        palette = Image.new("P", (1, 1))
        palette.putpalette([level for _, colour in counts for level in colour])
        few = flat.quantize(palette=palette, dither=Image.Dither.NONE)
        few.save(path, optimize=True)
    assert path.stat().st_size <= MAX_BYTES, f"{path.name} is too large"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
