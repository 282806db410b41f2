"""The command line in real processes, and small searches for it to run."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.commands import COMMAND, Told, run_apart
from tests.support.forked import ForkServer
from tests.support.waiting import wait_until

SMALL = '''\
"""Searches that end at once, in every way a search can end."""

import weft


@weft.task
def square(x: int, *, seed: int) -> int:
    weft.note(seen=x)
    return x * x


@weft.task
def fail(x: int) -> int:
    raise ValueError(f"no {x}")


@weft.task
def length(data: weft.Object) -> int:
    return len(weft.get(data))


@weft.search(version=1)
def squares(count: int = 5):
    results = yield [square(i) for i in range(count)]
    return sum(r.value for r in results)


@weft.search(version=1)
def unsure():
    yield [square(2)]
    return weft.Unknown("ambiguous", [1, 2])


@weft.search(version=1)
def broken():
    results = yield [fail(1)]
    return results[0].value


@weft.search(version=1)
def informed(*, seed, inputs, budget):
    results = yield [length(inputs["table"])]
    return [seed, results[0].value, budget["tries"]]


@weft.search(version=1)
def stores():
    results = yield [keep(3)]
    return results[0].value


@weft.task
def keep(n: int) -> weft.Object:
    return weft.put(bytes(n))


not_a_search = 3
'''

SLOW = '''\
"""A search of twelve rounds that files beside it hold up or stop at a chosen one."""

import os
import signal
import time
from pathlib import Path

import weft


def comes_after(number: int, file: str) -> bool:
    try:
        return number > int(Path(__file__).with_name(file).read_text())
    except FileNotFoundError:
        return False


@weft.task
def wait(x: int, *, seed: int) -> int:
    number, index = divmod(x, 10)
    if comes_after(number, "stop_after"):
        if index == 0:
            os.kill(os.getppid(), signal.SIGINT)  # the coordinator
        time.sleep(600)
    while comes_after(number, "hold_after"):
        time.sleep(0.01)
    time.sleep({pause_s})
    return x * 3 + seed % 5


@weft.search(version=1)
def slow(rounds: int = 12):
    total = 0
    for number in range(rounds):
        results = yield [wait(number * 10 + i) for i in range(4)]
        total += sum(r.value for r in results)
    return total
'''


Weft = Callable[..., Told]


@pytest.fixture(scope="session")
def forks() -> Iterator[ForkServer]:
    """A server that starts commands quickly."""
    server = ForkServer(fork_workers=True)
    yield server
    server.close()


@pytest.fixture
def weft(tmp_path: Path, forks: ForkServer) -> Weft:
    """Run a command in a separate process, in a folder that contains small.py."""
    (tmp_path / "small.py").write_text(SMALL)

    def call(*words: str | Path, cwd: Path = tmp_path, **env: str) -> Told:
        return Told(*forks.run([str(word) for word in words], cwd, {**os.environ, **env}))

    return call


@pytest.fixture
def started(tmp_path: Path) -> Weft:
    """The same, but in a fresh process that has to load everything it needs."""
    (tmp_path / "small.py").write_text(SMALL)

    def call(*words: str | Path, cwd: Path = tmp_path, **env: str) -> Told:
        return run_apart(cwd, *words, **env)

    return call


def write_slow(folder: Path, pause_s: float = 0.0) -> Path:
    """Write slow.py once for all runs to compare: the pause is part of its source."""
    file = folder / "slow.py"
    file.write_text(SLOW.replace("{pause_s}", str(pause_s)))
    return file


def hold(folder: Path, last: int | None) -> None:
    """Let runs of slow:slow finish round `last` and wait there; None releases them."""
    if last is None:
        (folder / "hold_after").unlink(missing_ok=True)
        return
    (folder / "hold_after.new").write_text(str(last))
    (folder / "hold_after.new").rename(folder / "hold_after")  # never half-written


def interrupt(weft: Weft, folder: Path, *more: str, last: int = 2) -> Told:
    """Run slow:slow into `r` until a task of the round after `last` interrupts the coordinator."""
    if not (folder / "slow.py").exists():
        write_slow(folder)
    (folder / "stop_after").write_text(str(last))
    stopped = weft("run", "slow:slow", "--out", "r", *more)
    (folder / "stop_after").unlink()
    assert stopped.code == 130, stopped
    return stopped


@contextmanager
def held_run(folder: Path, last: int = 2) -> Iterator[subprocess.Popen[str]]:
    """A run of slow:slow into `r` that waits after round `last`; killed at the end."""
    write_slow(folder)
    hold(folder, last)
    words = [*COMMAND, "run", "slow:slow", "--out", "r", "--workers", "2"]
    with subprocess.Popen(
        words, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        try:
            wait_until(lambda: records_in(folder / "r") > 4 * (last + 1), "records")
            yield running
        finally:
            running.kill()
            hold(folder, None)


def records_in(run: Path) -> int:
    """The number of lines in the ledger so far."""
    ledger = run / "ledger.jsonl"
    return ledger.read_bytes().count(b"\n") if ledger.is_file() else 0


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, to check that nothing changed."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}
