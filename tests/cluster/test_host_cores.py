"""A run's default number of workers: the cores this process may use, not those of the machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import weft
from tests.support.engine import loom
from weft.cluster import host
from weft.storage.folder import RunFolder

NO_GROUP = Path("/nonexistent")


def usable() -> int:
    return len(os.sched_getaffinity(0))


def write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".", 1)).write_text(text)


def test_cores_without_a_control_group_are_those_of_the_affinity() -> None:
    assert host.cpu_count(NO_GROUP, NO_GROUP) == usable()


def test_cores_follow_the_affinity_of_the_process() -> None:
    core = min(os.sched_getaffinity(0))
    code = (
        f"import os; os.sched_setaffinity(0, [{core}]);"
        "from weft.cluster import host; print(host.cpu_count())"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert result.stdout == b"1\n"


@pytest.mark.parametrize(
    ("text", "quota"),
    [("50000 100000", 0.5), ("max 100000", None), ("150000 100000", 1.5), ("-1", None), ("", None)],
)
def test_quota_of_the_root_group_is_read(tmp_path: Path, text: str, quota: float | None) -> None:
    write(tmp_path, cpu_max=text)
    assert host.cpu_quota(tmp_path, NO_GROUP) == quota
    expected = usable() if quota is None else max(1, min(usable(), int(quota)))
    assert host.cpu_count(tmp_path, NO_GROUP) == expected


def test_smallest_quota_on_the_way_to_the_own_group_counts(tmp_path: Path) -> None:
    groups = tmp_path / "cgroup"
    write(groups / "user/job/step", cpu_max="max 100000")
    write(groups / "user/job", cpu_max="100000 100000")
    write(groups / "user", cpu_max="400000 100000")
    (tmp_path / "own").write_text("0::/user/job/step\n")
    assert host.cpu_quota(groups, tmp_path / "own") == 1.0


def test_quota_of_version_1_groups_is_read(tmp_path: Path) -> None:
    groups = tmp_path / "cgroup"
    write(groups / "cpu/job", cpu_cfs_quota_us="300000", cpu_cfs_period_us="100000")
    write(groups / "cpu", cpu_cfs_quota_us="-1", cpu_cfs_period_us="100000")
    (tmp_path / "own").write_text("7:memory:/job\n4:cpu,cpuacct:/job\nnonsense\n")
    assert host.cpu_quota(groups, tmp_path / "own") == 3.0


def test_run_has_as_many_workers_as_cores_and_the_same_head_as_with_one(tmp_path: Path) -> None:
    many = weft.run(loom(), out=tmp_path / "many")
    assert RunFolder(tmp_path / "many").read_run_file().execution["workers"] == host.cpu_count()
    assert many.head == weft.run(loom(), out=tmp_path / "one", workers=1).head
