"""The process that renders ledger lines: the same ledger with it, without it, or if it fails."""

from __future__ import annotations

import os
import select
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

import weft
from weft.ledger.chain import Chain, ChainState
from weft.runs import linehelper
from weft.runs.linehelper import LineProcess

ENTRIES = [("result", f"{number:064x}", f'{{"value":{number}}}') for number in range(300)]
SOURCE = """
    @weft.task
    def double(x: int) -> int:
        return 2 * x

    @weft.search(version=1)
    def doubles(n: int):
        results = yield weft.lazy(n, double)
        return sum(result.value for result in results)
"""


@pytest.fixture
def helper(monkeypatch: pytest.MonkeyPatch) -> Iterator[LineProcess]:
    monkeypatch.setattr(linehelper, "START_RECORDS", 0)
    process = LineProcess()
    yield process
    process.close()


def wait_readable(channel: socket.socket) -> bool:
    arrivals = select.poll()
    arrivals.register(channel, select.POLLIN)
    return bool(arrivals.poll(60_000))


def begun(helper: LineProcess, chain: Chain) -> int:
    """Hand over a batch as soon as the process accepts one; return its pid."""
    helper.begin(chain.state, [ENTRIES])
    assert helper._channel is not None
    assert helper._process is not None
    assert wait_readable(helper._channel), "the process does not start"
    assert helper.begin(chain.state, [ENTRIES])
    return helper._process.pid


def test_lines_of_the_process_are_the_chains_own(helper: LineProcess) -> None:
    chain, plain = Chain(), Chain()
    begun(helper, chain)
    for _ in range(2):
        lines = helper.finish()
        assert lines is not None
        assert bytes(lines[0]) == b"".join(line + b"\n" for line in plain.next_lines(ENTRIES))
        assert lines[1] == plain.state
        assert helper.begin(plain.state, [ENTRIES])


def test_small_batch_and_short_run_are_left_to_the_coordinator(
    helper: LineProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not helper.begin(Chain().state, [ENTRIES[:5]])
    assert helper._process is None
    monkeypatch.setattr(linehelper, "START_RECORDS", 1)
    assert not helper.begin(Chain().state, [ENTRIES])  # below BUSY_RECORDS
    assert helper._process is None


def test_killed_process_loses_its_batch_and_takes_no_other(helper: LineProcess) -> None:
    os.kill(begun(helper, Chain()), signal.SIGKILL)
    helper._process.wait()  # type: ignore[union-attr]
    helper.finish()  # it may have answered before
    assert helper.finish() is None
    assert not helper.begin(Chain().state, [ENTRIES])


def test_stopped_process_is_not_waited_for(
    helper: LineProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linehelper, "LIMIT_S", 0.1)
    pid = begun(helper, Chain())
    os.kill(pid, signal.SIGSTOP)
    while helper.finish() is not None:
        pass
    assert not helper.begin(Chain().state, [ENTRIES])
    assert not Path(f"/proc/{pid}").exists()


def test_process_that_cannot_start_is_done_without(
    helper: LineProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linehelper.sys, "executable", "/nowhere/python")
    assert not helper.begin(Chain().state, [ENTRIES])
    assert not helper.begin(Chain().state, [ENTRIES])
    assert helper._process is None


def test_process_that_ends_at_once_is_done_without(
    helper: LineProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linehelper, "MODULE", "weft.worker.no_such_module")
    assert not helper.begin(Chain().state, [ENTRIES])
    assert helper._channel is not None
    if helper._process is not None:  # under load it may already have ended, and been noticed
        helper._process.wait()
    assert not helper.begin(Chain().state, [ENTRIES])
    assert helper._process is None


@pytest.mark.parametrize(
    "answer",
    [
        lambda lines, state: (lines[:-1], state),
        lambda lines, state: (lines, ChainState(state.size + 1, state.prev_hash, state.peaks)),
        lambda lines, state: (lines.replace(b'"value":299', b'"value":298'), state),
    ],
)
def test_wrong_lines_are_not_believed(
    helper: LineProcess, monkeypatch: pytest.MonkeyPatch, answer
) -> None:
    begun(helper, Chain())
    receive = linehelper.receive_lines
    monkeypatch.setattr(linehelper, "receive_lines", lambda channel: answer(*receive(channel)))
    assert helper.finish() is None
    assert not helper.begin(Chain().state, [ENTRIES])


@pytest.mark.parametrize("fate", ["never started", "used", "killed"])
def test_run_has_the_same_ledger_whatever_becomes_of_the_process(
    modules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fate: str
) -> None:
    search = modules.write(SOURCE, "linehelper_lab").doubles
    plain = weft.run(search(3000), out=tmp_path / "plain", workers=1)
    reused = []

    class Watched(LineProcess):
        def begin(self, state: ChainState, parts) -> bool:
            is_taken = super().begin(state, parts)
            reused.append(is_taken)
            if is_taken and fate == "killed":
                assert self._process is not None
                self._process.kill()
            return is_taken

    if fate != "never started":
        monkeypatch.setattr(linehelper, "START_RECORDS", 0)
    monkeypatch.setattr(linehelper, "_is_readable", wait_readable)
    monkeypatch.setattr(linehelper, "LineProcess", Watched)
    run = weft.run(search(3000), out=tmp_path / "run", workers=1)
    assert any(reused) == (fate != "never started")
    assert run.head == plain.head
    ledgers = [(tmp_path / name / "ledger.jsonl").read_bytes() for name in ("plain", "run")]
    assert ledgers[0] == ledgers[1]
