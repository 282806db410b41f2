"""Checks of the folders for runs and heads.

They write only to a temporary folder there, which is removed afterwards.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psutil

from weft.doctor.result import NOTE, OK, PROBLEM, CheckResult, size_text
from weft.storage.disk import Disk

SLOW_SYNC_S = 0.02
SYNCS = 15
LOW_SPACE_BYTES = 2**30
NO_SPACE_BYTES = 64 * 2**20
LOCK_LIMIT_S = 10.0
NETWORK = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "lustre", "glusterfs",
           "fuse.sshfs", "fuse.s3fs", "fuse.gcsfuse", "vboxsf", "drvfs")  # fmt: skip
TRANSIENT = {
    "overlay": "a container's own layer, deleted with the container",
    "tmpfs": "memory, lost when the machine restarts",
    "ramfs": "memory, lost when the machine restarts",
}
_TRY_LOCK = """
import fcntl, sys
file = open(sys.argv[1], "a")
try:
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    sys.exit(10)
print("held", flush=True)
sys.stdin.read()
"""
_BUSY = 10


def nearest(path: Path) -> Path:
    """Return the folder itself, or the nearest one above it that exists."""
    path = path.absolute()
    return next(p for p in (path, *path.parents) if p.exists())


@contextmanager
def scratch_folder(folder: Path) -> Iterator[Path]:
    """Yield a new folder for trial files; it is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix=".weft-doctor-", dir=folder) as name:
        (Path(name) / "probe").write_bytes(bytes(4096))
        yield Path(name)


def check_state(folder: Path) -> CheckResult:
    """The user's state folder, which stores heads outside every run, is writable."""
    step = "set XDG_STATE_HOME to a writable folder"
    try:
        with scratch_folder(nearest(folder)):
            return CheckResult("state", OK, f"{folder} is writable")
    except OSError as error:
        return CheckResult("state", PROBLEM, f"{folder}: {error.strerror or error}", step)


def check_file_system(folder: Path, kind: str | None = None) -> CheckResult:
    """The folder for runs is on a local, lasting disk."""
    kind = _kind(folder) if kind is None else kind
    if kind in NETWORK:
        detail = f"{kind}: locks and synced writes depend on the server"
        return CheckResult(
            "file system", NOTE, detail, "keep runs on a local disk, copy them afterwards"
        )
    if kind in TRANSIENT:
        return CheckResult(
            "file system", NOTE, f"{kind}: {TRANSIENT[kind]}", "keep runs on a real disk"
        )
    return CheckResult("file system", OK, kind)


def _kind(folder: Path) -> str:
    """Return the type of a folder's file system: the one mounted nearest above it."""
    above = {str(p) for p in (folder.resolve(), *folder.resolve().parents)}
    mounts = [m for m in psutil.disk_partitions(all=True) if m.mountpoint in above]
    return max(mounts, key=lambda m: len(m.mountpoint)).fstype if mounts else "unknown"


def check_space(folder: Path, free_bytes: int | None = None) -> CheckResult:
    """The disk has room for ledger, manifest and objects; a million tiny tasks take a gigabyte."""
    volume = os.statvfs(folder)
    free = volume.f_bavail * volume.f_frsize if free_bytes is None else free_bytes
    detail = f"{size_text(free)} free"
    if volume.f_files and not volume.f_favail:
        return CheckResult(
            "space", PROBLEM, "no inodes left", "remove files, or choose another --out"
        )
    if free < NO_SPACE_BYTES:
        return CheckResult("space", PROBLEM, detail, "free space, or choose another --out")
    if free < LOW_SPACE_BYTES:
        return CheckResult("space", NOTE, detail, "a full disk interrupts a run; nothing is lost")
    return CheckResult("space", OK, detail)


def check_sync(folder: Path, sync: Callable[[int], None] = os.fdatasync) -> CheckResult:
    """Written data can be synced to the disk, and how long that takes."""
    times_s = []
    fd = os.open(folder / "sync", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        for _ in range(SYNCS):
            os.write(fd, bytes(4096))
            start_s = time.perf_counter()
            sync(fd)
            times_s.append(time.perf_counter() - start_s)
        Disk().sync_folder(folder)
    except OSError as error:
        return CheckResult("sync", PROBLEM, f"fsync: {error.strerror}", "choose another --out")
    finally:
        os.close(fd)
    median_s = statistics.median(times_s)
    detail = f"fsync takes {1e3 * median_s:.2f} ms, at most {1e3 * max(times_s):.2f} ms"
    if median_s > SLOW_SYNC_S:
        return CheckResult("sync", NOTE, detail, "every round waits for it: use a faster disk")
    return CheckResult("sync", OK, detail)


def check_journal(folder: Path) -> CheckResult:
    """SQLite's write-ahead log, which needs shared memory, works there."""
    try:
        with closing(sqlite3.connect(folder / "probe.sqlite")) as db:
            mode = db.execute("PRAGMA journal_mode=WAL").fetchone()[0]
            db.execute("CREATE TABLE t (x)")
            db.commit()
    except sqlite3.Error as error:
        return CheckResult("journal", PROBLEM, f"SQLite: {error}", "choose another --out")
    if mode != "wal":
        return CheckResult(
            "journal", PROBLEM, f"SQLite stays in mode {mode}", "choose another --out"
        )
    return CheckResult("journal", OK, "SQLite write-ahead log works")


def check_locks(folder: Path) -> CheckResult:
    """A lock excludes other processes, and the kernel releases it when its holder is killed."""
    step = "choose another --out: two coordinators could write one run"
    lock = folder / "lock"
    with _locker(lock) as first:
        if not _holds(first):
            return CheckResult("locks", PROBLEM, "a file cannot be locked", step)
        with _locker(lock) as second:
            if _holds(second) or second.wait(LOCK_LIMIT_S) != _BUSY:
                return CheckResult("locks", PROBLEM, "two processes held one lock", step)
        first.send_signal(signal.SIGKILL)
        first.wait()
        with _locker(lock) as third:
            if not _holds(third):
                return CheckResult("locks", PROBLEM, "a killed process kept its lock", step)
    return CheckResult("locks", OK, "exclusive between processes, freed by a kill")


@contextmanager
def _locker(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Yield a process that tries to hold the lock until it is killed."""
    argv = [sys.executable, "-I", "-S", "-c", _TRY_LOCK, str(path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        argv, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def _holds(child: subprocess.Popen[str]) -> bool:
    assert child.stdout is not None
    return child.stdout.readline() == "held\n"
