"""Deterministic simulation: the real coordinator and storage, virtual clock and workers.

    python -m weft.testing.simulator --seeds 0:1000        any number of seeds
    python -m weft.testing.simulator --seeds 42            one seed again, the same way

A seed decides the search, the order of completion and every fault: crashes between any two
durable steps (also torn writes), lost workers, late and repeated results, hangs, temporary
failures, stop requests. After each session and at the end the checker looks at everything.
The simulator is also the independent reference: with no faults it runs tasks in order.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from weft.coordinator.journal import Journal
from weft.coordinator.loop import Coordinator
from weft.coordinator.making import LazyLimits
from weft.coordinator.placement import PLACEMENTS, Placement
from weft.coordinator.policy import Policy
from weft.model.slots import Node
from weft.model.tasks import SearchCall
from weft.runs.decision import Decision
from weft.runs.opening import OpenRun, Place, create_run, reopen_run
from weft.runs.session import new_machine, seal
from weft.storage.folder import RunFile, RunFolder
from weft.storage.heads import HeadsList
from weft.testing.checker import Checker
from weft.testing.lines import SimLines
from weft.testing.simbackend import SimBackend
from weft.testing.simworld import MIN_FAULTS, Faults, SimClock, SimCrash, SimDisk
from weft.testing.workload import mixed_steps
from weft.worker.context import WorkerPlace
from weft.worker.execute import Executor

MAX_CRASHES = 3
SHAPES = (7, 12, 13, 31, 36, 43, 44, 58)
"""Searches of 30 to 60 tasks with every kind of step, so that each has room for 20 faults."""
LARGE_SHAPES = (23, 26, 29, 40, 47, 49, 56, 57)
"""Searches of 50 to 150 tasks in up to 13 lanes; they take twice as long."""
LARGE_EVERY = 9
"""One seed in this many has a large shape."""
NODES = (Node("one", cpus=1), Node("three", cpus=3, max_concurrent=2))
LAZY = LazyLimits(window=5, reach=9, first=3)
POLICY = Policy(retries=100, timeout_s=3.0)


class NoSources:
    """The simulation's code does not change."""

    def use(self, name: str, path: str) -> None:
        """Accept every function."""


@dataclass(slots=True)
class Simulation:
    """One run of one search under one seed, over as many sessions as it takes."""

    search: SearchCall
    folder: RunFolder
    heads: Path
    chance: random.Random
    faults: Faults
    crash_steps: list[int]
    """Durable steps, counted per session, at which the first sessions crash."""
    checker: Checker = field(init=False)
    crashes: int = 0
    sessions: int = 0
    durable_steps: int = 0

    def __post_init__(self) -> None:
        self.checker = Checker(self.folder, self.heads)

    def run(self) -> str:
        """Run to the end through all faults; return the ledger's SHA-256."""
        clock = SimClock()
        finished = False
        while not finished:
            assert self.sessions < 200, "the run does not end"
            disk = SimDisk(self.chance)
            disk.crash_at = self.crash_steps.pop(0) if self.crash_steps else None
            self.sessions += 1
            try:
                finished = self._session(disk, clock)
            except SimCrash:
                self.crashes += 1
                self.faults.count += 1
            self.durable_steps = disk.steps
            self.checker.after_session()
        return self.checker.final()

    def _session(self, disk: SimDisk, clock: SimClock) -> bool:
        decision = Decision(self.search, seed=7, policy=POLICY)
        opened: OpenRun | None = None
        try:
            opened = self._open(decision, disk)
            opened.writer.helper = SimLines() if self.sessions % 2 else None
            journal = Journal(opened.manifest, opened.objects, clock, NoSources())
            executor = Executor(7, WorkerPlace(self.folder.objects, opened.objects.staging))
            backend = SimBackend(self.chance, clock, executor, self.checker, self.faults)
            stop_after = self._stop_after()
            turns = iter(range(1, 10**9))
            placement = Placement(NODES, PLACEMENTS[self.faults.pick(len(PLACEMENTS))])
            machine = new_machine(opened, decision, journal, LAZY, placement)
            coordinator = Coordinator(
                machine, journal, opened.writer, backend, clock, lambda: next(turns) > stop_after
            )
            if not coordinator.run():
                self.faults.count += 1
                return False
            seal(opened, clock.wall())
            return True
        finally:
            if opened is not None:
                opened.writer.ledger.close()
                opened.manifest.close()

    def _stop_after(self) -> int:
        """Return after how many turns to stop, as on Ctrl-C; only some sessions stop early."""
        if self.faults.strikes("stop"):
            return self.chance.randrange(1, 60)
        return 10**9

    def _open(self, decision: Decision, disk: SimDisk) -> OpenRun:
        place = Place(disk, "sim", HeadsList(self.heads, disk))
        genesis = decision.genesis_text()
        if self.folder.is_run():
            return reopen_run(self.folder, genesis, {}, (), place, "unused")
        run_file = RunFile(run_id="5e55", search=self.search.name, search_path="")
        return create_run(self.folder, run_file, genesis, {}, place)


@dataclass(frozen=True, slots=True)
class SimReport:
    """The outcome of one seed."""

    seed: int
    digest: str
    faults: int
    crashes: int
    sessions: int


_references: dict[str, tuple[str, int]] = {}


def reference(search: SearchCall) -> tuple[str, int]:
    """Return the ledger digest and number of durable steps of a search's fault-free run."""
    name = Decision(search).genesis_text()
    if name not in _references:
        with scratch_folder() as root:
            calm = _simulation(search, root, random.Random(0), Faults(None), [])
            _references[name] = (calm.run(), calm.durable_steps)
    return _references[name]


def shape_of(seed: int) -> int:
    """Return the shape of a seed's search: each small one in turn, now and then a large one."""
    cycle, place = divmod(seed, LARGE_EVERY)
    is_large = place == LARGE_EVERY - 1
    return LARGE_SHAPES[cycle % len(LARGE_SHAPES)] if is_large else SHAPES[seed % len(SHAPES)]


def simulate(seed: int) -> SimReport:
    """Run one seed; raises AssertionError on any violation."""
    chance = random.Random(seed)
    search = mixed_steps(shape_of(seed))
    expected, steps = reference(search)
    crash_steps = [chance.randrange(1, steps) for _ in range(chance.randrange(MAX_CRASHES + 1))]
    with scratch_folder() as root:
        simulation = _simulation(search, root, chance, Faults(chance), crash_steps)
        digest = simulation.run()
        assert digest == expected, f"seed {seed}: ledger {digest}, without faults {expected}"
        faults = simulation.faults.count
        assert faults >= MIN_FAULTS, f"seed {seed}: only {faults} faults"
        return SimReport(seed, digest, faults, simulation.crashes, simulation.sessions)


def crash_everywhere(search: SearchCall, every: int = 1) -> tuple[str, int]:
    """Crash once at each durable step of an otherwise calm run; return digest and steps.

    With `every`, only at every n-th step.
    """
    expected, steps = reference(search)
    for step in range(1, steps + 1, every):
        with scratch_folder() as root:
            calm = _simulation(search, root, random.Random(step), Faults(None), [step])
            assert calm.run() == expected, f"crash at durable step {step} of {search.name}"
            assert calm.crashes == 1, f"no crash at durable step {step} of {search.name}"
    return expected, steps


def _simulation(
    search: SearchCall, root: Path, chance: random.Random, faults: Faults, crash_steps: list[int]
) -> Simulation:
    folder = RunFolder(root / "run")
    folder.path.mkdir()
    return Simulation(search, folder, root / "heads", chance, faults, crash_steps)


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield a temporary folder, in memory if possible: fsync is tested elsewhere."""
    memory = Path("/dev/shm")  # noqa: S108
    path = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
    try:
        yield path
    finally:
        shutil.rmtree(path)


def main() -> int:
    """Run the requested seeds and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, prog="weft.testing.simulator")
    parser.add_argument("--seeds", default="0:1000", help="one seed, or FIRST:END")
    first, _, end = parser.parse_args().seeds.partition(":")
    seeds = range(int(first), int(end) if end else int(first) + 1)
    faults: list[int] = []
    crashes = 0
    for seed in seeds:
        try:
            report = simulate(seed)
        except BaseException:
            print(f"failed: python -m weft.testing.simulator --seeds {seed}", file=sys.stderr)
            raise
        faults.append(report.faults)
        crashes += report.crashes
    print(
        f"{len(seeds)} seeds, 0 violations, {min(faults)} to {max(faults)} faults each,"
        f" {crashes} crashes"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
