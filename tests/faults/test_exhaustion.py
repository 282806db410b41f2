"""F25: too few file descriptors or processes, or too little memory, for a run.

The run succeeds, or stops with the reason in one line; with enough resources, the same command
continues to the same ledger.
"""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

from tests.faults.case import (
    FREQUENT_CHECKPOINTS,
    HERE,
    Case,
    Ended,
    Search,
    printed_head,
    resume_and_check,
)
from tests.faults.products import PRODUCTS
from tests.support.checker import Reference
from tests.support.figures import Part, print_figures
from weft import main
from weft.backends import forkserver
from weft.runs.execution import Execution, preloaded

SEED = 2525
COMMAND = ("run", f"{HERE / 'shuttle.py'}:shuttle", "--workers", "WORKERS", "--out", "OUT", "-q")
SHUTTLE = Search("shuttle", "", {}, FREQUENT_CHECKPOINTS, COMMAND)
MB = 1 << 20
LIMITS = {"NOFILE": (8, 60), "AS": (4 * MB, 80 * MB)}
"""From a limit at which nothing can start to one at which everything succeeds."""
STARTS = "clone,?clone3,?fork,?vfork"
"""Calls that start a process."""
DRIVER_STARTS = 1
"""Processes that the driver starts after the command: one, for the head."""
ADVICE = {
    "Too many open files": "ulimit -n",
    "Resource temporarily unavailable": "ulimit -u",
    "Cannot allocate memory": "fewer --workers",
}


def check_ended(ended: Ended) -> list[str]:
    """Report what is wrong with the end of a run under a limit."""
    lines = ended.reasons
    for reason, advice in ADVICE.items():
        if reason in ended.stderr and advice not in ended.stderr:
            return [f"does not say what to do: {ended.stderr.strip()}"]
    if ended.returncode in (0, 75) and len(lines) == (ended.returncode != 0):
        return []
    return [f"exit {ended.returncode}, said: {ended.stderr.strip()[-600:]}"]


def test_interpreter_without_memory_to_say_so_is_out_of_memory(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = SystemError("error return without exception set")
    assert main._show_unexpected(error) == main.OUR_BUG
    limits = (1 << 26, 1 << 26)
    monkeypatch.setattr(main.resource, "getrlimit", lambda _: limits)
    assert main._show_unexpected(error) == main.TRY_AGAIN
    assert "out of memory" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["EMFILE", "EAGAIN", "ENOMEM"])
def test_command_that_is_short_of_something_says_what_to_do(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = OSError(getattr(errno, name), os.strerror(getattr(errno, name)))
    monkeypatch.setattr(main, "commands", Mock(side_effect=error))
    assert main._exit_code(["status", "x"]) == main.TRY_AGAIN
    text = capsys.readouterr().err
    assert check_ended(Ended(75, "", text)) == [], text


@pytest.mark.parametrize("missing", ["Popen", "socketpair"])
def test_run_goes_on_without_the_process_that_would_load_kernels(
    missing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    library = {"Popen": forkserver.subprocess, "socketpair": forkserver.socket}[missing]
    error = BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
    monkeypatch.setattr(library, missing, Mock(side_effect=error))
    execution = Execution(tmp_path / "run", workers=1)
    with preloaded(execution, "arc.solve") as without:
        assert without is execution


@pytest.mark.parametrize("kind", LIMITS)
@pytest.mark.parametrize("count", [2, pytest.param(50, marks=pytest.mark.slow)])
def test_run_with_too_little_stops_with_its_reason_and_resumes(
    kind: str, count: int, tmp_path: Path
) -> None:
    plain = Case(tmp_path / "plain", SHUTTLE)
    assert plain.run().returncode == 0
    reference, draw, violations, stopped = Reference.of(plain.out), random.Random(SEED), [], 0
    low, high = LIMITS[kind]
    step = (high - low) // count
    limits = [low + (high - low) * n // count + draw.randrange(step) for n in range(count)]
    limits = Part.asked().of(limits)
    for limit in limits:
        case = Case(tmp_path / str(limit), SHUTTLE)
        case.extra["WEFT_FAULTS_LIMIT"] = f"{kind}={limit}"
        ended = case.run()
        stopped += ended.returncode != 0
        del case.extra["WEFT_FAULTS_LIMIT"]
        complaints = [*check_ended(ended), *resume_and_check(case, reference)]
        violations += [f"{kind}={limit}: {text}" for text in complaints]
    print_figures("F25", kind=kind, runs=len(limits), stopped=stopped, violations=len(violations))
    assert violations == []
    assert stopped > 0 or Part.asked().count > 1


def test_driver_prints_the_head_although_no_process_may_start(
    require_tool: Callable[[str], str], tmp_path: Path
) -> None:
    case = Case(tmp_path / "case", SHUTTLE)
    head = case.run().outcome["head"]
    traced = [require_tool("strace"), "-o", str(tmp_path / "log"), "-e", f"trace={STARTS}"]
    assert printed_head(case, [*traced, "-e", f"inject={STARTS}:error=EAGAIN"]) == head
    assert "(INJECTED)" in (tmp_path / "log").read_text()


@pytest.mark.parametrize(
    "search", [SHUTTLE, *(pytest.param(product, marks=pytest.mark.slow) for product in PRODUCTS)],
    ids=lambda search: search.name,
)  # fmt: skip
def test_run_that_may_start_no_process_stops_with_its_reason_and_resumes(
    search: Search, chaos: bool, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    """Starting a process fails from each start on, and at each start alone."""
    strace, log = require_tool("strace"), str(tmp_path / "starts")
    plain = Case(tmp_path / "plain", search)
    assert plain.run([strace, "-o", log, "-e", f"trace={STARTS}"]).returncode == 0
    starts = Path(log).read_text().count(" = ") - DRIVER_STARTS
    times = [f"{number}{on}" for number in range(1, starts + 1) for on in ("+", "")]
    faults = [(when, error) for error in ("EAGAIN", "ENOMEM") for when in times]
    reference, violations, stopped = Reference.of(plain.out), [], 0
    faults = Part.asked().of(faults) if chaos else faults[:1]
    for when, error in faults:
        case = Case(tmp_path / f"{error}-{when}", search)
        fault = f"inject={STARTS}:error={error}:when={when}"
        ended = case.run([strace, "-o", log, "-e", f"trace={STARTS}", "-e", fault])
        stopped += ended.returncode != 0
        complaints = [*check_ended(ended), *resume_and_check(case, reference)]
        violations += [f"{search.name} {error} at {when}: {text}" for text in complaints]
    print_figures(
        "F25", kind="starts", runs=len(faults), stopped=stopped, violations=len(violations)
    )
    assert violations == []
    assert stopped > 0 or Part.asked().count > 1
