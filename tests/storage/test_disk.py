"""Durable operations: complete or not at all, even when the system writes a few bytes at a time."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.storage.disks import NamedDisk
from tests.support.processes import open_descriptors
from weft.storage.disk import Disk


@pytest.fixture
def short_writes(monkeypatch):
    """Make os.write write at most three bytes per call."""
    real = os.write
    sizes: list[int] = []

    def write(fd, data):
        sizes.append(real(fd, bytes(data[:3])))
        return sizes[-1]

    monkeypatch.setattr(os, "write", write)
    return sizes


def test_append_short_writes_are_continued(tmp_path, short_writes):
    fd = os.open(tmp_path / "file", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    Disk().append(fd, b"0123456789")
    os.close(fd)
    assert (tmp_path / "file").read_bytes() == b"0123456789"
    assert short_writes == [3, 3, 3, 1]


def test_append_nothing_writes_nothing(tmp_path, short_writes):
    fd = os.open(tmp_path / "file", os.O_WRONLY | os.O_CREAT)
    Disk().append(fd, b"")
    os.close(fd)
    assert short_writes == []


def test_replace_short_writes_are_continued(tmp_path, short_writes):
    (tmp_path / "file").write_bytes(b"old")
    Disk().replace(tmp_path / "file", b"0123456789", mode=0o444)
    assert (tmp_path / "file").read_bytes() == b"0123456789"
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o444
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_replace_disk_full_leaves_the_old_file(tmp_path, monkeypatch):
    def write(fd, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "file").write_bytes(b"old")
    monkeypatch.setattr(os, "write", write)
    with pytest.raises(OSError, match="No space"):
        Disk().replace(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"


def test_replace_leftover_of_a_crash_is_overwritten(tmp_path):
    (tmp_path / "file.tmp").write_bytes(b"half of something longer")
    Disk().replace(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"


def test_truncate_cuts_the_end(tmp_path):
    (tmp_path / "file").write_bytes(b"0123456789")
    fd = os.open(tmp_path / "file", os.O_RDWR)
    Disk().truncate(fd, 4)
    os.close(fd)
    assert (tmp_path / "file").read_bytes() == b"0123"


def test_make_folder_missing_parents_syncs_each_parent(tmp_path):
    class Recorder(Disk):
        def __init__(self):
            super().__init__()
            self.synced = []

        def sync_folder(self, folder):
            self.synced.append(folder)
            super().sync_folder(folder)

    disk = Recorder()
    disk.make_folder(tmp_path / "a" / "b")
    assert disk.synced == [tmp_path, tmp_path / "a"]
    disk.make_folder(tmp_path / "a" / "b")
    assert len(disk.synced) == 2


def test_make_folder_that_a_dead_process_made_is_synced_again(tmp_path):
    (tmp_path / "a").mkdir()
    disk = Disk()
    steps = []
    disk.step = steps.append
    disk.make_folder(tmp_path / "a")
    disk.make_folder(tmp_path / "a")
    assert steps == ["sync-folder"]


def test_steps_name_every_durable_operation(tmp_path):
    disk = NamedDisk()
    disk.replace(tmp_path / "file", b"x")
    assert disk.names == ["write-temp", "rename", "sync-folder"]


def name_of(fd):
    return str(Path(f"/proc/self/fd/{fd}").readlink())


def test_sync_reaches_the_file_and_the_folder_and_leaves_no_descriptor(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(os, "fdatasync", lambda fd: calls.append(("data", fd)))
    monkeypatch.setattr(os, "fsync", lambda fd: calls.append(("all", name_of(fd))))
    file = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    before = open_descriptors()
    Disk().sync(file)
    Disk().sync_folder(tmp_path)
    Disk().truncate(file, 0)
    Disk().replace(tmp_path / "other", b"x")
    assert calls == [("data", file), ("all", str(tmp_path)), ("all", str(tmp_path / "file")),
                     ("all", str(tmp_path / "other.tmp")), ("all", str(tmp_path))]  # fmt: skip
    assert open_descriptors() <= before
    assert (tmp_path / "other").stat().st_mode & 0o777 == 0o644
    os.close(file)


def test_truncate_is_a_step_of_its_own(tmp_path):
    names = []

    class Named(Disk):
        def step(self, name):
            names.append(name)

    file = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    Named().truncate(file, 0)
    Named().sync(file)
    os.close(file)
    assert names == ["truncate", "sync"]
