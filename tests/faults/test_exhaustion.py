"""F25: too few file descriptors or too little memory for the coordinator and its workers.

The run ends well, or stops with the reason in one line; with enough of it the same command goes on
to the same ledger.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.faults.case import FREQUENT_CHECKPOINTS, HERE, Case, Ended, Search, resume_and_check
from tests.support.checker import Reference
from tests.support.figures import print_figures
from weft import main

SEED = 2525
COMMAND = ("run", f"{HERE / 'shuttle.py'}:shuttle", "--workers", "WORKERS", "--out", "OUT", "-q")
SHUTTLE = Search("shuttle", "", {}, FREQUENT_CHECKPOINTS, COMMAND)
MB = 1 << 20
LIMITS = {"NOFILE": (8, 60), "AS": (4 * MB, 80 * MB)}
"""From where nothing can start to where everything goes well."""


def check_ended(ended: Ended) -> list[str]:
    """Say what is wrong with how a run under a limit ended."""
    lines = ended.stderr.strip().splitlines()
    if "Too many open files" in ended.stderr and "ulimit -n" not in ended.stderr:
        return [f"does not name the limit to raise: {ended.stderr.strip()}"]
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


@pytest.mark.parametrize("kind", LIMITS)
@pytest.mark.parametrize("count", [2, pytest.param(50, marks=pytest.mark.slow)])
def test_run_with_too_little_stops_with_its_reason_and_resumes(
    kind: str, count: int, tmp_path: Path
) -> None:
    plain = Case(tmp_path / "plain", SHUTTLE)
    assert plain.run().returncode == 0
    reference, draw, violations, stopped = Reference.of(plain.out), random.Random(SEED), [], 0
    for number in range(count):
        low, high = LIMITS[kind]
        limit = low + (high - low) * number // count + draw.randrange((high - low) // count)
        case = Case(tmp_path / str(number), SHUTTLE)
        case.extra["WEFT_FAULTS_LIMIT"] = f"{kind}={limit}"
        ended = case.run()
        stopped += ended.returncode != 0
        del case.extra["WEFT_FAULTS_LIMIT"]
        found = [*check_ended(ended), *resume_and_check(case, reference)]
        violations += [f"{kind}={limit}: {text}" for text in found]
    print_figures("F25", kind=kind, runs=count, stopped=stopped, violations=len(violations))
    assert violations == []
    assert stopped > 0
