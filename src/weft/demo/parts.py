"""The first minute, carried out: four small searches, each with one worker and with two.

    part ─┬─► a run with 1 worker ──┐
          └─► a run with 2 workers ─┴─► two heads, one report

One of the runs is begun by a process of its own that is killed on the way, and then gone on
with. What is printed about all this is decided elsewhere.
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
from typing import Any

import weft
from weft.cluster import host
from weft.coordinator.loop import Watcher
from weft.errors import FileInvalid, RunFolderInvalid, WorldError
from weft.runs.execution import Execution
from weft.runs.outcome import Run
from weft.runs.resume import resume
from weft.runs.run import real_place
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis, Skips
from weft.searches.prng.planting import PlantedHistory, make_history
from weft.storage.folder import RunFolder

FOLDERS = {1: "one-worker", 2: "two-workers"}
PICTURE = "weft.demo.picture:picture"
KILL_AT = 30
"""Records in the ledger when the process is killed: of 188, so that most is still to do."""
LOOK_EVERY_S = 0.005
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
"""No idea whose failure is told in git's words or by a clock: the head is to be the same
everywhere."""
LIMITS = {
    "beam_width": 2, "max_depth": 2, "score.timeout_s": 120.0, "eval_timeout_seconds": 240.0,
}  # fmt: skip

Say = Callable[[str], None]
Carry = Callable[[Path, int, Watcher | None], Run]
"""Runs a search into a folder with so many workers."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of the searches that are shown."""

    name: str
    title: str
    carry: Carry
    killed: str = ""
    """The search, by name, whose second run another process begins, to be killed on the way."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What came of a part: its two runs, and the report of the second."""

    part: Part
    one: Run
    two: Run
    killed: bool
    report: Path

    @property
    def equal(self) -> bool:
        """Whether both runs decided the same."""
        return self.one.head == self.two.head

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "name": self.part.name,
            "equal": self.equal,
            "heads": [self.one.head, self.two.head],
            "killed": self.killed,
            "report": str(self.report),
            "runs": [self.one.to_dict(), self.two.to_dict()],
        }


def fresh(place: Path) -> None:
    """Refuse a file, and a folder with an earlier demo: this shows work done, not read back."""
    if place.exists() and not place.is_dir():
        raise RunFolderInvalid(f"{place} is not a folder", hint="choose another --out")
    if any((place / part.name).exists() for part in PARTS):
        raise RunFolderInvalid(f"{place} holds an earlier demo", hint="choose a new --out")


def perform(part: Part, place: Path, watcher: Watcher | None, say: Say) -> Shown:
    """Run a part with one worker, then with two, and write the report of the second run."""
    outs = {workers: place / part.name / name for workers, name in FOLDERS.items()}
    one = part.carry(outs[1], 1, watcher)
    killed = bool(part.killed) and _kill_midway(part.killed, outs[2], 2, say)
    two = resume(outs[2], watcher=watcher) if killed else part.carry(outs[2], 2, watcher)
    return Shown(part, one, two, killed, _report(two.out))


def planted() -> PlantedHistory:
    """Return the draws whose seed is to be found, some of them wrong, with their truth."""
    return make_history(SECRET, DRAWS, WRONG, chance_seed=0)


def true_next(count: int) -> list[int]:
    """Return the draws that come after the planted ones."""
    return generate(SECRET, DRAWS + count)[DRAWS:]


# -- the parts ----------------------------------------------------------------------------------


def _picture(out: Path, workers: int, watcher: Watcher | None) -> Run:
    from weft.demo.picture import picture  # noqa: PLC0415
    from weft.runs.run import run  # noqa: PLC0415

    return run(picture(), out=out, workers=workers, watcher=watcher)


def _puzzle(out: Path, workers: int, watcher: Watcher | None) -> Run:
    from weft.searches.arc.data import load  # noqa: PLC0415 - brings in numba
    from weft.searches.arc.request import ArcRequest, solve  # noqa: PLC0415
    from weft.searches.arc.synthesis.budget import SearchBudget  # noqa: PLC0415

    tasks = load("arc-agi-1").select((PUZZLE,))
    request = ArcRequest(tasks.tasks, SearchBudget(max_programs=PROGRAMS))
    return solve(request, Execution(out, workers), watcher)


def _tree(out: Path, workers: int, watcher: Watcher | None) -> Run:
    from weft.searches.tree.configfile import Override  # noqa: PLC0415
    from weft.searches.tree.request import read_request  # noqa: PLC0415
    from weft.searches.tree.run import execute_tree  # noqa: PLC0415

    config = _project(out.parent / "project") / "tree.toml"
    values = {**LIMITS, "max_parallel_evals": workers}
    overrides = [Override(name, value) for name, value in values.items()]
    return execute_tree(read_request(config, overrides, out=out), Execution(out), watcher)


def _seed(out: Path, workers: int, watcher: Watcher | None) -> Run:
    from weft.searches.prng.history import History  # noqa: PLC0415
    from weft.searches.prng.request import AnalyseRequest  # noqa: PLC0415
    from weft.searches.prng.run import execute  # noqa: PLC0415

    request = AnalyseRequest(
        1000, ("java",), ("bounded",), skips=(0, 20), starts=(0, 0), predict=12
    )
    execution = Execution(out, workers, device="cpu")
    return execute(History(planted().draws), request, execution, watcher)


PARTS = (
    Part("picture", "a picture rebuilt from rectangles", _picture, killed=PICTURE),
    Part("puzzle", f"a program for the puzzle {PUZZLE} of ARC-AGI-1", _puzzle),
    Part("tree", "a compressor improved by trying patches on it", _tree),
    Part("seed", "the seed of java.util.Random behind some draws", _seed),
)


def _project(place: Path) -> Path:
    """Copy the files and ideas that are used, unless the first run has done so."""
    if not place.exists():
        source = _example()
        for name in FILES:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, place / name)
    return place


def _example() -> Path:
    """Find the example: in the checkout that we run from, or where a wheel puts it."""
    package = Path(weft.__file__).resolve().parent
    for base in (package.parents[1] / "examples", package.parent / "weft_examples"):
        if (base / PROJECT / "tree.toml").is_file():
            return base / PROJECT
    raise FileInvalid(f"{PROJECT} is not beside this installation", hint="install Weft again")


# -- the kill -----------------------------------------------------------------------------------


def _kill_midway(search: str, out: Path, workers: int, say: Say) -> bool:
    """Begin a run in another process and kill that; false if it was over before."""
    words = ["run", search, "--out", str(out), "--workers", str(workers), "--quiet"]
    child = subprocess.Popen(
        [sys.executable, "-m", "weft.main", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=host.worker_environment(),
    )
    try:
        while child.poll() is None and _records(out) < KILL_AT:
            time.sleep(LOOK_EVERY_S)
        ended = child.returncode
    finally:
        child.kill()
        child.wait()
    if ended:
        raise WorldError(f"the run into {out} ended by itself, with code {ended}")
    if ended is None:
        said = f"{_records(out)} records written"
        say(f"the second run, process {child.pid}, is killed (SIGKILL) with {said}")
        say(f"going on with it as in: weft resume {shlex.quote(str(out))}")
    return ended is None


def _records(out: Path) -> int:
    try:
        return RunFolder(out).ledger.read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def _report(run: Path) -> Path:
    from weft.inspect.report.page import write_report  # noqa: PLC0415 - slow to import

    return write_report(run, real_place().heads)
