"""Tasks that harm their own worker, and one that waits at a gate. Only for campaigns."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from pathlib import Path

import weft


@weft.task
def harmless(x: int) -> int:
    return x * x


@weft.task
def kill_own_worker(x: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return x


@weft.task
def read_address_zero(x: int) -> int:
    ctypes.string_at(0)
    return x


@weft.task
def leave_at_once(x: int) -> int:
    os._exit(3)


@weft.task
def work(x: int, work_ms: int, admitted: str) -> int:
    """Work once the file `admitted`, if any, has more than x bytes; fail after ten minutes."""
    end_s = time.monotonic() + 600
    while admitted and Path(admitted).stat().st_size <= x:
        if time.monotonic() > end_s:
            raise TimeoutError(admitted)
        time.sleep(0.002)
    time.sleep(work_ms / 1000)
    return x * 31 % 1009


@weft.task
def wait_at_gate(gate: str) -> str:
    """Wait until the file `gate` exists; fail after ten minutes."""
    end_s = time.monotonic() + 600
    while not Path(gate).exists():
        if time.monotonic() > end_s:
            raise TimeoutError(gate)
        time.sleep(0.002)
    return "through"


@weft.search(version=1)
def strike(kind: str):
    """One task that strikes, among nine harmless ones."""
    bad = {"kill": kill_own_worker, "segv": read_address_zero, "exit": leave_at_once}[kind]
    results = yield [bad(i) if i == 4 else harmless(i) for i in range(10)]
    return [r.value if r.ok else [r.error.type, r.error.exit_code] for r in results]


@weft.search(version=1)
def storm(rounds: int, width: int, work_ms: int, admitted: str = ""):
    """Many short tasks whose workers are to be killed."""
    total = 0
    for number in range(rounds):
        results = yield [work(number * width + i, work_ms, admitted) for i in range(width)]
        total += sum(r.value for r in results)
    return total


@weft.search(version=1)
def gated(gate: str):
    """A run that cannot end before its gate is opened."""
    results = yield [wait_at_gate(gate), *(harmless(i) for i in range(5))]
    return [r.value for r in results]


@weft.task(timeout_s=1.0)
def limited(x: int, work_ms: int) -> int:
    time.sleep(work_ms / 1000)
    return x * 7 % 1013


@weft.search(version=1)
def short_limits(width: int, work_ms: int):
    """Tasks that take a fraction of their time limit."""
    results = yield [limited(x, work_ms) for x in range(width)]
    return [r.value if r.ok else r.error.type for r in results]
