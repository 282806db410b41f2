"""Every backend keeps the contract; the simulator's too, as far as it has processes."""

from __future__ import annotations

import os
import random
import sys

import pytest

from weft.backends.local import LocalBackend
from weft.backends.process import WorkerSetup
from weft.model.slots import local_nodes, slots_of
from weft.storage.folder import RunFolder
from weft.testing import conformance
from weft.testing.checker import Checker
from weft.testing.simulator import Faults, SimBackend, SimClock
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
    )


@pytest.mark.parametrize("check", conformance.CHECKS + conformance.PROCESS_CHECKS, ids=name)
@pytest.mark.parametrize(("workers", "credit"), [(1, 1), (1, 64), (3, 256)])
def test_local_backend_keeps_the_contract(check, workers, credit, setup):
    slots = slots_of(local_nodes(workers))
    check(lambda: LocalBackend(setup, slots, credit))


@pytest.mark.parametrize("check", conformance.CHECKS, ids=name)
@pytest.mark.parametrize("calm", [True, False])
def test_simulated_backend_keeps_the_contract(check, calm, setup, tmp_path):
    if not calm and check.__name__ != "closes_twice":
        check = conformance.finishes_each_once  # the orders vary; faults are F4's business

    def make():
        chance = random.Random(3)
        faults = Faults(None) if calm else _OrdersOnly(chance)
        executor = Executor(conformance.RUN_SEED, setup.objects, setup.staging)
        checker = Checker(RunFolder(tmp_path), tmp_path)
        return SimBackend(chance, SimClock(), executor, checker, faults)

    check(make)


class _OrdersOnly(Faults):
    """Any order of completion, no faults."""

    def want(self, kind):
        return False
