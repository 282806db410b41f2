"""`weft doctor`: sound here, and every planted problem is found and reported with a next step."""

from __future__ import annotations

import errno
import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from weft.doctor import installed, machine, place, trial
from weft.doctor.examine import examine
from weft.doctor.result import NOTE, OK, PROBLEM, CheckResult

WEFT = [sys.executable, "-m", "weft.main"]
UNWRITABLE = "/proc/nowhere"
"""Below a file system in which nobody can create files, not even root."""


def call(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*WEFT, "doctor", *words], capture_output=True, text=True, env={**os.environ, **env}
    )


def by_name(process: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in json.loads(process.stdout)["checks"]}


def planted(check: CheckResult, verdict: str, *words: str) -> None:
    assert check.verdict == verdict, check
    assert (check.next != "") == (verdict != OK), check
    for word in words:
        assert word in f"{check.detail} {check.next}", check


# -- the command --------------------------------------------------------------------------


def test_doctor_finds_this_machine_sound_and_leaves_nothing(tmp_path: Path) -> None:
    process = call("--out", str(tmp_path), "--json")
    body = json.loads(process.stdout)
    assert (process.returncode, body["problems"], body["schema_version"]) == (0, 0, 1), process
    assert {c["verdict"] for c in body["checks"]} <= {OK, NOTE}
    names = [c["name"] for c in body["checks"]]
    assert len(names) == len(set(names))
    assert {"python", "packages", "sqlite", "state", "locks", "sync", "space", "run"} <= {*names}
    assert "head as known" in by_name(process)["run"]["found"]
    assert list(tmp_path.iterdir()) == []


def test_doctor_prints_one_line_per_check(tmp_path: Path) -> None:
    process = call("--out", str(tmp_path))
    *lines, last = process.stdout.splitlines()
    assert process.returncode == 0, process
    assert {line.split()[0] for line in lines} <= {OK, NOTE}
    assert last == f"{len(lines)} checks, no problem"
    assert process.stderr == ""


def test_doctor_folder_that_is_not_there_yet_is_judged_by_its_parent(tmp_path: Path) -> None:
    process = call("--out", str(tmp_path / "not" / "yet"), "--json")
    assert process.returncode == 0, process
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("out", [UNWRITABLE, "{file}/x", "{file}"])
def test_doctor_unwritable_folder_is_a_problem(tmp_path: Path, out: str) -> None:
    (tmp_path / "file").touch()
    process = call("--out", out.format(file=tmp_path / "file"), "--json")
    assert process.returncode == 1, process
    folder = by_name(process)["folder"]
    assert (folder["verdict"], folder["next"]) == (PROBLEM, "choose another folder: --out")
    assert "run" not in by_name(process), "nothing is tried where nothing can be written"


def test_doctor_unwritable_state_folder_is_a_problem(tmp_path: Path) -> None:
    process = call("--out", str(tmp_path), "--json", XDG_STATE_HOME=UNWRITABLE)
    assert process.returncode == 1, process
    state = by_name(process)["state"]
    assert state["verdict"] == PROBLEM
    assert "XDG_STATE_HOME" in state["next"]
    assert json.loads(process.stdout)["problems"] == 1


def test_doctor_worker_that_cannot_start_is_a_problem(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    # Loaded by every interpreter, including workers: only they have `weft.worker` in their words.
    (broken / "sitecustomize.py").write_text(
        "import sys\nif 'weft.worker' in sys.orig_argv: raise SystemExit('planted')\n"
    )
    paths = os.pathsep.join(filter(None, [str(broken), os.environ.get("PYTHONPATH", "")]))
    process = call("--out", str(tmp_path), "--json", PYTHONPATH=paths)
    assert process.returncode == 1, process
    run = by_name(process)["run"]
    assert (run["verdict"], "workers cannot start" in run["found"]) == (PROBLEM, True), run


# -- single checks ------------------------------------------------------------------------


def version_of(**versions: str) -> Callable[[str], str]:
    def version(name: str) -> str:
        if name not in versions:
            raise importlib.metadata.PackageNotFoundError(name)
        return versions[name]

    return version


def test_another_system_is_a_problem() -> None:
    planted(installed.check_system("darwin"), PROBLEM, "Linux")


@pytest.mark.parametrize(
    ("version", "verdict"), [((3, 10, 14), PROBLEM), ((3, 11, 0), OK), ((3, 13, 1), OK)]
)
def test_python_too_old_is_a_problem(version: tuple[int, ...], verdict: str) -> None:
    planted(installed.check_python(version), verdict)


def test_packages_missing_and_old_are_named() -> None:
    requirements = ["a>=2.10", "b", "c>=1 ; extra == 'dev'", "d>=1.0"]
    check = installed.check_packages(requirements, version_of(a="2.9.3", d="1"))
    planted(check, PROBLEM, "a 2.9.3 is older than 2.10", "b is not installed", "pip install")
    assert "c" not in check.detail.split()
    planted(installed.check_packages(requirements, version_of(a="2.10", b="0", d="1.0.1")), OK)


@pytest.mark.parametrize(
    ("version", "verdict", "caveat"),
    [
        ((3, 20, 0), PROBLEM, False), ((3, 40, 1), OK, True), ((3, 44, 6), OK, False),
        ((3, 51, 2), OK, True), ((3, 51, 3), OK, False), ((3, 60, 0), OK, False),
    ],
)  # fmt: skip
def test_sqlite_versions(version: tuple[int, ...], verdict: str, caveat: bool) -> None:
    check = installed.check_sqlite(version)
    planted(check, verdict)
    assert ("WAL-reset" in check.detail) == caveat


def test_missing_git_is_a_note() -> None:
    planted(installed.check_git(lambda _: "/bin/git"), OK)
    planted(installed.check_git(lambda _: None), NOTE, "weft tree")


def test_extras_that_are_missing_are_fine() -> None:
    check = installed.check_extras(lambda extra: ["x"] if extra in ("ray", "gpu") else [])
    planted(check, OK, "installed: arc, ", "not: ray (other machines), gpu (kernels on a GPU)")


def test_clock_that_goes_back_stands_or_jumps_is_found() -> None:
    planted(machine.check_clock(), OK)
    back = iter([1.0, 1.01, 1.005, 1.2])
    planted(machine.check_clock(lambda: 2e9, back.__next__), PROBLEM, "went back")
    planted(machine.check_clock(lambda: 2e9, lambda: 5.0), PROBLEM, "does not advance")
    walls = iter([2e9, 2e9 + 3600])
    planted(machine.check_clock(walls.__next__), NOTE, "wall clock moved")
    planted(machine.check_clock(lambda: 1000.0), NOTE, "2025")


def test_limits_of_a_control_group_are_seen(tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text("50000 100000\n")
    (tmp_path / "memory.max").write_text(f"{2**28}\n")
    (tmp_path / "memory.current").write_text(f"{2**27}\n")
    planted(machine.check_processors(tmp_path), NOTE, "0.5", "--workers 1")
    planted(machine.check_memory(2**35, tmp_path), NOTE, "128.0 MiB")
    (tmp_path / "cpu.max").write_text("max 100000\n")
    (tmp_path / "memory.max").write_text("max\n")
    planted(machine.check_processors(tmp_path), OK)
    planted(machine.check_memory(2**35, tmp_path), OK, "32.0 GiB")


def test_few_open_files_are_noted() -> None:
    planted(machine.check_open_files(64), NOTE, "64", "ulimit")


def test_proc_that_cannot_be_read_is_found(tmp_path: Path) -> None:
    planted(machine.check_proc(tmp_path), PROBLEM, "mount /proc")
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "stat").touch()
    planted(machine.check_proc(tmp_path), NOTE, "locks")


def test_kernel_without_parent_death_signal_is_noted() -> None:
    planted(machine.check_parent_death(lambda number, *_: -1 if number == 2 else 0), NOTE, "PDEATH")
    planted(machine.check_parent_death(), OK)


def test_gpus_are_listed_and_a_broken_tool_is_noted(tmp_path: Path) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text(
        "#!/bin/sh\necho '0, Planted GPU, 24576 MiB'\necho '1, Planted GPU, 24576 MiB'\n"
    )
    tool.chmod(0o755)
    which = {"nvidia-smi": str(tool)}.get
    planted(machine.check_gpus(which), OK, "0, Planted GPU", "1, Planted GPU")
    tool.write_text("#!/bin/sh\nexit 9\n")
    planted(machine.check_gpus(which), NOTE, "nvidia-smi")
    planted(machine.check_gpus(lambda name: None), OK, "none")


@pytest.mark.parametrize(
    ("kind", "verdict"), [("nfs4", NOTE), ("overlay", NOTE), ("tmpfs", NOTE), ("ext4", OK)]
)
def test_file_systems_that_do_not_last_are_noted(tmp_path: Path, kind: str, verdict: str) -> None:
    planted(place.check_file_system(tmp_path, kind), verdict, kind)


def test_kind_of_a_known_file_system_is_found() -> None:
    assert place.check_file_system(Path("/proc")).detail == "proc"


@pytest.mark.parametrize(("free", "verdict"), [(2**20, PROBLEM), (2**29, NOTE), (2**35, OK)])
def test_little_space_is_found(tmp_path: Path, free: int, verdict: str) -> None:
    planted(place.check_space(tmp_path, free), verdict)


def test_sync_that_fails_or_is_slow_is_found(tmp_path: Path, monkeypatch: Any) -> None:
    def fails(fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    planted(place.check_sync(tmp_path, fails), PROBLEM, "Input/output error")
    monkeypatch.setattr(place, "SLOW_SYNC_S", 0.0)
    planted(place.check_sync(tmp_path), NOTE, "faster disk")


def test_locks_that_lock_nobody_out_are_a_problem(tmp_path: Path, monkeypatch: Any) -> None:
    planted(place.check_locks(tmp_path), OK)
    nobody = place._TRY_LOCK.replace("fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)", "pass")
    monkeypatch.setattr(place, "_TRY_LOCK", nobody)
    planted(place.check_locks(tmp_path), PROBLEM, "two processes held one lock")
    monkeypatch.setattr(place, "_TRY_LOCK", "raise OSError('no locks available')")
    planted(place.check_locks(tmp_path), PROBLEM, "cannot be locked")


def test_journal_where_nothing_can_be_written_is_a_problem(tmp_path: Path) -> None:
    planted(place.check_journal(tmp_path / "missing"), PROBLEM, "SQLite")


def test_run_with_another_head_is_a_problem(tmp_path: Path) -> None:
    planted(trial.check_run(tmp_path, "0" * 64), PROBLEM, "head")


def test_check_that_trips_is_reported_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: Any
) -> None:
    def trips() -> CheckResult:
        raise RuntimeError("planted")

    trips.__name__ = "check_memory"
    monkeypatch.setattr("weft.doctor.examine.ON_THIS_MACHINE", (trips, machine.check_proc))
    checks = list(examine(tmp_path))
    assert [c.name for c in checks if c.verdict == PROBLEM] == ["memory"]
    assert checks[-1].name == "run"
