"""The descendants of this process, and what the kernel does when a parent ends.

Standard library only: the supervisor imports it into a bare interpreter.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NAME = 15
_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37
_libc = ctypes.CDLL(None, use_errno=True)


def kill_descendants() -> None:
    """Kill all descendants of this process; for a worker whose supervisor was killed."""
    while pids := descendants():
        signal_all(signal.SIGKILL)
        for pid in pids:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def descendants() -> list[int]:
    """Return all descendants of this process in order of pid, found through /proc."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (parent := _parent(int(entry.name))) is not None:
            parents[int(entry.name)] = parent
    tree = {os.getpid()}
    is_growing = True
    while is_growing:
        below = {pid for pid, parent in parents.items() if parent in tree} - tree
        is_growing = bool(below)
        tree |= below
    return sorted(tree - {os.getpid()})


def _parent(pid: int) -> int | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    return int(stat.rpartition(b")")[2].split()[1])


def birth_s(pid: int) -> float:
    """Return when a process started, in seconds since 1970; it must not have been reaped."""
    ticks = int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19])
    boot_s = Path("/proc/stat").read_bytes().partition(b"\nbtime ")[2].split()[0]
    return int(boot_s) + ticks / os.sysconf("SC_CLK_TCK")


def resident_bytes(pid: int) -> int:
    """Return a process's resident memory; 0 if it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * resource.getpagesize()
    except (OSError, IndexError):
        return 0


def signal_all(number: int, spared: int = 0) -> None:
    """Send a signal to all descendants of this process except `spared`."""
    for pid in descendants():
        try:
            if pid == spared:
                continue
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def become_subreaper() -> None:
    """Ask the kernel to make us the parent of every orphan below us."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)


@contextlib.contextmanager
def taking_orphans() -> Iterator[None]:
    """Within the context, orphans below this process become its children."""
    before = ctypes.c_int()
    _libc.prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(before))
    become_subreaper()
    try:
        yield
    finally:
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, before.value)


def at_parents_end(number: int) -> None:
    """Choose the signal that the kernel sends us when our parent ends."""
    _libc.prctl(_PR_SET_PDEATHSIG, number)


def become_unreadable() -> None:
    """Prevent the user's other processes from tracing us or reading our memory and environment."""
    _libc.prctl(_PR_SET_DUMPABLE, 0)


def set_name(name: str) -> None:
    """Set the name that /proc and `ps` show for this process, 15 bytes at most."""
    _libc.prctl(_PR_SET_NAME, name.encode())


def end_with_parent(parent: int) -> None:
    """Have the kernel kill us when our parent dies; this does not cover our own children."""
    at_parents_end(signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(126)
