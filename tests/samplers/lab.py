"""Runs of studies inside this process, in any order of completion and over several sessions."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import weft
from tests.samplers import objectives
from tests.support.sessions import Sessions
from weft.asktell import history, optimizers
from weft.model.tasks import SearchCall

RAN: list[tuple[str, int, int]] = []
"""Lane, round and index of the tasks of the last run, in the order of their execution."""
ORDERS: dict[str, Callable[[list[Any]], int]] = {
    "in order": lambda held: 0,
    "backwards": lambda held: -1,
    "shuffled": lambda held: random.Random(len(held)).randrange(len(held)),
}


def forget() -> None:
    """Clear the state of this process, so that it knows as little as a new worker."""
    history._chains.clear()
    optimizers._live.clear()


def run_in(
    folder: Path, call: SearchCall, order: str = "in order", *, slots: int = 8,
    stops: tuple[int, ...] = (),
) -> weft.Run:  # fmt: skip
    """Run to the end; with `stops`, in sessions that each end after the given number of tasks."""
    objectives.COMPLETED.clear()
    sessions = Sessions(folder, call=call, slots=slots, pick=ORDERS[order])
    RAN.clear()
    for stop in (*stops, None):
        forget()
        RAN.extend(sessions.go(stop_after=stop))
    return weft.load(sessions.folder.path)


def digest(run: weft.Run) -> str:
    return hashlib.sha256((run.out / "ledger.jsonl").read_bytes()).hexdigest()
