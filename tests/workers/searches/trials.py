"""Tasks that hang, exhaust memory or crash, and commands, for the tests of workers to run.

Each search takes its whole plan as arguments, so that tests write plans instead of modules.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import time
from typing import Any

import psutil

import weft
from weft.model.codec import from_json
from weft.model.sandbox import Sandbox


@weft.task
def square(x: int) -> int:
    return x * x


@weft.task
def nap(x: int, ms: int) -> int:
    time.sleep(ms / 1000)
    return x


@weft.task
def read_address_zero(x: int) -> int:
    ctypes.string_at(0)
    return x


@weft.task
def visible(x: int) -> list[str | None]:
    """The devices this worker may see."""
    names = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
    return [os.environ.get(name) for name in names]


# -- hangs --------------------------------------------------------------------------------


def sleep_for_ever() -> None:
    while True:
        time.sleep(1000)


def stop_own_worker() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)
    sleep_for_ever()


def hold_the_gil() -> None:
    ctypes.PyDLL(None).sleep(1000)


def backtrack() -> None:
    re.match(r"(a+)+$", "a" * 64 + "b")


def ignore_term() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sleep_for_ever()


def wait_for_a_child() -> None:
    subprocess.run(["setsid", "--wait", "sleep", "1000"])


HANGS = {f.__name__: f for f in (sleep_for_ever, stop_own_worker, hold_the_gil, backtrack,
                                 ignore_term, wait_for_a_child)}  # fmt: skip


@weft.task(timeout_s=0.4)
def hang(how: str) -> None:
    HANGS[how]()


@weft.search(version=1)
def hung(how: str, others: int):
    """One hanging task among others, then a round that needs every slot."""
    first = yield [hang(how), *(square(i) for i in range(others))]
    second = yield [nap(i, 5) for i in range(others)]
    return [r.value if r.ok else r.error.type for r in (*first, *second)]


@weft.task(timeout_s=30)
def brief(x: int, ms: int) -> int:
    """Stay well within the limit, by a clock that does not jump."""
    time.sleep(ms / 1000)
    return x


@weft.search(version=1)
def timed(count: int, ms: int):
    """Tasks within their limits, and one that exceeds it."""
    results = yield [hang("sleep_for_ever"), *(brief(i, ms) for i in range(count))]
    return [r.value if r.ok else r.error.type for r in results]


# -- memory -------------------------------------------------------------------------------


@weft.task(memory_mb=64)
def eat(mb: int) -> int:
    """Allocate this many megabytes; return the worker's pid."""
    data = bytearray(mb * 2**20)
    for at in range(0, len(data), 4096):
        data[at] = 1
    return os.getpid()


@weft.search(version=1)
def meals(sizes: list[int]):
    results = yield [eat(mb) for mb in sizes]
    return ["fed" if r.ok else r.error.type for r in results]


@weft.task(memory_mb=64)
def fill(ms: int) -> str:
    """Allocate all permitted memory, hold it for a while, and continue."""
    held: list[bytes] = []
    end_s = time.monotonic() + ms / 1000
    while time.monotonic() < end_s:
        for size in (2**20, 2**16, 2**12):
            try:
                while True:
                    held.append(bytes(size))
            except MemoryError:
                time.sleep(0.001)
    held.clear()
    return "full"


@weft.search(version=1)
def brimful(size: int):
    """A worker receives messages while its task holds all the memory it may have."""
    yield [square(i) for i in range(size)]
    first = yield [fill(600), *(square(i) for i in range(size))]
    second = yield [nap(i, 1) for i in range(size)]
    return [first[0].value, sum(r.value for r in second)]


# -- commands -----------------------------------------------------------------------------


def command(step: dict[str, Any]) -> Any:
    """A command from its plain description, with functions given by name."""
    step = dict(step)
    for name in ("prepare", "collect"):
        if name in step:
            step[name] = globals()[step[name]]
    if "sandbox" in step:
        step["sandbox"] = from_json(Sandbox, step["sandbox"])
    return weft.command(step.pop("argv"), **{"timeout_s": 30.0, **step})


def outcome(result: Any) -> Any:
    if result.ok:
        return result.value
    return {"type": result.error.type, "stage": result.error.stage, "code": result.error.exit_code}


@weft.search(version=1)
def commands(steps: list[dict[str, Any]], after: int = 0):
    """One round of commands, then a round of small tasks."""
    first = yield [command(step) for step in steps]
    second = yield [square(i) for i in range(after)]
    del second
    return [outcome(r) for r in first]


@weft.search(version=1)
def one_by_one(steps: list[dict[str, Any]]):
    """One command per round."""
    outcomes = []
    for step in steps:
        results = yield [command(step)]
        outcomes.append(outcome(results[0]))
    return outcomes


@weft.search(version=1)
def race(steps: list[dict[str, Any]]):
    """Commands side by side; the result of the first command ends the round."""
    results = yield weft.round([command(step) for step in steps], until=lambda r: r.index == 0)
    return [outcome(r) for r in results]


@weft.search(version=1)
def laned(names: list[str], steps: list[dict[str, Any]]):
    """The same commands in each lane."""
    return (yield weft.lanes({name: commands(steps) for name in names}))


def say_prepared(run: Any) -> dict[str, str]:
    (run.out_dir / "order").write_text("prepare\n")
    return {"word": run.args["word"]}


def read_order(run: Any) -> str:
    return (run.out_dir / "order").read_text() + "collect"


def raise_value_error(run: Any) -> None:
    raise ValueError("no")


def know_the_secret(run: Any) -> dict[str, str]:
    """Put a secret where only the command's words contain it."""
    return {"word": os.environ["WEFT_TRIAL_TOKEN"]}


def say_temporary(run: Any) -> None:
    raise weft.Temporary("not yet")


def kill_idle_supervisor(run: Any) -> None:
    """Kill the supervisor that earlier commands of this worker left, and wait for its end."""
    for process in psutil.Process().children():
        if any("supervisor.py" in word for word in process.cmdline()):
            process.kill()
            while process.status() != psutil.STATUS_ZOMBIE:
                time.sleep(0.001)


def list_folders(run: Any) -> list[list[str]]:
    """The contents of the attempt's own folders, and the attempt's number."""
    names = sorted(path.name for path in (*run.out_dir.iterdir(), *run.tmp_dir.iterdir()))
    return [names, [str(run.attempt)]]


# -- placement ----------------------------------------------------------------------------


def rest(x: int, ms: int) -> int:
    """Sleep, and note start and end by a clock shared by all workers."""
    began_s = time.monotonic()
    time.sleep(ms / 1000)
    weft.note(began_s=began_s, ended_s=time.monotonic())
    return x


@weft.task
def cpu_rest(x: int, ms: int) -> int:
    return rest(x, ms)


@weft.task(gpu=1)
def gpu_rest(x: int, ms: int) -> int:
    return rest(x, ms)


@weft.task(gpu=1)
def gpu_visible(x: int) -> list[str | None]:
    return visible.function(x)


@weft.task(group="red")
def red_rest(x: int, ms: int) -> int:
    return rest(x, ms)


@weft.task(group="blue")
def blue_rest(x: int, ms: int) -> int:
    return rest(x, ms)


KINDS = {"cpu": cpu_rest, "gpu": gpu_rest, "red": red_rest, "blue": blue_rest}


@weft.search(version=1)
def rests(kinds: list[str], ms: list[int]):
    """One round; kinds and durations alternate."""
    count = max(len(kinds), len(ms))
    tasks = [KINDS[kinds[i % len(kinds)]](i, ms[i % len(ms)]) for i in range(count)]
    return [r.value for r in (yield tasks)]


@weft.search(version=1)
def devices(count: int):
    results = yield [gpu_visible(i) for i in range(count)]
    plain = yield [visible(0)]
    return [[r.value for r in results], plain[0].value]


@weft.search(version=1)
def thousand(bad: int, size: int):
    """Many tiny tasks; one of them crashes its worker on every attempt."""
    results = yield [read_address_zero(i) if i == bad else square(i) for i in range(size)]
    return [[r.index, r.error.type, r.error.exit_code] for r in results if not r.ok]


@weft.search(version=1)
def kept(size: int):
    """Tiny tasks in two rounds."""
    first = yield [square(i) for i in range(size)]
    second = yield [square(r.value) for r in first]
    return sum(r.value for r in second)


# -- streams ------------------------------------------------------------------------------


@weft.task
def slope(x: int, ms: int, *, seed: int) -> int:
    """The height at x, after a delay that differs between tasks."""
    time.sleep(ms * (seed % 7) / 1000)
    return -((x - 37) ** 2)


@weft.search(version=1)
def ascent(count: int, width: int, ms: int) -> Any:
    """Best-first search without a barrier: each step continues from the best result so far."""
    best = {"x": 0, "height": -(37**2)}

    def steps() -> Any:
        for index in range(count):
            result = yield slope(best["x"] + (index % 5) - 1, ms)
            if result is not None and result.value > best["height"]:
                best.update(x=result.args["x"], height=result.value)

    results = yield weft.stream(steps(), width=width, most=count + 10)
    return [best["x"], len(results), max(r.value for r in results)]
