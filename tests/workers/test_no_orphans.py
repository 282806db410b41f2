"""F11: commands that hide their children, and kills at every level: nothing stays behind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import weft
from tests.support.processes import Alive
from tests.support.waiting import HANG_S, wait_until
from tests.workers.lab import (
    SEARCHES,
    SLACK_S,
    Lab,
    attempts,
    print_figures,
    rows,
    trials,
)

LIMIT_S = 0.4
GONE_S = 5.0 + SLACK_S

PROGRAMS = {
    "plain": "sleep 1000",
    "setsid": "setsid sleep 1000 & sleep 1000",
    "double fork": "( ( setsid sleep 1000 & ) & ) ; sleep 1000",
    "term ignored": "trap '' TERM INT HUP; sleep 1000 & while :; do sleep 1; done",
    "descriptors closed": "exec 0<&- 1>&- 2>&-; setsid sleep 1000 & exec sleep 1000",
    "environment cleared": "env -i setsid sleep 1000.{marker} & sleep 1000",
    "all at once": "trap '' TERM; ( ( env -i setsid sleep 1000.{marker} & ) & ) ; sleep 1000",
}
SLEEPERS, HIDDEN = 10, 2
"""Processes of all programs that run `sleep 1000`, and those of them that hide their mark."""


def shell(lab: Lab, text: str, **more: Any) -> dict[str, Any]:
    number = str(int(lab.marker, 16) % 10**9)  # sleep takes numbers only
    return lab.step("sh", "-c", text.replace("{marker}", number), **more)


def alive(lab: Lab) -> list[Alive]:
    """Marked processes, and those that cleared their environment."""
    return lab.alive(f"1000.{int(lab.marker, 16) % 10**9}")


def left(lab: Lab, within_s: float = GONE_S) -> list[Alive]:
    end_s = time.monotonic() + within_s
    while (remaining := alive(lab)) and time.monotonic() < end_s:
        time.sleep(0.02)
    for pid, _, _ in remaining:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return remaining


@pytest.fixture(autouse=True)
def nothing_left_for_others(lab: Lab) -> Iterator[None]:
    """Kill what a failed test leaves behind; it would run for a long time."""
    yield
    left(lab, 0.0)


def test_commands_over_their_limit_leave_nothing(lab: Lab) -> None:
    steps = [shell(lab, text, timeout_s=LIMIT_S) for text in PROGRAMS.values()]
    start_s = time.monotonic()
    run = lab.run(trials.commands(steps, after=4), workers=len(steps))
    spent_s = time.monotonic() - start_s
    remaining = left(lab, 0.0)
    print_figures(
        "F11 command", programs=len(steps), seconds=round(spent_s, 2), left=len(remaining)
    )
    assert run.answer == [{"type": "timeout", "stage": "run", "code": None}] * len(steps)
    assert remaining == []
    assert spent_s < LIMIT_S + GONE_S
    assert run.timing_dependent is True


def test_tree_of_155_processes_under_a_limit_leaves_nothing(lab: Lab) -> None:
    process_counts = [0]
    bomb = ("{python}", "-I", "-S", str(SEARCHES / "bomb.py"), "3", "5")

    class Watch:
        def update(self, counts: Any) -> None:
            process_counts.append(len(lab.alive()))

    for limit_s in (1.0, 4.0, 16.0):  # a busy machine is slow to start them all
        step = lab.step(*bomb, timeout_s=limit_s)
        run = lab.run(trials.commands([step]), f"{limit_s}", workers=1, watcher=Watch())
        remaining = left(lab, 0.0)
        print_figures("F11 tree", processes=max(process_counts), left=len(remaining))
        assert run.answer == [{"type": "timeout", "stage": "run", "code": None}]
        assert remaining == []
        if max(process_counts) >= 100:
            return
    pytest.fail(f"there were never more than {max(process_counts)} processes")


@pytest.mark.parametrize("text", ["setsid sleep 1000 & exit 0", "( setsid sleep 1000 & ) ; exit 3"])
def test_children_that_linger_after_the_command_are_ended(lab: Lab, text: str) -> None:
    start_s = time.monotonic()
    run = lab.run(trials.commands([shell(lab, text)]), workers=1)
    spent_s = time.monotonic() - start_s
    remaining = left(lab, 0.0)
    print_figures("F11 linger", seconds=round(spent_s, 2), left=len(remaining))
    code = int(text[-1])
    failed = {"type": "exit", "stage": "run", "code": code}
    assert run.answer == [failed if code else {"exit_code": 0, "stdout": ""}]
    assert remaining == []
    assert spent_s < GONE_S


def test_processes_left_by_a_command_are_gone_before_the_next_begins(lab: Lab) -> None:
    """The end of the worker would kill them too; the supervisor must have done so before."""
    seconds = f"1000.{os.getpid()}"
    count = f"grep -la '[s]leep.{seconds}' /proc/[0-9]*/cmdline 2>/dev/null | wc -l"
    steps = [shell(lab, f"setsid sleep {seconds} & exit 0"), shell(lab, count)]
    run = lab.run(trials.commands(steps), workers=1)
    assert [step["stdout"].strip() for step in run.answer] == ["", "0"]


def test_command_dropped_by_an_early_stop_leaves_no_process_and_no_folder(lab: Lab) -> None:
    """It ignores TERM and keeps writing to its folder until it is killed."""
    busy = "trap '' TERM; n=0; while :; do n=$((n+1)); mkdir -p $WEFT_OUT_DIR/$n; sleep 0.005; done"
    steps = [shell(lab, "sleep 0.5; echo first"), shell(lab, busy), shell(lab, busy)]
    run = lab.run(trials.race(steps), workers=3)
    remaining = left(lab)
    folders = [path.name for path in run.out.iterdir() if path.name == "attempts"]
    print_figures("F11 dropped", left=len(remaining), folders=len(folders))
    assert run.answer == [{"exit_code": 0, "stdout": "first\n"}]
    assert remaining == []
    assert folders == []


# -- killers from outside -----------------------------------------------------------------


def apart(lab: Lab, steps: list[dict[str, Any]], **how: Any) -> subprocess.Popen[str]:
    """A coordinator in a separate process."""
    driver = Path(__file__).with_name("driver.py")
    how = {"out": str(lab.folder / "run"), "workers": 1, **how}
    args = json.dumps({"steps": steps})
    return subprocess.Popen(
        [sys.executable, driver, "trials:commands", args, json.dumps(how)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def count(lab: Lab, line: str) -> int:
    """The number of marked processes with exactly this command line."""
    return sum(line == other for *_, other in lab.alive())


def part(lab: Lab, word: str) -> int:
    """The pid of the only marked process with `word` in its command line."""
    pids = [pid for pid, _, line in lab.alive() if word in line and "driver.py" not in line]
    assert len(pids) == 1, f"{word}: {pids}"
    return pids[0]


TWO_TRIES = "[ -e {second} ] && echo done && exit; "
"""Start of a command that succeeds once the file exists."""
DONE = [{"exit_code": 0, "stdout": "done\n"}]
VICTIMS = {
    "supervisor": "supervisor.py",
    "worker": "weft.worker",
    "command": "sleep 77",
}


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGTERM], ids=["KILL", "TERM"])
@pytest.mark.parametrize("victim", sorted(VICTIMS))
def test_part_killed_from_outside_is_a_loss_and_leaves_nothing(
    lab: Lab, victim: str, signal_number: int
) -> None:
    """The first attempt is killed with its hidden children; the second succeeds."""
    mark = lab.folder / "second"
    text = f"[ -e {mark} ] && echo done && exit; setsid sleep 1000 & exec sleep 77"
    with apart(lab, [shell(lab, text)]) as process:
        wait_until(lambda: count(lab, "sleep 77"), "the command")
        wait_until(lambda: count(lab, "sleep 1000"), "its child")
        before = {(pid, born) for pid, born, line in lab.alive() if "driver.py" not in line}
        mark.touch()
        ignores = victim == "supervisor" and signal_number == signal.SIGTERM
        os.kill(part(lab, VICTIMS[victim]), signal_number)
        if ignores:  # only the worker's pipe and the limits would end it, so kill it
            time.sleep(0.2)
            os.kill(part(lab, VICTIMS[victim]), signal.SIGKILL)
        start_s = time.monotonic()
        out, err = process.communicate(timeout=HANG_S)
    gone_s = time.monotonic() - start_s
    assert process.returncode == 0, err
    assert json.loads(out)["answer"] == [{"exit_code": 0, "stdout": "done\n"}]
    stayed = {(pid, born) for pid, born, _ in lab.alive()} & before
    ends = attempts(lab.folder / "run")
    print_figures("F11 killed", victim=victim, signal=signal_number, ends=ends,
                  seconds=round(gone_s, 2), left=len(stayed))  # fmt: skip
    assert left(lab, GONE_S if victim == "worker" else 0.0) == []
    assert [(outcome, count) for outcome, _, count in ends] == [("requeued", 1)]
    assert json.loads(out)["timing_dependent"] is False


def test_worker_killed_alone_lets_its_command_leave_in_order(lab: Lab) -> None:
    """Its supervisor is alive and gives the command TERM and a second; we do not interfere."""
    farewell, second = lab.folder / "said", lab.folder / "second"
    text = f"trap 'sleep 0.2; echo bye > {farewell}; exit 0' TERM; while :; do sleep 0.05; done"
    with apart(lab, [shell(lab, TWO_TRIES.format(second=second) + text)]) as process:
        wait_until(lambda: count(lab, "sleep 0.05"), "the command")
        second.touch()
        os.kill(part(lab, VICTIMS["worker"]), signal.SIGKILL)
        out, err = process.communicate(timeout=HANG_S)
    assert process.returncode == 0, err
    assert json.loads(out)["answer"] == DONE
    assert farewell.read_text() == "bye\n"
    assert left(lab, 0.0) == []


def test_coordinator_killed_during_a_command_leaves_nothing(lab: Lab) -> None:
    text = "trap '' TERM; setsid sleep 1000 & ( ( sleep 1000 & ) & ) ; sleep 77 & wait"
    with apart(lab, [shell(lab, text)] * 2, workers=2) as process:
        wait_until(lambda: count(lab, "sleep 77") == 2, "both commands")
        running = len(lab.alive())
        process.kill()
        process.communicate(timeout=HANG_S)
    start_s = time.monotonic()
    remaining = left(lab)
    print_figures("F11 coordinator", processes=running, left=len(remaining),
                  seconds=round(time.monotonic() - start_s, 2))  # fmt: skip
    assert running >= 10
    assert remaining == []


STOPPED = {"supervisor": "$PPID", "worker": "$(cut -d' ' -f4 /proc/$PPID/stat)"}


@pytest.mark.parametrize("victim", sorted(STOPPED))
def test_stopped_part_does_not_hold_a_command_past_its_limit(lab: Lab, victim: str) -> None:
    """A stopped supervisor cannot kill, and a stopped worker cannot report; others do it instead.

    The command itself stops the processes above it, so that it is certainly within its limit.
    """
    stopped = lab.folder / "stopped"
    text = f"setsid sleep 1000 & kill -STOP {STOPPED[victim]} && : > {stopped}; exec sleep 77"
    step = shell(lab, text, timeout_s=LIMIT_S)
    start_s = time.monotonic()
    with apart(lab, [step]) as process:
        out, err = process.communicate(timeout=HANG_S)
    attempt_s = time.monotonic() - start_s
    remaining = left(lab, 0.0)
    ((ran_s,),) = rows(lab.folder / "run", "SELECT run_s FROM tasks")
    print_figures("F11 stopped", victim=victim, verdict=round(ran_s, 2),
                  run_over=round(attempt_s, 2), left=len(remaining))  # fmt: skip
    assert process.returncode == 0, err
    assert stopped.exists()
    assert json.loads(out)["answer"] == [{"type": "timeout", "stage": "run", "code": None}]
    assert remaining == []
    assert ran_s < LIMIT_S + GONE_S
    assert attempt_s < LIMIT_S + GONE_S


# -- several killed in one instant --------------------------------------------------------


def kill_at_once(*pids: int) -> None:
    """Kill processes so that none can react to the death of another: all are stopped first."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def tree(lab: Lab) -> tuple[int, int]:
    """The supervisor and the worker of the only running command."""
    return part(lab, VICTIMS["supervisor"]), part(lab, VICTIMS["worker"])


def test_workers_and_supervisors_killed_at_once_leave_nothing(lab: Lab) -> None:
    second = lab.folder / "second"
    first_tries = [TWO_TRIES.format(second=second) + text for text in PROGRAMS.values()]
    steps = [shell(lab, text) for text in first_tries]
    with apart(lab, steps, workers=len(steps)) as process:
        wait_until(lambda: count(lab, "sleep 1000") == SLEEPERS, "the commands")
        wait_until(lambda: len(alive(lab)) - len(lab.alive()) == HIDDEN, "those that hide")
        before = {(pid, born) for pid, born, line in alive(lab) if "driver.py" not in line}
        second.touch()
        words = VICTIMS["supervisor"], VICTIMS["worker"]
        killed = [pid for pid, _, line in lab.alive() if any(word in line for word in words)]
        assert len(killed) == 2 * len(steps)
        kill_at_once(*killed)
        start_s = time.monotonic()
        wait_until(lambda: not {entry[:2] for entry in alive(lab)} & before, "their end", GONE_S)
        gone_s = time.monotonic() - start_s
        out, err = process.communicate(timeout=HANG_S)
    print_figures("F11 two killed", programs=len(steps), processes=len(before),
                  gone_after=round(gone_s, 2))  # fmt: skip
    assert process.returncode == 0, err
    assert json.loads(out)["answer"] == DONE * len(steps)
    assert attempts(lab.folder / "run") == [("requeued", "worker-killed-SIGKILL", len(steps))]
    assert left(lab, 0.0) == []


def test_run_stopped_when_worker_and_supervisor_are_killed_leaves_nothing(lab: Lab) -> None:
    """The coordinator learns at once that both are gone and that it should stop."""
    with apart(lab, [shell(lab, PROGRAMS["all at once"])]) as process:
        wait_until(lambda: count(lab, "sleep 1000"), "the command")
        process.send_signal(signal.SIGSTOP)
        kill_at_once(*tree(lab))
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)
        process.communicate(timeout=HANG_S)
    assert process.returncode == weft.errors.Interrupted.exit_code
    assert left(lab, 0.0) == []


def test_strays_of_a_killed_coordinator_end_when_the_run_goes_on(lab: Lab) -> None:
    """Nobody is left to clean up; another run ignores the orphans, this run ends them."""
    second = lab.folder / "second"
    text = "setsid sleep 1000 & ( ( env -i setsid sleep 1000.{marker} & ) & ) ; exec sleep 77"
    steps = [shell(lab, TWO_TRIES.format(second=second) + text)]
    with apart(lab, steps) as process:
        wait_until(lambda: count(lab, "sleep 77"), "the command")
        kill_at_once(*tree(lab), process.pid)
        process.communicate(timeout=HANG_S)
    wait_until(lambda: not count(lab, "sleep 77"), "the kernel's kill")
    wait_until(lambda: len(alive(lab)) == 2, "the orphans alone")
    second.touch()
    assert lab.run(trials.commands([lab.step("true")]), "other").completed == 1
    assert len(alive(lab)) == 2
    with apart(lab, steps) as process:
        out, err = process.communicate(timeout=HANG_S)
    assert process.returncode == 0, err
    assert json.loads(out)["answer"] == DONE
    assert rows(lab.folder / "run", "SELECT detail FROM events WHERE kind = 'orphans-ended'") == [
        ("2 left by an earlier session",)
    ]
    assert left(lab, 0.0) == []


def test_processes_of_the_program_around_a_run_are_left_alone(lab: Lab) -> None:
    """Not killed, not reaped, and its orphans are still adopted by the same process as before."""
    argv = ["sh", "-c", "( setsid sleep 500 & ) ; exec sleep 501"]
    own = [subprocess.Popen(argv), subprocess.Popen(["sh", "-c", "exit 7"])]
    second, struck = lab.folder / "second", []

    class Killer:
        def update(self, counts: Any) -> None:
            if not struck and count(lab, "sleep 77"):
                own.append(subprocess.Popen(argv, start_new_session=True))
                wait_until(lambda: count(lab, "sleep 500") == 2, "the orphans")
                second.touch()
                struck.append(time.monotonic())
                kill_at_once(*tree(lab))

    text = TWO_TRIES.format(second=second) + "setsid sleep 1000 & exec sleep 77"
    run = lab.run(trials.commands([shell(lab, text)]), workers=1, watcher=Killer())
    stayed = sorted(line for *_, line in alive(lab))
    parents = {psutil.Process(pid).ppid() for pid, _, line in alive(lab) if line == "sleep 500"}
    ends = [process.poll() for process in own]
    for process in (own[0], own[2]):
        process.kill()
        process.wait()
    assert run.answer == DONE
    assert struck
    assert ends == [None, 7, None]
    assert stayed == ["sleep 500", "sleep 500", "sleep 501", "sleep 501"]
    assert os.getpid() not in parents


# -- memory -------------------------------------------------------------------------------

EATER = "x = bytearray(256 * 2**20); x[::4096] = b'1' * len(x[::4096]); import time; time.sleep(99)"


@pytest.mark.parametrize("hidden", [False, True], ids=["itself", "grandchild"])
def test_command_over_its_memory_ends_and_leaves_nothing(lab: Lab, hidden: bool) -> None:
    argv = ["{python}", "-S", "-c", EATER]
    if hidden:
        argv = ["sh", "-c", 'setsid "$0" "$@" & sleep 1000', *argv]
    start_s = time.monotonic()
    steps = [lab.step(*argv, memory_mb=100), lab.step("echo", "fine", memory_mb=100)]
    run = lab.run(trials.commands(steps), workers=2)
    remaining = left(lab, 0.0)
    (notes,) = rows(run.out, "SELECT notes FROM tasks WHERE state = 'failed'")[0]
    peak_mb = json.loads(notes)["peak_bytes"] >> 20
    print_figures("F10 command", peak_mb=peak_mb, seconds=round(time.monotonic() - start_s, 2))
    failed = {"type": "out-of-memory", "stage": "run", "code": None}
    assert run.answer == [failed, {"exit_code": 0, "stdout": "fine\n"}]
    assert run.timing_dependent is True
    assert remaining == []
    assert peak_mb > 100
    assert attempts(run.out) == [("failed", "out-of-memory", 1)]
