"""Runs the demo: four small searches, each with one worker and with two.

    part ─┬─► a run with 1 worker ──┐
          └─► a run with 2 workers ─┴─► two heads, one report

One of the runs is started in a separate process that is killed halfway, and then resumed.
`cli` prints the results.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import weft
from weft.errors import FileInvalid, RunFolderInvalid, WorldError
from weft.lazy_imports import lazy_imports
from weft.runs import execution as executions
from weft.runs.execution import Execution
from weft.runs.outcome import Run
from weft.runs.resume import resume
from weft.runs.run import Watcher, real_place, run
from weft.searches.prng.families import java
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis, Skips
from weft.searches.prng.planting import PlantedHistory, make_history

with lazy_imports():
    from weft.demo import picture
    from weft.inspect import access
    from weft.inspect.report import page
    from weft.searches.arc import data as arc_data
    from weft.searches.arc import request as arc_request
    from weft.searches.arc.synthesis import budget
    from weft.searches.prng import history as prng_history
    from weft.searches.prng import request as prng_request
    from weft.searches.prng import run as prng_run
    from weft.searches.tree import configfile as tree_configfile
    from weft.searches.tree import request as tree_request
    from weft.searches.tree import run as tree_run

FOLDERS = {1: "one-worker", 2: "two-workers"}
PICTURE = "weft.demo.picture:picture"
KILL_AT = 30
"""Records in the ledger, out of 188, when the process is killed: most work is still to do."""
POLL_EVERY_S = 0.005
PUZZLE = "39a8645d"
PROGRAMS = 6000
DRAWS, WRONG = 80, 4
SECRET = Hypothesis("java", "bounded", 1000, seed=20240229, skips=Skips.constant(7))
PROJECT = Path("tree", "compressor")
FILES = (
    "tree.toml", "start/codec.py", "start/score.py", "start/text.txt",
    "ideas/adaptive-coder.patch", "ideas/block-sorting.patch", "ideas/capitals-escape.patch",
    "ideas/cheat-edits-the-scorer.patch", "ideas/delta.patch", "ideas/move-to-front.patch",
)  # fmt: skip
"""Without ideas whose failure depends on git's messages or on a clock: the head must be the same
everywhere."""
LIMITS = {
    "beam_width": 2, "max_depth": 2, "score.timeout_s": 120.0, "eval_timeout_seconds": 240.0,
}  # fmt: skip

Say = Callable[[str], None]
RunSearch = Callable[[Path, int, Watcher | None], Run]
"""Runs a search in a folder with this number of workers."""


@dataclass(frozen=True, slots=True)
class DemoPart:
    """One of the searches of the demo."""

    name: str
    title: str
    run_search: RunSearch
    killed: str = ""
    """The search, by name, whose second run is started in another process and killed halfway."""


@dataclass(frozen=True, slots=True)
class PartResult:
    """The two runs of a part, and the report of the second."""

    part: DemoPart
    one_worker: Run
    two_workers: Run
    killed: bool
    report: Path

    @property
    def equal(self) -> bool:
        """Whether both runs have the same head."""
        return self.one_worker.head == self.two_workers.head

    def to_dict(self) -> dict[str, weft.Value]:
        """JSON form."""
        return {
            "name": self.part.name,
            "equal": self.equal,
            "heads": [self.one_worker.head, self.two_workers.head],
            "killed": self.killed,
            "report": str(self.report),
            "runs": [self.one_worker.to_dict(), self.two_workers.to_dict()],
        }


def check_unused(place: Path) -> None:
    """Refuse a file, and a folder with an earlier demo: the demo shows new work."""
    if place.exists() and not place.is_dir():
        raise RunFolderInvalid(f"{place} is not a folder", hint="choose another --out")
    if any((place / part.name).exists() for part in PARTS):
        raise RunFolderInvalid(f"{place} contains an earlier demo", hint="choose a new --out")


def execute(part: DemoPart, place: Path, watcher: Watcher | None, say: Say) -> PartResult:
    """Run a part with one worker, then with two, and write the report of the second run."""
    outs = {workers: place / part.name / name for workers, name in FOLDERS.items()}
    one_worker = part.run_search(outs[1], 1, watcher)
    killed = bool(part.killed) and _kill_midway(part.killed, outs[2], 2, say)
    if killed:
        two_workers = resume(outs[2], watcher=watcher)
    else:
        two_workers = part.run_search(outs[2], 2, watcher)
    report = page.write_report(two_workers.out, real_place().heads)
    return PartResult(part, one_worker, two_workers, killed, report)


def planted() -> PlantedHistory:
    """Return the draws whose seed is to be found, some of them wrong, with the true seed."""
    return make_history(SECRET, DRAWS, WRONG, chance_seed=0)


def java_seed(state: int) -> int:
    """Return the argument of `new Random` for this state: the scrambling is its own inverse."""
    (seed,) = java.seeding(state)
    return seed


def true_next(count: int) -> list[int]:
    """Return the draws that come after the planted ones."""
    return generate(SECRET, DRAWS + count)[DRAWS:]


# -- the parts ----------------------------------------------------------------------------------


def _picture(out: Path, workers: int, watcher: Watcher | None) -> Run:
    return run(picture.picture(), out=out, workers=workers, watcher=watcher)


def _puzzle(out: Path, workers: int, watcher: Watcher | None) -> Run:
    tasks = arc_data.load("arc-agi-1").select((PUZZLE,))
    request = arc_request.ArcRequest(tasks.tasks, budget.SearchBudget(max_programs=PROGRAMS))
    with executions.preloaded(Execution(out, workers), "arc.solve") as execution:
        return arc_request.solve(request, execution, watcher)


def _tree(out: Path, workers: int, watcher: Watcher | None) -> Run:
    config = _project(out.parent / "project") / "tree.toml"
    values = {**LIMITS, "max_parallel_evals": workers}
    overrides = [tree_configfile.Override(name, value) for name, value in values.items()]
    request = tree_request.read_request(config, overrides, out=out)
    return tree_run.execute_tree(request, Execution(out), watcher)


def _seed(out: Path, workers: int, watcher: Watcher | None) -> Run:
    request = prng_request.AnalyseRequest(
        1000, ("java",), ("bounded",), skips=(0, 20), starts=(0, 0), predict=12
    )
    execution = Execution(out, workers, device="cpu")
    history = prng_history.History(planted().draws)
    return prng_run.execute(history, request, execution, watcher)


PARTS = (
    DemoPart("picture", "a picture rebuilt from rectangles", _picture, killed=PICTURE),
    DemoPart("puzzle", f"a program for the puzzle {PUZZLE} of ARC-AGI-1", _puzzle),
    DemoPart("tree", "a compressor improved by trying patches on it", _tree),
    DemoPart("seed", "the seed of java.util.Random behind some draws", _seed),
)


def _project(place: Path) -> Path:
    """Copy the files and ideas that are used, unless the first run has already done so."""
    if not place.exists():
        source = _example()
        for name in FILES:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, place / name)
    return place


def _example() -> Path:
    """Find the example: in the checkout that we run from, or where a wheel installs it."""
    package = Path(weft.__file__).resolve().parent
    for base in (package.parents[1] / "examples", package.parent / "weft_examples"):
        if (base / PROJECT / "tree.toml").is_file():
            return base / PROJECT
    raise FileInvalid(f"{PROJECT} is missing from this installation", hint="reinstall Weft")


# -- the kill -----------------------------------------------------------------------------------


def _kill_midway(search: str, out: Path, workers: int, say: Say) -> bool:
    """Start a run in another process and kill it; False if it finished first."""
    options = ["run", search, "--out", str(out), "--workers", str(workers), "--quiet"]
    child = subprocess.Popen(
        [sys.executable, "-m", "weft.main", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while child.poll() is None and _records(out) < KILL_AT:
            time.sleep(POLL_EVERY_S)
        exit_code = child.returncode
    finally:
        child.kill()
        child.wait()
    if exit_code:
        raise WorldError(f"the run into {out} ended by itself, with code {exit_code}")
    if exit_code is None:
        progress = f"{_records(out)} records written"
        say(f"the second run, process {child.pid}, is killed (SIGKILL) with {progress}")
        say(f"resuming it, as in: weft resume {shlex.quote(str(out))}")
    return exit_code is None


def _records(out: Path) -> int:
    return access.count_records(out)
