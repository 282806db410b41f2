"""Lose power at a moment of a recorded run, rerun the same command on the rest, and check."""

from __future__ import annotations

import itertools
import random
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.faults.case import PREPARED, Case, Search
from tests.faults.disk_model import (
    TRACED,
    Call,
    DiskModel,
    Everything,
    Folder,
    Survives,
    read_trace,
)
from tests.support.checker import (
    Reference,
    TaskPlace,
    check_crashed,
    check_finished,
    check_not_doubled,
    check_not_lost,
    final_tasks,
)
from tests.support.figures import print_figures

SYNCS = ("fsync", "fdatasync")


@dataclass(frozen=True)
class Recorded:
    """A run without faults: its case, its trace, and a copy of its finished folder."""

    case: Case
    calls: list[Call]
    finished: Path
    reference: Reference


def record(folder: Path, search: Search, strace: str, **hooks: str) -> Recorded:
    """Run the search without faults and keep its trace; `hooks` are for the driver."""
    case = Case(folder / "case", search, environment={
        "WEFT_FAULTS_MARKS": str(folder / "case" / "marks"), **hooks})  # fmt: skip
    log = folder / "trace"
    flags = ["-xx", "-s", "10000000", "-o", str(log), "-e", "trace=" + ",".join(TRACED)]
    ended = case.run([strace, *flags])
    assert ended.returncode == 0, ended.stderr
    case.set_aside(folder / "finished")
    reference = Reference.of(case.out)
    return Recorded(case, read_trace(log), folder / "finished", reference)


def moments(recorded: Recorded) -> Iterator[tuple[int, DiskModel]]:
    """The worst moments for a loss: before each sync, and after each commit that has returned."""
    model, marks = DiskModel(recorded.case.folder, recorded.finished, PREPARED), 0
    for number, call in enumerate(recorded.calls):
        if call.name in SYNCS:
            yield number, model
        model.apply(call)
        if (now := count_marks(model)) > marks:
            marks = now
            yield number, model
    yield len(recorded.calls), model


def count_marks(model: DiskModel) -> int:
    marks = model.top.entries.get("marks")
    return 0 if marks is None or isinstance(marks, Folder) else marks.data.count(b"\n")


def lose_power(
    recorded: Recorded, model: DiskModel, survives: Survives, reported: frozenset[TaskPlace]
) -> list[str]:
    """Rebuild the disk, run the same command on it, and name each violation."""
    case = recorded.case
    shutil.rmtree(case.folder)
    model.rebuild(case.folder, survives)
    violations = [*check_not_lost(reported, case.out), *check_crashed(case.place)]
    ended = case.run()
    if ended.returncode != 0:
        return [*violations, f"exit {ended.returncode}: {ended.stderr.strip()}"]
    violations += check_not_doubled(reported, case.executed())
    return [*violations, *check_finished(case.place, recorded.reference), *case.leftovers()]


def reported_by(model: DiskModel, folder: Path) -> frozenset[TaskPlace]:
    """Tasks whose commit has returned, which a reader on the running machine can see."""
    cache = folder / "cache"
    model.rebuild(cache, Everything())
    try:
        return final_tasks(cache / "runs" / "run")
    finally:
        shutil.rmtree(cache)


def lose_power_often(
    name: str, recorded: Recorded, draw: Callable[[int], Survives], chosen: set[int], seed: int
) -> list[str]:
    """Lose power at the chosen moments; `draw` gives what survives each. Return violations."""
    folder = recorded.finished.parent
    start_s, violations, points, marks = time.monotonic(), [], 0, 0
    reported: frozenset[TaskPlace] = frozenset()
    for number, (call, model) in enumerate(moments(recorded)):
        if (now := count_marks(model)) > marks:
            marks, reported = now, reported_by(model, folder)
        if number in chosen:
            points += 1
            complaints = lose_power(recorded, model, draw(call), reported)
            violations += [f"loss at call {call}: {text}" for text in complaints]
    spent_s = round(time.monotonic() - start_s, 1)
    print_figures(f"F1b {name}", seed=seed, points=points, commits=marks, tasks=len(reported),
                  violations=len(violations), seconds=spent_s)  # fmt: skip
    return violations


def choose(recorded: Recorded, count: int | None, seed: int) -> set[int]:
    """Pick moments spread over the run, or all of them."""
    total = sum(1 for _ in moments(recorded))
    if count is None:
        return set(range(total))
    edges = [total * i // count for i in range(count + 1)]
    draw = random.Random(seed)
    return {draw.randrange(low, high) for low, high in itertools.pairwise(edges)}
