"""F12: the wall clock jumps by weeks during a run; only the recorded times are affected."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.support.tools import require_tool
from tests.workers.lab import Lab, ledger_digest, print_figures, rows

JUMPS = ("+40d", "-40d", "+0d", "-1d")
EVERY_S = 0.04
DAY_S = 86400.0


@pytest.fixture
def preload() -> str:
    """The library that fakes the time, as its own command would load it."""
    faketime = require_tool("faketime")
    output = subprocess.run(
        [faketime, "-f", "+0d", "env"], check=True, capture_output=True, text=True
    ).stdout
    return next(line for line in output.splitlines() if line.startswith("LD_PRELOAD=")).partition(
        "="
    )[2]


def start(search: str, args: dict[str, Any], out: Path, env: dict[str, str]) -> Any:
    driver = Path(__file__).with_name("driver.py")
    how = json.dumps({"out": str(out), "workers": 2})
    return subprocess.Popen(
        [sys.executable, driver, search, json.dumps(args), how],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **env},
    )


def run_jumping(
    lab: Lab,
    preload: str,
    search: str,
    args: dict[str, Any],
    name: str,
    offsets: Iterable[str] = (),
) -> tuple[dict[str, Any], int, float]:
    """Run while the offset of the wall clock changes every few milliseconds."""
    file = lab.folder / "offset"
    file.write_text(JUMPS[0])
    env = {"LD_PRELOAD": preload, "FAKETIME_TIMESTAMP_FILE": str(file), "FAKETIME_NO_CACHE": "1",
           "DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
           "PYTHONPATH": str(Path(__file__).parent / "steady")}  # fmt: skip
    jumps, start_s = 0, time.monotonic()
    with start(search, args, lab.folder / name, env) as process:
        for offset in offsets or itertools.cycle(JUMPS):
            if process.poll() is not None:
                break
            fresh = lab.folder / "fresh"
            fresh.write_text(offset)
            fresh.replace(file)
            jumps += 1
            time.sleep(EVERY_S)
        stdout, stderr = process.communicate()
    assert process.returncode == 0, stderr
    return json.loads(stdout), jumps, time.monotonic() - start_s


def clock_span(run: Path) -> tuple[float, int]:
    """Days between the first and last time in the manifest, and how often time went backwards."""
    times = [at for row in rows(run, "SELECT queued_at, started_at, finished_at FROM tasks")
             for at in row if at]  # fmt: skip
    ordered = [at for (at,) in rows(run, "SELECT finished_at FROM tasks WHERE finished_at > 0")]
    back = sum(later < earlier - DAY_S for earlier, later in itertools.pairwise(ordered))
    return (max(times) - min(times)) / DAY_S, back


def test_clock_that_jumps_changes_no_record(lab: Lab, preload: str) -> None:
    args = {"size": 40, "lazy_size": 60, "pause_ms": 60}
    with start("loom:loom", args, lab.folder / "calm", {}) as process:
        calm = json.loads(process.communicate()[0])
    run, jumps, _ = run_jumping(lab, preload, "loom:loom", args, "jumping")
    days, back = clock_span(lab.folder / "jumping")
    print_figures("F12 ledger", jumps=jumps, days=round(days), backwards=back)
    assert days > 30
    assert back > 0
    assert run["head"] == calm["head"]
    assert ledger_digest(lab.folder / "jumping") == ledger_digest(lab.folder / "calm")


def test_limits_follow_the_clock_that_does_not_jump(lab: Lab, preload: str) -> None:
    run, jumps, spent_s = run_jumping(lab, preload, "trials:timed", {"count": 6, "ms": 400}, "run")
    days, _ = clock_span(lab.folder / "run")
    print_figures("F12 limits", jumps=jumps, days=round(days), seconds=round(spent_s, 1))
    assert days > 30
    assert run["answer"] == ["timeout", *range(6)]
    assert spent_s < 60


def test_limits_by_the_wall_clock_are_noticed(
    lab: Lab, preload: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_TRIAL_WALL_LIMITS", "1")
    ever_later = (f"+{40 * n}d" for n in itertools.count(1))
    args = {"count": 6, "ms": 400}
    run, _, _ = run_jumping(lab, preload, "trials:timed", args, "run", ever_later)
    assert run["answer"] != ["timeout", *range(6)]
