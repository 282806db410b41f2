"""Compare an eval by hand with the same eval by `weft tree`: what the engine adds.

By hand: `git worktree add`, apply the patch, commit, run the command, `git worktree remove`. Both
try the same ideas on the same files with the same command, alternating. The start-up of `weft`
itself, measured with one idea, is subtracted, so a figure is the cost of one more eval. CPU seconds
are those of all processes, including those that outlive their parents.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

WEFT = [sys.executable, "-m", "weft.main", "tree", "run"]
IDEAS = 40
TURNS = 3
SIZES = {"trivial": 3, "1,000 files": 1000}
PR_SET_CHILD_SUBREAPER = 36
PRINT = 'print("""{"score": 1}""")'
COMMAND = [sys.executable, "-I", "-c", PRINT]
CONFIG = """
files = "start"
ideas = "IDEAS"
direction = "max"
max_depth = 1
[score]
argv = ["{python}", "-I", "-c", 'COMMAND']
"""
PATCH = """--- a/a.txt
+++ b/a.txt
@@ -{at},3 +{at},3 @@
 line {first}
-line {second}
+line {second} changed
 line {third}
"""


def bare_twin(place: Path) -> list[dict[str, Any]]:
    """Measure both ways for every size."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    return [_measure(place / f"bare-{count}", name, count) for name, count in SIZES.items()]


def _measure(place: Path, name: str, count: int) -> dict[str, Any]:
    _plant(place, count)
    ratios: dict[str, list[float]] = {"cpu": [], "wall": []}
    ms: dict[str, list[float]] = {"bare_cpu": [], "bare_wall": [], "weft_cpu": [], "weft_wall": []}
    for turn in range(TURNS):
        bare = _timed(lambda: _by_hand(place))
        start = _timed(lambda turn=turn: _weft(place, "one", turn))
        whole = _timed(lambda turn=turn: _weft(place, "all", turn))
        for at, kind in enumerate(("cpu", "wall")):
            by_hand, by_weft = bare[at] / IDEAS, (whole[at] - start[at]) / (IDEAS - 1)
            ms[f"bare_{kind}"].append(1000 * by_hand)
            ms[f"weft_{kind}"].append(1000 * by_weft)
            ratios[kind].append(by_weft / by_hand)
    medians = {name: statistics.median(values) for name, values in ms.items()}
    compared = {f"{kind}_ratio": statistics.median(values) for kind, values in ratios.items()}
    return {"files": name, **medians, **compared}


def _timed(work: Any) -> tuple[float, float]:
    """Return the CPU and wall seconds of what a function starts, including orphans."""
    before, start_s = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    work()
    wall_s = time.perf_counter() - start_s
    with contextlib.suppress(ChildProcessError):
        while True:  # an orphan is now our child, and counts once it has been waited for
            os.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall_s


def _plant(place: Path, count: int) -> None:
    start = place / "start"
    for number in range(count - 1):
        (start / f"d{number // 50}").mkdir(parents=True, exist_ok=True)
        (start / f"d{number // 50}" / f"f{number}.txt").write_text(f"file {number}\n" * 40)
    (start / "a.txt").write_text("".join(f"line {n}\n" for n in range(4 * IDEAS + 4)))
    for folder, ideas in (("all", IDEAS), ("one", 1)):
        (place / folder).mkdir()
        for k in range(ideas):
            text = PATCH.format(at=4 * k + 1, first=4 * k, second=4 * k + 1, third=4 * k + 2)
            (place / folder / f"i{k:02}.patch").write_text(text)
        (place / f"{folder}.toml").write_text(
            CONFIG.replace("IDEAS", folder).replace("COMMAND", PRINT)
        )
    subprocess.run(["cp", "-r", start, place / "repo"], check=True)
    for words in (["init", "-q"], ["add", "-A"], [*WHO, "commit", "-qm", "root"]):
        subprocess.run(["git", *words], cwd=place / "repo", check=True)


WHO = ["-c", "user.name=a", "-c", "user.email=a@b.invalid"]


def _by_hand(place: Path) -> None:
    repo, work = place / "repo", place / "worktree"
    for patch in sorted((place / "all").iterdir()):
        git = ["git", "worktree", "add", "-q", "--detach", str(work), "HEAD"]
        subprocess.run(git, cwd=repo, check=True)
        subprocess.run(["git", "apply", "--index", str(patch)], cwd=work, check=True)
        subprocess.run(["git", *WHO, "commit", "-qm", patch.name], cwd=work, check=True)
        subprocess.run(COMMAND, cwd=work, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["git", "worktree", "remove", "--force", str(work)], cwd=repo, check=True)


def _weft(place: Path, ideas: str, turn: int) -> None:
    out = place / f"run-{ideas}-{turn}"
    argv = [*WEFT, str(place / f"{ideas}.toml"), "--out", str(out), "-q"]
    result = subprocess.run(argv, check=False, capture_output=True, text=True)
    assert result.returncode == 1, result.stderr  # no idea is better: all are scored alike


def rows(body: list[dict[str, Any]]) -> str:
    """Return the rows of the table."""
    return "\n".join(
        f"| {d['files']} | {d['bare_cpu']:.0f} | {d['weft_cpu']:.0f} | {d['cpu_ratio']:.2f} × |"
        f" {d['bare_wall']:.0f} | {d['weft_wall']:.0f} | {d['wall_ratio']:.2f} × |"
        for d in body
    )
