"""Runs every check, in order; one that raises is reported as a problem, and the rest still run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from weft.doctor import installed, machine, place, trial
from weft.doctor.result import OK, PROBLEM, CheckResult
from weft.runs import world

ON_THIS_MACHINE: tuple[Callable[[], CheckResult], ...] = (
    installed.check_system,
    installed.check_python,
    installed.check_packages,
    installed.check_sqlite,
    installed.check_git,
    installed.check_extras,
    machine.check_clock,
    machine.check_processors,
    machine.check_memory,
    machine.check_open_files,
    machine.check_proc,
    machine.check_parent_death,
    machine.check_gpus,
)
IN_A_FOLDER: tuple[Callable[[Path], CheckResult], ...] = (
    place.check_file_system,
    place.check_space,
    place.check_sync,
    place.check_journal,
    place.check_locks,
    trial.check_run,
)


def examine(out: Path) -> Iterator[CheckResult]:
    """Run every check, quick ones first; `out` is the folder for runs."""
    for check in ON_THIS_MACHINE:
        yield _guarded(check.__name__, check)
    yield _guarded("state", lambda: place.check_state(world.heads_folder()))
    yield from _examine_folder(out)


def _examine_folder(out: Path) -> Iterator[CheckResult]:
    """Run the checks that write; if the folder is not writable, report only that."""
    try:
        with place.scratch_folder(place.nearest(out)) as scratch:
            yield CheckResult("folder", OK, f"{place.nearest(out)} is writable")
            for check in IN_A_FOLDER:
                yield _guarded(check.__name__, partial(check, scratch))
    except OSError as error:
        yield CheckResult(
            "folder", PROBLEM, f"{out}: {error.strerror or error}", "choose another folder: --out"
        )


def _guarded(name: str, check: Callable[[], CheckResult]) -> CheckResult:
    """Run a check; report whatever it raises as a problem."""
    try:
        return check()
    except Exception as error:
        name = name.removeprefix("check_").replace("_", " ")
        return CheckResult(name, PROBLEM, f"{type(error).__name__}: {error}", "see the message")
