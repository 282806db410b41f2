"""One supervisor for all commands of a worker: it isolates them, and none outlives the worker."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil
import pytest

from tests.support.waiting import wait_until
from tests.workers.lab import (
    GONE_WITHIN_S,
    SLACK_S,
    Lab,
    attempts,
    rows,
    trials,
)

GONE_S = GONE_WITHIN_S + SLACK_S


def shell(lab: Lab, text: str, **more: Any) -> dict[str, Any]:
    return lab.step("sh", "-c", text, **more)


def lines(answer: list[dict[str, Any]]) -> list[str]:
    return [outcome["stdout"].strip() for outcome in answer]


# -- from command to command --------------------------------------------------------------


def test_commands_of_a_worker_share_a_supervisor(lab: Lab) -> None:
    run = lab.run(trials.commands([shell(lab, "echo $PPID")] * 5), workers=1)
    assert len(set(lines(run.answer))) == 1
    assert lab.alive() == []


def test_command_over_its_limit_leaves_its_supervisor_to_the_next(lab: Lab) -> None:
    text = "trap '' TERM; ( ( setsid sleep 1000 & ) & ) ; echo $PPID > {0}; sleep 1000"
    note = lab.folder / "note"
    steps = [
        shell(lab, text.format(note), timeout_s=2.0),
        shell(lab, "echo $PPID; ps -o pid= --ppid $PPID | wc -l"),
    ]
    run = lab.run(trials.commands(steps), workers=1)
    assert run.answer[0] == {"type": "timeout", "stage": "run", "code": None}
    assert lines(run.answer[1:]) == [f"{note.read_text().strip()}\n1"]
    assert lab.alive() == []


def test_usage_is_that_of_each_command_alone(lab: Lab) -> None:
    eater = "x = bytearray(200 * 2**20); x[::4096] = b'1' * len(x[::4096]); sum(range(10**7))"
    steps = [lab.step("{python}", "-I", "-S", "-c", eater), lab.step("true")]
    run = lab.run(trials.one_by_one(steps), workers=1)
    notes = [json.loads(text) for (text,) in rows(run.out, "SELECT notes FROM tasks ORDER BY id")]
    assert notes[0]["peak_bytes"] > 200 * 2**20 > 50 * 2**20 > notes[1]["peak_bytes"]
    assert notes[0]["cpu_s"] > notes[1]["cpu_s"]


def test_supervisor_does_not_gather_descriptors(lab: Lab) -> None:
    count = shell(lab, "ls /proc/$PPID/fd | wc -l")
    steps = [count, shell(lab, "exit 3"), shell(lab, "sleep 9", timeout_s=0.1), *[count] * 20]
    run = lab.run(trials.one_by_one(steps), workers=1)
    counts = lines([run.answer[0], *run.answer[3:]])
    assert max(map(int, counts)) <= 6  # standard three, a pipe for signals, one end of another


STANDARD_SIGNALS = 2**31 - 1
"""Signals 1 to 31; those above belong to the C library and are inherited from our parent."""


def test_command_starts_with_default_signals_and_closed_descriptors(lab: Lab) -> None:
    """Whatever its worker ignores and its supervisor handles."""
    steps = [
        lab.step("grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"),
        shell(lab, "ls /proc/$$/fd"),
    ]
    run = lab.run(trials.one_by_one([*steps, *steps]), workers=1)
    masks, descriptors = lines(run.answer)[::2], lines(run.answer)[1::2]
    for mask in re.findall(r"\t([0-9a-f]+)", "".join(masks)):
        assert int(mask, 16) & STANDARD_SIGNALS == 0, masks
    assert descriptors == ["0\n1\n2"] * 2


def test_program_is_the_first_of_path_that_can_be_executed(lab: Lab) -> None:
    """A folder of that name and a non-executable file come before it, a program after it."""
    folders = [lab.folder / name for name in "abcd"]
    for folder in folders:
        folder.mkdir()
    (folders[0] / "tool").mkdir()
    (folders[1] / "tool").write_text("#!/bin/sh\necho not executable\n")
    for folder in folders[2:]:
        (folder / "tool").write_text(f"#!/bin/sh\necho {folder.name}\n")
        (folder / "tool").chmod(0o755)
    path = ":".join(map(str, folders))
    steps = [lab.step("tool", env={"PATH": path}), lab.step("tool", env={"PATH": str(folders[0])})]
    run = lab.run(trials.commands(steps[:1]), workers=1)
    assert lines(run.answer) == ["c"]
    with pytest.raises(Exception, match="cannot start on node local: tool: Permission denied"):
        lab.run(trials.commands(steps[1:]), "other", workers=1)


def test_limit_may_be_longer_than_a_system_call_takes(lab: Lab) -> None:
    """2**31 ms are 24.8 days."""
    run = lab.run(trials.commands([lab.step("true", timeout_s=1e8)]), workers=1)
    assert lines(run.answer) == [""]


def test_command_may_be_longer_than_a_pipe_takes_at_once(lab: Lab) -> None:
    words = ["x" * 100_000] * 3
    run = lab.run(trials.commands([lab.step("sh", "-c", "echo $#", "sh", *words)]), workers=1)
    assert lines(run.answer) == ["3"]


# -- a supervisor that is gone or lies -----------------------------------------------------


def test_supervisor_killed_by_its_command_is_replaced(lab: Lab) -> None:
    second = lab.folder / "second"
    text = f"[ -e {second} ] || {{ : > {second}; setsid sleep 1000 & kill -9 $PPID; sleep 77; }}"
    steps = [shell(lab, "echo $PPID"), shell(lab, f"{text}; echo $PPID"), shell(lab, "echo $PPID")]
    run = lab.run(trials.one_by_one(steps), workers=1)
    first, *later = lines(run.answer)
    assert later[0] == later[1] != first
    assert attempts(run.out) == [("requeued", "supervisor-died", 1)]
    assert lab.alive() == []


def test_supervisor_killed_between_two_commands_costs_no_attempt(lab: Lab) -> None:
    steps = [
        shell(lab, "echo $PPID"),
        shell(lab, "echo $PPID", prepare="kill_idle_supervisor"),
        shell(lab, "echo $PPID"),
    ]
    run = lab.run(trials.one_by_one(steps), workers=1)
    first, second, third = lines(run.answer)
    assert first != second == third
    assert attempts(run.out) == []


@pytest.mark.parametrize("report", ["nonsense", '{"number": 1}', '{"number": 7, "report": {}}'])
def test_line_that_is_no_report_of_this_command_is_not_believed(lab: Lab, report: str) -> None:
    """A command that writes to its supervisor's pipe loses an attempt; the next is unaffected."""
    second = lab.folder / "second"
    text = f"[ -e {second} ] || {{ : > {second}; echo '{report}' > /proc/$PPID/fd/1; sleep 77; }}"
    run = lab.run(trials.one_by_one([shell(lab, f"{text}; echo a"), shell(lab, "echo b")]))
    assert lines(run.answer) == ["a", "b"]
    assert attempts(run.out) == [("requeued", "supervisor-died", 1)]
    assert rows(run.out, "SELECT detail FROM attempts") == [
        ("the supervisor's report was damaged",)
    ]
    assert lab.alive() == []


# -- a worker that is gone ----------------------------------------------------------------

WORKER = """
import os, sys, time
from weft.worker.supervision import supervise
from weft.worker.processtree import become_subreaper

def command(*argv):
    env = {"PATH": os.defpath, "WEFT_TRIAL": os.environ["WEFT_TRIAL"]}
    return {"argv": argv, "cwd": "/", "folders": [], "env": env, "stdout": "/dev/null",
            "stderr": "/dev/null", "timeout_s": None, "memory_bytes": 0}

become_subreaper()
supervise(command("true"))
if os.fork() == 0:  # as a function may that leaves a child: it holds the pipes open
    os.execvpe("sleep", ["sleep", "555"], os.environ) if sys.argv[1] == "exec" else time.sleep(555)
print("ready", flush=True)
if sys.argv[2:]:
    supervise(command("sh", "-c", sys.argv[2]))
time.sleep(555)
"""


@contextmanager
def worker(lab: Lab, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A process that has run a command, has a child that holds its pipes, and runs another one."""
    argv = [sys.executable, "-c", WORKER, *words]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
        finally:
            process.kill()
            lab.leftovers(0.0)


def supervisors(lab: Lab) -> list[psutil.Process]:
    return [psutil.Process(pid) for pid, _, line in lab.alive() if "supervisor.py" in line]


def others(lab: Lab) -> list[str]:
    """Command lines of processes that are neither a supervisor nor a worker or its fork."""
    return [line for *_, line in lab.alive() if "supervis" not in line]


def test_idle_supervisor_ends_with_its_worker_though_its_pipe_stays_open(lab: Lab) -> None:
    with worker(lab, "fork") as process:
        assert len(supervisors(lab)) == 1
        process.kill()
        wait_until(lambda: not supervisors(lab), "its end", GONE_S)
        assert len(lab.alive()) == 1  # the child that holds the pipe open


@pytest.mark.parametrize("is_stopped", [False, True], ids=["running", "stopped"])
def test_command_ends_with_its_worker_though_the_pipe_stays_open(
    lab: Lab, is_stopped: bool
) -> None:
    """Even if its supervisor has been stopped; the kernel then continues it."""
    text = "trap '' TERM; ( ( setsid sleep 1000 & ) & ) ; sleep 77; sleep 77"
    with worker(lab, "fork", text) as process:
        wait_until(lambda: {"sleep 77", "sleep 1000"} <= {*others(lab)}, "the command")
        (supervisor,) = supervisors(lab)
        if is_stopped:
            supervisor.suspend()
        process.kill()
        wait_until(lambda: not supervisors(lab), "its end", GONE_S)
        assert others(lab) == []
        assert len(lab.alive()) == 1  # the child that holds the pipe


def test_worker_killed_with_its_idle_supervisor_stopped_leaves_neither(lab: Lab) -> None:
    with worker(lab, "exec") as process:
        (supervisor,) = supervisors(lab)
        supervisor.suspend()
        os.kill(process.pid, signal.SIGKILL)
        wait_until(lambda: not supervisors(lab), "its end", GONE_S)
