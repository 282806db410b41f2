"""Every backend satisfies the contract; the simulator too, which has no processes to check."""

from __future__ import annotations

import os
import random
import sys

import pytest

import weft
from weft.backends.local import LocalBackend
from weft.backends.orphans import Marks
from weft.backends.process import WorkerSetup
from weft.model.attempts import Assignment, Entered, Finished, Started
from weft.model.slots import local_nodes, slots_of
from weft.model.values import encode
from weft.storage.folder import RunFolder
from weft.testing import conformance
from weft.testing.checker import Checker
from weft.testing.simbackend import SimBackend
from weft.testing.simworld import Faults, SimClock
from weft.worker.context import WorkerPlace
from weft.worker.execute import Executor


def name(check):
    return check.__name__


@pytest.fixture
def setup(tmp_path):
    return WorkerSetup(
        run_seed=conformance.RUN_SEED,
        objects=tmp_path / "objects",
        staging=tmp_path / "objects" / "staging",
        logs=tmp_path / "logs",
        attempts=tmp_path / "attempts",
        path=list(sys.path),
        environment=dict(os.environ),
        marks=Marks.of(str(tmp_path)),
    )


@pytest.mark.parametrize("check", conformance.CHECKS + conformance.PROCESS_CHECKS, ids=name)
@pytest.mark.parametrize(("workers", "credit"), [(1, 1), (1, 64), (3, 256)])
def test_local_backend_keeps_the_contract(check, workers, credit, setup):
    slots = slots_of(local_nodes(workers))
    check(lambda: LocalBackend(setup, slots, credit))


def test_local_backend_tells_the_stages_of_a_command(setup):
    call = weft.command(["true"], timeout_s=9)
    backend = LocalBackend(setup, slots_of(local_nodes(1)))
    events = []
    try:
        args = encode(dict(call.args))
        backend.submit([Assignment(1, call.function, args, "", 0, 0, "k", code=call.code)])
        while not any(isinstance(event, Finished) for event in events):
            events += backend.poll(1.0)
    finally:
        backend.close()
    assert [type(event) for event in events] == [Started, Entered, Entered, Finished]


@pytest.mark.parametrize("check", conformance.CHECKS, ids=name)
@pytest.mark.parametrize("calm", [True, False])
def test_simulated_backend_keeps_the_contract(check, calm, setup, tmp_path):
    if not calm and check.__name__ != "closes_twice":
        check = conformance.finishes_each_once  # the orders vary; F4 covers the faults

    def make():
        chance = random.Random(3)
        faults = Faults(None) if calm else _OrdersOnly(chance)
        executor = Executor(conformance.RUN_SEED, WorkerPlace(setup.objects, setup.staging))
        checker = Checker(RunFolder(tmp_path), tmp_path)
        return SimBackend(chance, SimClock(), executor, checker, faults)

    check(make)


class _OrdersOnly(Faults):
    """Any order of completion, but no faults."""

    def strikes(self, kind):
        return False
