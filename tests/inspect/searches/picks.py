"""Small searches with tasks that fail, are retried, or are dropped; tests explain their lives."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import weft


@weft.task
def flaky(marker: str) -> str:
    """Fail once with a temporary error, then succeed."""
    if _first_time(marker):
        raise weft.Temporary("not yet")
    return "second time"


@weft.task
def deadly(marker: str) -> str:
    """Kill the worker once, then succeed."""
    if _first_time(marker):
        os.kill(os.getpid(), signal.SIGKILL)
    return "alive"


@weft.task
def broken(x: int) -> int:
    raise ValueError(f"no {x}")


@weft.task
def wait_for(marker: str, x: int) -> int:
    """Return once the marker exists."""
    while marker and not Path(marker).exists():
        time.sleep(0.005)
    return x


@weft.search(version=1)
def lives(folder: str):
    yield [flaky(f"{folder}/flaky"), deadly(f"{folder}/deadly"), broken(3)]
    # `Gate` opens once the second result has arrived: that task is completed and then dropped.
    tasks = [wait_for(f"{folder}/gate", 0), wait_for("", 1), wait_for(f"{folder}/never", 2)]
    yield weft.round(tasks, until=lambda r: r.index == 0)
    return "done"


@weft.task
def hold(marker: str) -> None:
    """Report that it began, and never end."""
    Path(marker).touch()
    time.sleep(3600)


@weft.search(version=1)
def blocked(folder: str):
    yield [hold(f"{folder}/began")]


@weft.search(version=1)
def quick(folder: str):
    yield [wait_for(f"{folder}/began", 1), wait_for("", 2)]


@weft.search(version=1)
def queue(folder: str):
    """The second lane is over once the first has begun; the ledger waits for the first."""
    yield weft.lanes({"first": blocked(folder), "second": quick(folder)})


@weft.search(version=1)
def late(folder: str):
    """The second task is over at once; the round waits for the first."""
    yield [wait_for(f"{folder}/never", 0), wait_for("", 1)]


def _first_time(marker: str) -> bool:
    path = Path(marker)
    if path.exists():
        return False
    path.touch()
    return True
