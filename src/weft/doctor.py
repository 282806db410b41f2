"""Is this machine fit to run searches? One function per check, each says what to do next.

A check looks at one thing and returns a `Check`; it never raises for what it finds. Whatever it
writes is below one temporary folder of the place that is examined, and is removed again.
`ok` needs no attention, a `note` is worth knowing, a `problem` keeps runs from working.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import os
import re
import resource
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil

from weft.demo import picture
from weft.errors import WeftError
from weft.model.tasks import Budget, SearchCall
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.heads import HeadsList
from weft.wiring import world
from weft.wiring.opening import Place
from weft.wiring.request import Decision, Execution
from weft.wiring.run import carry_out, checked_policy

SCHEMA_VERSION = 1
OK, NOTE, PROBLEM = "ok", "note", "problem"

MIN_PYTHON = (3, 11)
WAL_RESET_FIXED = (3, 51, 3)
WAL_RESET_BACKPORTS = ((3, 44, 6), (3, 50, 7))
"""SQLite's WAL-reset bug (sqlite.org/wal.html) needs two connections that write or checkpoint."""
KNOWN_HEAD = "fa6adc128b1de5e327120a99a232a82f584eda9e3311073c8b085a9689388d4c"
"""Head of `trial()`, the same on every machine."""
SLOW_SYNC_S = 0.02
SLOW_START_S = 2.0
LOW_SPACE_BYTES = 2**30
NO_SPACE_BYTES = 64 * 2**20
LOW_MEMORY_BYTES = 2**30
FEW_FILES = 256
SYNCS = 15
TOOL_LIMIT_S = 10.0
EARLIEST_S = 1_735_689_600
"""2025-01-01: a clock before this was never set."""
EXTRAS = {
    "ray": "more than one machine",
    "numpy": "arrays in tasks",
    "numba": "compiled kernels",
    "cupy": "kernels on a GPU",
}
NETWORK = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "lustre", "glusterfs",
           "fuse.sshfs", "fuse.s3fs", "fuse.gcsfuse", "vboxsf", "drvfs")  # fmt: skip
PASSING = {
    "overlay": "a container's own layer, gone with the container",
    "tmpfs": "memory, gone with the next start of the machine",
    "ramfs": "memory, gone with the next start of the machine",
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


@dataclass(frozen=True, slots=True)
class Check:
    """What one check found; `next` is what to do about it, empty when nothing."""

    name: str
    verdict: str
    found: str
    next: str = ""


@dataclass(frozen=True, slots=True)
class Health:
    """All checks, in the order they were made."""

    checks: tuple[Check, ...]

    @property
    def problems(self) -> int:
        """How many checks found a problem."""
        return sum(check.verdict == PROBLEM for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        checks = [asdict(check) for check in self.checks]
        return {"schema_version": SCHEMA_VERSION, "problems": self.problems, "checks": checks}


def examine(out: Path) -> Iterator[Check]:
    """Make every check, quick ones first; runs would go into the folder `out`."""
    for check in (
        check_system, check_python, check_packages, check_sqlite, check_clock, check_processors,
        check_memory, check_open_files, check_proc, check_parent_death, check_gpus, check_extras,
    ):  # fmt: skip
        yield _guarded(check.__name__, check)
    yield _guarded("state", lambda: check_state(world.heads_folder()))
    yield from _examine_folder(out)


def _examine_folder(out: Path) -> Iterator[Check]:
    """Make the checks that write; without a place to write only the first of them is made."""
    try:
        with _room(nearest(out)) as room:
            yield Check("folder", OK, f"{nearest(out)} can be written")
            yield _guarded("file system", lambda: check_file_system(room))
            yield _guarded("space", lambda: check_space(room))
            for check in (check_sync, check_journal, check_locks, check_run):
                yield _guarded(check.__name__, lambda check=check: check(room))  # type: ignore[misc]
    except OSError as error:
        yield Check(
            "folder", PROBLEM, f"{out}: {error.strerror or error}", "choose another folder: --out"
        )


def _guarded(name: str, check: Callable[[], Check]) -> Check:
    """A check that trips is a finding of its own, not the end of the examination."""
    try:
        return check()
    except Exception as error:
        name = name.removeprefix("check_").replace("_", " ")
        return Check(name, PROBLEM, f"{type(error).__name__}: {error}", "see the message")


# -- the interpreter and what is installed ------------------------------------------------


def check_system(name: str = sys.platform) -> Check:
    """Linux: process control and locks are its own."""
    if name == "linux":
        return Check("system", OK, f"Linux {os.uname().release}, {os.uname().machine}")
    return Check("system", PROBLEM, f"{name} is not Linux", "use Linux, or a container of it")


def check_python(version: tuple[int, ...] = sys.version_info[:3]) -> Check:
    """The interpreter is new enough."""
    text = ".".join(map(str, version))
    if version >= MIN_PYTHON:
        return Check("python", OK, text)
    least = ".".join(map(str, MIN_PYTHON))
    return Check("python", PROBLEM, f"{text} is older than {least}", f"install Python {least}")


def check_packages(
    requirements: list[str] | None = None,
    installed: Callable[[str], str] = importlib.metadata.version,
) -> Check:
    """What Weft needs is there, and not older than it must be."""
    asked = importlib.metadata.requires("weft") if requirements is None else requirements
    needed = [_requirement(text) for text in asked or [] if "extra ==" not in text]
    wrong = [found for name, least in needed if (found := _missing(name, least, installed))]
    if wrong:
        return Check("packages", PROBLEM, "; ".join(wrong), "pip install --upgrade weft")
    return Check("packages", OK, f"{len(needed)} packages, none too old")


def _requirement(text: str) -> tuple[str, str]:
    """Split `name>=1.2`; other conditions are pip's business."""
    name = re.match(r"[\w.-]+", text)
    least = re.search(r">=\s*([\w.]+)", text)
    return name.group() if name else text, least.group(1) if least else "0"


def _missing(name: str, least: str, installed: Callable[[str], str]) -> str:
    try:
        version = installed(name)
    except importlib.metadata.PackageNotFoundError:
        return f"{name} is not installed"
    return f"{name} {version} is older than {least}" if _older(version, least) else ""


def _older(version: str, least: str) -> bool:
    """Compare release numbers.

    >>> _older("4.9", "4.10"), _older("2.0rc1", "2"), _older("1", "1.0")
    (True, False, False)
    """
    releases = [[int(n) for n in re.findall(r"(?:^|\.)(\d+)", text)] for text in (version, least)]
    width = max(map(len, releases))
    mine, wanted = ([*r, *[0] * (width - len(r))] for r in releases)
    return mine < wanted


def check_sqlite(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> Check:
    """The SQLite that Python was built with; the manifest has one writer at a time."""
    text = ".".join(map(str, version))
    if version < (3, 24, 0):
        return Check("sqlite", PROBLEM, f"{text} lacks upsert", "use a newer Python build")
    mended = any(fix <= version < (*fix[:2], 99) for fix in WAL_RESET_BACKPORTS)
    if version < WAL_RESET_FIXED and not mended:
        return Check("sqlite", OK, f"{text}; its WAL-reset bug needs two writers, a run has one")
    return Check("sqlite", OK, text)


def check_extras(
    installed: Callable[[str], str] = importlib.metadata.version, extras: dict[str, str] = EXTRAS
) -> Check:
    """Packages that some searches use; none is needed to run."""
    found = []
    for name, use in extras.items():
        try:
            found.append(f"{name} {installed(name)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"no {name} ({use})")
    return Check("extras", OK, ", ".join(found))


# -- the machine --------------------------------------------------------------------------


def check_clock(
    wall: Callable[[], float] | None = None, monotonic: Callable[[], float] = time.monotonic
) -> Check:
    """The monotonic clock goes forward and at the pace of the wall clock."""
    wall = wall or world.RealClock().wall
    wall_s, readings = wall(), [monotonic()]
    while len(readings) < 100_000 and readings[-1] - readings[0] < 0.05:
        readings.append(monotonic())
    if any(b < a for a, b in pairwise(readings)):
        return Check("clock", PROBLEM, "the monotonic clock went back", "mend the machine's clock")
    span_s, wall_span_s = readings[-1] - readings[0], wall() - wall_s
    if span_s <= 0:
        return Check("clock", PROBLEM, "the monotonic clock stands", "mend the machine's clock")
    if abs(wall_span_s - span_s) > 0.5:
        found = f"wall clock moved {wall_span_s:.2f} s in {span_s:.2f} s"
        return Check("clock", NOTE, found, "times shown will be off; results are not touched")
    if wall_s < EARLIEST_S:
        return Check("clock", NOTE, "the date is before 2025", "set the clock; results are safe")
    return Check("clock", OK, "monotonic clock goes forward, wall clock keeps pace")


def check_processors(group: Path = Path("/sys/fs/cgroup")) -> Check:
    """How many workers can run at once."""
    usable, quota = len(os.sched_getaffinity(0)), _quota(group)
    if quota is not None and quota < usable:
        workers = max(1, int(quota))
        found = f"{usable} usable, but a limit of {quota:g} processors"
        return Check("processors", NOTE, found, f"use --workers {workers}")
    return Check("processors", OK, f"{usable} usable: up to --workers {usable}")


def _quota(group: Path) -> float | None:
    """Processors that a control group allows (cgroup v2, cpu.max); None without a limit."""
    try:
        limit, period = (group / "cpu.max").read_text("ascii").split()
        return None if limit == "max" else int(limit) / int(period)
    except (OSError, ValueError):
        return None


def check_memory(available_bytes: int | None = None, group: Path = Path("/sys/fs/cgroup")) -> Check:
    """Memory that is free now, within the control group's limit."""
    free = psutil.virtual_memory().available if available_bytes is None else available_bytes
    with_limit = _group_memory(group)
    free = free if with_limit is None else min(free, with_limit)
    found = f"{_size(free)} available"
    if free < LOW_MEMORY_BYTES:
        return Check("memory", NOTE, found, "use few workers: each takes 30 MiB and its tasks' own")
    return Check("memory", OK, found)


def _group_memory(group: Path) -> int | None:
    try:
        limit = (group / "memory.max").read_text("ascii").strip()
        used = int((group / "memory.current").read_text("ascii"))
        return None if limit == "max" else max(0, int(limit) - used)
    except (OSError, ValueError):
        return None


def check_open_files(limit: int | None = None) -> Check:
    """Files that a process may have open; each worker costs the coordinator two."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if limit is None else limit
    if soft != resource.RLIM_INFINITY and soft < FEW_FILES:
        return Check("open files", NOTE, f"at most {soft}", "ulimit -n 1024 before many workers")
    return Check("open files", OK, "no limit" if soft < 0 else f"up to {soft}")


def check_proc(proc: Path = Path("/proc")) -> Check:
    """/proc tells who holds a run and when a worker was started."""
    for name in ("self/stat", "locks"):
        try:
            (proc / name).read_bytes()
        except OSError as error:
            if name == "locks":
                found = f"{proc / name}: {error.strerror}"
                return Check("proc", NOTE, found, "status asks the lock itself instead")
            return Check("proc", PROBLEM, f"{proc / name}: {error.strerror}", "mount /proc")
    return Check("proc", OK, f"{proc} can be read")


def check_parent_death(prctl: Callable[..., int] | None = None) -> Check:
    """The kernel ends workers with their coordinator, and gives orphans to a supervisor."""
    call = prctl or ctypes.CDLL(None, use_errno=True).prctl
    value = ctypes.c_int()
    names = {2: "PR_SET_PDEATHSIG", 37: "PR_SET_CHILD_SUBREAPER"}  # asked by their GET forms
    missing = [name for number, name in names.items() if call(number, ctypes.byref(value), 0, 0, 0)]
    if missing:
        found = f"the kernel refuses {', '.join(missing)}"
        return Check("orphans", NOTE, found, "after a killed run look for processes left behind")
    return Check("orphans", OK, "parent-death signal and subreaper are there")


def check_gpus(which: Callable[[str], str | None] = shutil.which) -> Check:
    """GPUs that the vendors' tools show; none is fine."""
    tools = {
        "nvidia-smi": ["--query-gpu=index,name,memory.total", "--format=csv,noheader"],
        "rocm-smi": ["--showproductname", "--csv"],
    }
    found = []
    for tool, words in tools.items():
        if path := which(tool):
            try:
                found += _lines_of(path, words)
            except (OSError, subprocess.SubprocessError) as error:
                said = str(error).splitlines()[0][:120]
                return Check("gpus", NOTE, f"{tool}: {said}", f"run {tool} by hand to see why")
    return Check("gpus", OK, "; ".join(found) if found else "none seen; searches run without")


def _lines_of(path: str, words: list[str]) -> list[str]:
    done = subprocess.run(
        [path, *words], capture_output=True, text=True, timeout=TOOL_LIMIT_S, check=True
    )
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    return [line for line in lines if not line.lower().startswith("device,")]


# -- folders ------------------------------------------------------------------------------


def nearest(path: Path) -> Path:
    """The folder itself, or the nearest one above it that exists."""
    path = path.absolute()
    return next(p for p in (path, *path.parents) if p.exists())


@contextmanager
def _room(folder: Path) -> Iterator[Path]:
    """A new folder to try things in, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix=".weft-doctor-", dir=folder) as name:
        (Path(name) / "probe").write_bytes(bytes(4096))
        yield Path(name)


def check_state(folder: Path) -> Check:
    """Heads are noted in the user's state folder, outside every run."""
    step = "set XDG_STATE_HOME to a folder that can be written"
    try:
        with _room(nearest(folder)):
            return Check("state", OK, f"{folder} can be written")
    except OSError as error:
        return Check("state", PROBLEM, f"{folder}: {error.strerror or error}", step)


def check_file_system(folder: Path, kind: str | None = None) -> Check:
    """Runs belong on a disk of this machine."""
    kind = _kind(folder) if kind is None else kind
    if kind in NETWORK:
        found = f"{kind}: locks and synced writes are the server's promise"
        return Check("file system", NOTE, found, "keep runs on a local disk, copy them afterwards")
    if kind in PASSING:
        return Check("file system", NOTE, f"{kind}: {PASSING[kind]}", "keep runs on a real disk")
    return Check("file system", OK, kind)


def _kind(folder: Path) -> str:
    """Type of the file system that holds a folder: the one mounted nearest above it."""
    above = {str(p) for p in (folder.resolve(), *folder.resolve().parents)}
    mounts = [m for m in psutil.disk_partitions(all=True) if m.mountpoint in above]
    return max(mounts, key=lambda m: len(m.mountpoint)).fstype if mounts else "unknown"


def check_space(folder: Path, free_bytes: int | None = None) -> Check:
    """Room for ledger, manifest and objects; a million tiny tasks take about a gigabyte."""
    room = os.statvfs(folder)
    free = room.f_bavail * room.f_frsize if free_bytes is None else free_bytes
    found = f"{_size(free)} free"
    if room.f_files and not room.f_favail:
        return Check("space", PROBLEM, "no inodes left", "remove files, or choose another --out")
    if free < NO_SPACE_BYTES:
        return Check("space", PROBLEM, found, "free space, or choose another --out")
    if free < LOW_SPACE_BYTES:
        return Check("space", NOTE, found, "a full disk interrupts a run; nothing is lost")
    return Check("space", OK, found)


def check_sync(folder: Path, sync: Callable[[int], None] = os.fdatasync) -> Check:
    """Written data can be forced to the disk, and how long that takes."""
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
        return Check("sync", PROBLEM, f"fsync: {error.strerror}", "choose another --out")
    finally:
        os.close(fd)
    middle_s = statistics.median(times_s)
    found = f"fsync takes {1e3 * middle_s:.2f} ms, at most {1e3 * max(times_s):.2f} ms"
    if middle_s > SLOW_SYNC_S:
        return Check("sync", NOTE, found, "every round waits for it: use a faster disk")
    return Check("sync", OK, found)


def check_journal(folder: Path) -> Check:
    """SQLite can keep a write-ahead log there, which needs shared memory."""
    try:
        with closing(sqlite3.connect(folder / "probe.sqlite")) as db:
            mode = db.execute("PRAGMA journal_mode=WAL").fetchone()[0]
            db.execute("CREATE TABLE t (x)")
            db.commit()
    except sqlite3.Error as error:
        return Check("journal", PROBLEM, f"SQLite: {error}", "choose another --out")
    if mode != "wal":
        return Check("journal", PROBLEM, f"SQLite stays in mode {mode}", "choose another --out")
    return Check("journal", OK, "SQLite write-ahead log works")


def check_locks(folder: Path) -> Check:
    """A lock keeps another process out, and the kernel frees it when its holder is killed."""
    step = "choose another --out: two coordinators could write one run"
    lock = folder / "lock"
    with _locker(lock) as first:
        if not _holds(first):
            return Check("locks", PROBLEM, "a file cannot be locked", step)
        with _locker(lock) as second:
            if _holds(second) or second.wait(TOOL_LIMIT_S) != _BUSY:
                return Check("locks", PROBLEM, "two processes held one lock", step)
        first.send_signal(signal.SIGKILL)
        first.wait()
        with _locker(lock) as third:
            if not _holds(third):
                return Check("locks", PROBLEM, "a killed process kept its lock", step)
    return Check("locks", OK, "exclusive between processes, freed by a kill")


@contextmanager
def _locker(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that tries to hold the lock until we let it go."""
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


# -- a run --------------------------------------------------------------------------------


def trial() -> SearchCall:
    """A search of four tasks whose head is known."""
    return picture(rounds=1, climbers=1)


def check_run(folder: Path, known_head: str = KNOWN_HEAD) -> Check:
    """A worker starts, a small search runs, and its head is the known one."""
    decision = Decision(trial(), 0, {}, Budget({}), checked_policy(0, None, False))
    place = Place(Disk(), world.host_name(), HeadsList(None, Disk()))
    clock = world.RealClock()
    began_s, start_s = clock.wall(), clock.monotonic()
    try:
        done = carry_out(decision, Execution(folder / "run", 1, "local"), {}, place=place)
    except WeftError as error:
        return Check("run", PROBLEM, error.message, error.hint or "see the message")
    took_s = clock.monotonic() - start_s
    first_s = max(0.0, _first_start(folder / "run") - began_s)
    if done.head != known_head:
        found = f"head {done.head[:16]}… instead of {known_head[:16]}…"
        return Check("run", PROBLEM, found, "this build decides otherwise: install weft again")
    found = f"first task after {first_s:.2f} s, done after {took_s:.2f} s, head as known"
    if first_s > SLOW_START_S:
        return Check("run", NOTE, found, "workers start slowly: a slow disk, or a busy machine")
    return Check("run", OK, found)


def _first_start(run: Path) -> float:
    """When the first task was started, wall clock."""
    from weft.readers.access import open_manifest  # noqa: PLC0415 - only here

    with open_manifest(RunFolder(run)) as manifest:
        return float(manifest.query("SELECT min(started_at) FROM tasks")[0][0])


def _size(count: int) -> str:
    """Bytes in a unit people use.

    >>> _size(3 * 2**30), _size(5 * 2**20)
    ('3.0 GiB', '5.0 MiB')
    """
    return f"{count / 2**30:,.1f} GiB" if count >= 2**30 else f"{count / 2**20:.1f} MiB"
