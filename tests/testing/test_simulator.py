"""F4: the coordinator and storage under 1,000 seeds of faults, and proof that this can fail."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from pathlib import Path

import pytest

from tests.support.engine import loom
from tests.support.figures import Part, print_figures
from weft.coordinator import journal
from weft.coordinator.dispatch import Dispatch
from weft.coordinator.journal import Journal
from weft.coordinator.lane import OpenRoundState
from weft.coordinator.machine import Machine
from weft.coordinator.steps import RecordValues
from weft.errors import WeftError
from weft.storage.ledgerwriter import LedgerWriter
from weft.storage.objects import ObjectStore
from weft.testing import simulator
from weft.testing.simulator import (
    LARGE_SHAPES,
    SHAPES,
    crash_everywhere,
    shape_of,
    simulate,
)
from weft.testing.simworld import MIN_FAULTS
from weft.testing.workload import mixed_steps

SEEDS = 1000
"""Seeds of `make test`; `make chaos` adds a hundred thousand."""
CHUNKS = [(0, 15), (15, 125), *((first, first + 125) for first in range(125, SEEDS, 125))]
"""First and end of each chunk of seeds; mutation testing takes the short one."""


@pytest.fixture(autouse=True)
def fresh_references(request, monkeypatch):
    """A planted bug must not pass its references to the next test; sound tests share theirs."""
    if "planted" in request.node.name:
        monkeypatch.setattr(simulator, "_references", {})


@pytest.mark.parametrize(("first", "end"), CHUNKS)
def test_simulator_seeds_no_violation(first, end):
    reports = [simulate(seed) for seed in range(first, end)]
    assert min(report.faults for report in reports) >= MIN_FAULTS
    assert sum(report.crashes for report in reports) >= (end - first) // 2
    print(f"seeds {first}:{end}: {sum(r.faults for r in reports)} faults, 0 violations")


@pytest.mark.slow
def test_simulator_hundred_thousand_seeds_no_violation():
    count = int(os.environ.get("WEFT_SEEDS", "100000"))
    reports = [simulate(seed) for seed in Part.asked().of(range(SEEDS, SEEDS + count))]
    faults, crashes = sum(r.faults for r in reports), sum(r.crashes for r in reports)
    print_figures("F4", seeds=len(reports), faults=faults, crashes=crashes, violations=0)


@pytest.mark.parametrize("shape", SHAPES[:3])
def test_simulator_crash_at_every_durable_step_same_ledger(shape, chaos):
    """The first shape at every step, the others at a sample; `make chaos` tries all steps."""
    every = 1 if chaos or shape == SHAPES[0] else 4
    _, steps = crash_everywhere(mixed_steps(shape), every)
    assert steps > 50


def test_engine_example_crash_at_durable_steps_same_ledger(chaos):
    """A sample of the steps; `make chaos` tries them all."""
    _, steps = crash_everywhere(loom(pause_ms=0), every=1 if chaos else 5)
    assert steps > 50


def test_simulator_gives_every_shape_its_seeds():
    counts = Counter(shape_of(seed) for seed in range(SEEDS))
    assert set(counts) == {*SHAPES, *LARGE_SHAPES}
    assert min(counts.values()) >= SEEDS // 80


def test_simulator_same_seed_same_story():
    assert simulate(11) == simulate(11)


def _breaks(seeds: int = 60) -> bool:
    """Whether some seed notices the planted bug."""
    for seed in range(seeds):
        try:
            simulate(seed)
        except (AssertionError, WeftError):
            return True
    return False


def test_simulator_planted_arrival_order_is_noticed(monkeypatch):
    def judge_as_they_come(self, strict):
        before = self.recorded
        for index in list(self.waiting):  # in order of arrival, not of index
            result = self.waiting.pop(index)
            self.recorded += 1
            if result is not None and not self.lazy:
                self.results.append(result)
        return self.recorded > before

    monkeypatch.setattr(OpenRoundState, "judge", judge_as_they_come)
    assert _breaks()


def test_simulator_planted_lost_result_is_noticed(monkeypatch):
    """Results are reported to the search but reach the manifest only with the next commit."""
    real = Journal.commit

    def commit_late(self):
        last, self._finished = self._finished[-1:], self._finished[:-1]
        real(self)
        self._finished = last

    monkeypatch.setattr(Journal, "commit", commit_late)
    assert _breaks()


def test_simulator_planted_ledger_before_manifest_is_noticed(monkeypatch):
    real = Journal.commit

    def publish_first(self):
        self.flush()
        writer = _scribes[-1]
        writer.extend(0.0, 0.0)
        real(self)

    _scribes: list[LedgerWriter] = []
    real_init = LedgerWriter.__init__

    def remember(self, *args, **kwargs):
        real_init(self, *args, **kwargs)
        _scribes.append(self)

    monkeypatch.setattr(LedgerWriter, "__init__", remember)
    monkeypatch.setattr(Journal, "commit", publish_first)
    assert _breaks()


def test_simulator_planted_late_result_taken_is_noticed(monkeypatch):
    """A backend event for an abandoned ticket must be ignored."""
    real = Machine.apply

    def take_ghosts(self, event, now_s=0.0):
        ticket = getattr(event, "ticket", None)
        if ticket is not None and ticket not in self.dispatch.out and hasattr(event, "value"):
            for task in list(self.dispatch.out.values()):
                return real(self, type(event)(task.ticket, event.value, event.error), now_s)
        return real(self, event, now_s)

    monkeypatch.setattr(Machine, "apply", take_ghosts)
    assert _breaks()


def test_simulator_planted_object_not_adopted_is_noticed(monkeypatch):
    monkeypatch.setattr(ObjectStore, "adopt", lambda self, staged, digest: Path(staged).unlink())
    assert _breaks()


def test_simulator_planted_forgotten_results_are_noticed(monkeypatch):
    """Completed tasks that are not recalled on resume would run again."""
    monkeypatch.setattr(Journal, "_recall", lambda self, command, row, known: iter(()))
    assert _breaks()


def test_simulator_planted_values_of_a_block_in_other_places_are_noticed(monkeypatch):
    real = Journal._record_values

    def shifted(self, command):
        values = (*command.values[1:], command.values[0])
        real(self, dataclasses.replace(command, values=values))

    monkeypatch.setitem(journal._HANDLERS, RecordValues, shifted)
    assert _breaks()


def test_simulator_planted_block_with_a_gap_is_noticed(monkeypatch):
    """Tasks that are not consecutive would run with the index and seed of others."""

    def fill(block, state, size):
        while len(block) < size and state.ready:
            task = state.tasks[state.ready[0]]
            if task.kind is not block[0].kind or task.attempt != block[0].attempt:
                return
            state.ready.popleft()
            block.append(task)

    monkeypatch.setattr(Dispatch, "_fill", staticmethod(fill))
    assert _breaks()


def test_simulator_planted_block_committed_in_part_is_noticed(monkeypatch):
    """The last value of each block is reported to the search and never written."""
    real = Journal._record_values

    def short(self, command):
        real(self, command)
        if len(command.tasks) == 1:
            return
        block = self._blocks[-1]
        columns = {name: getattr(block, name)[:-1] for name in ("keys", "args", "values", "run_us")}
        self._blocks[-1] = dataclasses.replace(block, **columns)

    monkeypatch.setitem(journal._HANDLERS, RecordValues, short)
    assert _breaks()
