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
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from weft.coordinator.journal import Journal
from weft.coordinator.loop import Coordinator
from weft.coordinator.making import LazyLimits
from weft.coordinator.placement import PLACEMENTS, Placement
from weft.coordinator.policy import LOSSES_BEFORE_FAILED, Policy
from weft.model.attempts import (
    Assignment,
    BackendEvent,
    Completed,
    Finished,
    GivenBack,
    Lost,
    Started,
    Worker,
)
from weft.model.results import TaskError
from weft.model.slots import Node
from weft.model.tasks import SearchCall
from weft.runs.decision import Decision
from weft.runs.opening import OpenRun, Place, create_run, reopen_run
from weft.runs.session import new_machine, seal
from weft.storage.disk import Disk
from weft.storage.folder import RunFile, RunFolder
from weft.storage.heads import HeadsList
from weft.testing.checker import Checker
from weft.testing.lines import SimLines
from weft.testing.workload import mixed_steps
from weft.worker.context import WorkerPlace
from weft.worker.execute import Executor

MIN_FAULTS = 20
MAX_CRASHES = 3
SHAPES = (7, 12, 13, 31, 36, 43, 44, 58)
"""Searches of 30 to 60 tasks with every kind of step, so that 20 faults find room in each."""
LARGE_SHAPES = (23, 26, 29, 40, 47, 49, 56, 57)
"""Searches of 50 to 150 tasks in up to 13 lanes; they take twice as long."""
LARGE_EVERY = 9
"""One seed of so many has a large shape."""
NODES = (Node("one", cpus=1), Node("three", cpus=3, max_concurrent=2))
LAZY = LazyLimits(window=5, reach=9, first=3)
WORKER = Worker(pid=1, started=0.0, node="sim")
POLICY = Policy(retries=100, timeout_s=3.0)


class SimCrash(BaseException):
    """The process is gone, at this very step. No `except Exception` may survive it."""


class SimClock:
    """Time that passes only when the simulation advances it."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def wall(self) -> float:
        """Virtual wall clock."""
        return self.now_s

    def monotonic(self) -> float:
        """Virtual monotonic clock."""
        return self.now_s


class SimDisk(Disk):
    """A disk that dies before durable step number `crash_at`, sometimes in mid-write."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self._chance = chance
        self.steps = 0
        self.crash_at: int | None = None

    def step(self, name: str) -> None:
        """Count a durable step; crash if it is the chosen one."""
        self.steps += 1
        if self.steps == self.crash_at:
            raise SimCrash(name)

    def append(self, fd: int, data: bytes) -> None:
        """Append, or write only a part of it and die."""
        if self.steps + 1 == self.crash_at and self._chance.random() < 0.5:
            os.write(fd, data[: self._chance.randrange(len(data))])
        super().append(fd, data)


@dataclass(slots=True)
class SimBackend:
    """Virtual workers: runs tasks in this process, in a seeded order, with seeded faults."""

    chance: random.Random
    clock: SimClock
    executor: Executor
    checker: Checker
    faults: Faults
    slots: int = 4
    room: int = 6
    """Tasks a slot holds: one that may run, and a block behind it."""
    _queue: list[Assignment] = field(default_factory=list)
    _running: list[Assignment] = field(default_factory=list)
    _hung: list[Assignment] = field(default_factory=list)
    _ghosts: list[BackendEvent] = field(default_factory=list)

    def capacity(self) -> list[int]:
        """Room per slot."""
        loads = [0] * self.slots
        for assignment in (*self._queue, *self._running, *self._hung):
            loads[assignment.slot] += 1
        return [self.room - count for count in loads]

    def submit(self, assignments: Sequence[Assignment]) -> None:
        """Take assignments, the tasks of a block one by one."""
        self._queue.extend(task for assignment in assignments for task in assignment.each())

    def poll(self, timeout_s: float) -> list[BackendEvent]:
        """Let one thing happen; time passes."""
        self.clock.now_s += self.faults.pass_time((0.01, 0.001, timeout_s))
        if self._ghosts and self.chance.random() < 0.3:
            return [self._ghosts.pop(self.chance.randrange(len(self._ghosts)))]
        if len(self._queue) > 1 and self.faults.pick(3) == 1:
            return self._end_block()
        if self._queue and (not self._running or self.faults.pick(2) == 0):
            return self._start()
        if self._running:
            return self._end_one()
        self.clock.now_s += timeout_s
        return []

    def cancel(self, tickets: Sequence[int]) -> None:
        """Forget attempts."""
        for tasks in (self._queue, self._running, self._hung):
            tasks[:] = [a for a in tasks if a.ticket not in tickets]

    def close(self) -> None:
        """Nothing outlives the simulation."""

    def _start(self) -> list[BackendEvent]:
        if self.faults.strikes("given-back"):
            return [GivenBack(self._queue.pop().ticket)]
        assignment = self._queue.pop(self.faults.pick(len(self._queue)))
        self._running.append(assignment)
        return [Started(assignment.ticket, WORKER)]

    def _end_block(self) -> list[BackendEvent]:
        """Let a worker run what it holds of a block, as far as nothing happens on the way.

        Only ends are reported. A worker that dies takes the values that it had not sent with it:
        the task it ran is lost, those before and behind it come back.
        """
        block = self._consecutive()
        dies = self.faults.may_lose(_place(block[-1])) and self.faults.strikes("lost")
        self._queue = [a for a in self._queue if a not in block]
        if dies:
            *others, last = block
            back: list[BackendEvent] = [GivenBack(a.ticket) for a in reversed(others)]
            return [Started(last.ticket, WORKER), Lost(last.ticket, "simulated"), *back]
        self.faults.spared(_place(block[-1]))
        events: list[BackendEvent] = []
        values: list[str] = []
        for assignment in block:
            end = self._run(assignment)
            if isinstance(end, Finished) and end.value is not None and not end.staged:
                values.append(end.value)
                continue
            events += _completed(assignment.ticket, values)
            events += [Started(assignment.ticket, WORKER), end]
            values = []
        events += _completed(block[-1].ticket + 1, values)
        if self.faults.strikes("repeated"):
            self._ghosts += [e for e in events if isinstance(e, Completed)]
        return events

    def _consecutive(self) -> list[Assignment]:
        """Some waiting tasks of one slot and round whose tickets follow each other."""
        first = self._queue[self.faults.pick(len(self._queue))]
        block = [first]
        for assignment in sorted(self._queue, key=lambda a: a.ticket):
            follows = assignment.ticket == block[-1].ticket + 1
            if follows and assignment.slot == first.slot and _round(assignment) == _round(first):
                block.append(assignment)
        return block[: 1 + self.faults.pick(len(block))]

    def _end_one(self) -> list[BackendEvent]:
        assignment = self._running.pop(self.faults.pick(len(self._running)))
        place = _place(assignment)
        if self.faults.may_lose(place) and self.faults.strikes("lost"):
            if self.chance.random() < 0.5:  # the result of a lost attempt arrives late
                self._ghosts.append(self._run(assignment))
            return [Lost(assignment.ticket, "simulated")]
        if self.faults.strikes("hang"):
            self._hung.append(assignment)
            return []
        self.faults.spared(place)
        if self.faults.strikes("temporary"):
            error = TaskError("temporary", "run")
            return [Finished(assignment.ticket, error=error, retriable=True)]
        end = self._run(assignment)
        if self.faults.strikes("repeated"):
            self._ghosts.append(end)
        return [end]

    def _run(self, assignment: Assignment) -> BackendEvent:
        self.checker.executed(assignment)
        prepared = self.executor.prepare(assignment)
        if isinstance(prepared, Lost):
            return prepared
        return self.executor.run(assignment, *prepared)


def _place(assignment: Assignment) -> tuple[str, int, int]:
    return (assignment.lane, assignment.round, assignment.index)


def _round(assignment: Assignment) -> tuple[str, int]:
    return (assignment.lane, assignment.round)


def _completed(end: int, values: Sequence[str]) -> list[BackendEvent]:
    """The event of values whose tickets end before `end`; none for no values."""
    if not values:
        return []
    return [Completed(end - len(values), tuple(values), (0,) * len(values), WORKER)]


class Faults:
    """Which faults happen: none for the reference, at least MIN_FAULTS otherwise."""

    def __init__(self, chance: random.Random | None) -> None:
        self._chance = chance
        self._losses: dict[tuple[str, int, int], int] = {}
        self.count = 0

    def strikes(self, kind: str) -> bool:
        """Decide whether a fault of this kind happens now, and count it."""
        del kind
        if self._chance is None:
            return False
        likely = 0.5 if self.count < MIN_FAULTS + 5 else 0.05
        happens = self._chance.random() < likely
        self.count += happens
        return happens

    def pick(self, count: int) -> int:
        """Which of `count` goes first."""
        return 0 if self._chance is None else self._chance.randrange(count)

    def pass_time(self, choices_s: tuple[float, ...]) -> float:
        """How much time one poll takes."""
        return choices_s[self.pick(len(choices_s))]

    def may_lose(self, place: tuple[str, int, int]) -> bool:
        """Keep below the number of losses that would fail the task and change the ledger."""
        self._losses[place] = self._losses.get(place, 0) + 1
        return self._losses[place] < LOSSES_BEFORE_FAILED

    def spared(self, place: tuple[str, int, int]) -> None:
        """The attempt was not lost."""
        self._losses[place] = self._losses.get(place, 1) - 1


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
        """Some sessions get a stop request after a while, as Ctrl-C would give."""
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
    """What one seed did."""

    seed: int
    digest: str
    faults: int
    crashes: int
    sessions: int


_references: dict[str, tuple[str, int]] = {}


def reference(search: SearchCall) -> tuple[str, int]:
    """Ledger digest and number of durable steps of a search's fault-free run."""
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
    """Run one seed; raises AssertionError when anything at all is not as it should be."""
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
    """A folder in memory where the system has one: fsync is proven elsewhere."""
    memory = Path("/dev/shm")  # noqa: S108
    path = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
    try:
        yield path
    finally:
        shutil.rmtree(path)


def main() -> int:
    """Run the seeds asked for and print the figures."""
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
