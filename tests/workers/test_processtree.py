"""What is read about processes from /proc agrees with psutil, which takes longer to load."""

from __future__ import annotations

import os

import psutil
import pytest

from weft.backends.orphans import _pids
from weft.worker.processtree import birth_s


@pytest.mark.parametrize("pid", [1, os.getpid()], ids=["the first", "this one"])
def test_birth_of_a_process_is_that_of_psutil(pid: int) -> None:
    assert birth_s(pid) == pytest.approx(psutil.Process(pid).create_time(), abs=0.011)


def test_all_processes_are_listed_in_order() -> None:
    pids = _pids()
    assert {1, os.getpid()} <= set(pids)
    assert pids == sorted(pids)
