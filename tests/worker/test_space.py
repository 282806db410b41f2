"""Free space on real small file systems: what is short, and which failures become losses."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest

from tests.support.smallfs import small_file_system
from tests.support.tools import require_tool
from weft.worker import space
from weft.worker.ending import Ending
from weft.worker.freeroom import UNLIMITED, free_room
from weft.worker.space import SpaceWatch, shortage


@pytest.fixture
def small(tmp_path):
    with small_file_system(tmp_path / "small", "size=4m,nr_inodes=200") as folder:
        yield folder


def fill(folder, left):
    size, _ = free_room(str(folder))
    (folder / "filler").write_bytes(bytes(size - left))


def lost(check):
    with pytest.raises(Ending) as caught:
        check()
    loss = caught.value.outcome(1)
    assert loss.cause == "resource"
    return loss.reason


def test_shortage_of_bytes_and_of_inodes(small):
    assert shortage(small) == ""
    fill(small, 1 << 19)
    assert shortage(small) == f"short of space: 512 KiB free in {small}"
    (small / "filler").unlink()
    for number in range(150):
        (small / str(number)).touch()
    assert shortage(small) == f"short of inodes: 49 free in {small}"


def test_nothing_left_at_all_is_a_shortage(small):
    fill(small, 0)
    assert shortage(small) == f"short of space: 0 KiB free in {small}"


def test_file_system_without_limits_has_room(tmp_path):
    with small_file_system(tmp_path / "free", "size=0,nr_inodes=0") as folder:
        assert free_room(str(folder)) == (UNLIMITED, UNLIMITED)
        assert shortage(folder) == ""


def test_counters_at_zero_are_not_believed_where_a_file_can_be_written(tmp_path, monkeypatch):
    """As some network file systems report."""
    monkeypatch.setattr(space, "free_room", lambda _: (0, 0))
    assert shortage(tmp_path) == ""


def test_folder_that_is_gone_is_no_shortage(tmp_path):
    assert shortage(tmp_path / "gone") == ""


def test_user_who_may_not_use_what_is_kept_for_root_sees_less(tmp_path, monkeypatch):
    status = os.statvfs(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    size, inodes = free_room(str(tmp_path))
    assert abs(size - status.f_bavail * status.f_frsize) < 1 << 30
    assert inodes > 0


def test_watch_refuses_a_start_without_room(small):
    watch = SpaceWatch([small, small])
    assert watch.folders == [str(small)]
    watch.check_before()
    fill(small, 1 << 19)
    assert "512 KiB free" in lost(watch.check_before)


def test_watch_doubts_a_success_only_when_nothing_was_left(small):
    watch = SpaceWatch([small])
    watch.sampled({str(small): [1 << 19, 70]})
    watch.check_success()
    watch.sampled({str(small): [0, 70]})
    assert "0 KiB free" in lost(watch.check_success)


@pytest.mark.parametrize(
    ("error", "words", "reason"),
    [
        (ValueError("its own"), "Traceback\nValueError: its own", ""),
        (OSError(errno.ENOSPC, "full"), "", "short of space: [Errno 28] full"),
        (ValueError(), "cp: x: No space left on device\nfailed", "short of space, as the command"),
        (ValueError(), "cp: x: Disk quota exceeded", "short of space, as the command says: cp: x:"),
        (ValueError(), "No space left on device" + "\nlater" * 20, ""),
    ],
)
def test_reason_of_a_failure_with_room_left_is_in_its_own_words(tmp_path, error, words, reason):
    reason_given = SpaceWatch([tmp_path]).reason(error, words)
    assert reason_given.startswith(reason)
    assert bool(reason_given) == bool(reason)


def test_reason_of_a_failure_is_the_least_room_seen_while_it_ran(tmp_path):
    watch = SpaceWatch([tmp_path])
    watch.sampled({str(tmp_path): [1 << 30, 3]})
    assert watch.reason(ValueError(), "") == f"short of inodes: 3 free in {tmp_path}"


def test_quota_that_counters_do_not_show_is_found_by_writing(tmp_path):
    program = (
        "import sys; from pathlib import Path; from weft.worker.space import SpaceWatch;"
        "print(SpaceWatch([Path(sys.argv[1])]).reason(ValueError(), ''))"
    )
    strace = [require_tool("strace"), "-o", "/dev/null", "-e", "inject=fallocate:error=EDQUOT"]
    result = subprocess.run(
        [*strace, sys.executable, "-c", program, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout == f"short of space: Disk quota exceeded in {tmp_path}\n"
