"""This machine: its names, its processors, its environment."""

from __future__ import annotations

import os
import socket
from pathlib import Path

LOOPBACK = ("localhost", "127.0.0.1", "::1")
CONTROL_GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")


def host_name() -> str:
    """Return this machine's name, for lock holders and the heads list."""
    return socket.gethostname()


def names_of_here() -> tuple[str, ...]:
    """Return the names that this machine may have."""
    return (*LOOPBACK, host_name(), host_name().partition(".")[0])


def worker_environment() -> dict[str, str]:
    """Return what workers inherit from our environment."""
    return dict(os.environ)


def cpu_count(groups: Path = CONTROL_GROUPS, own: Path = OWN_GROUPS) -> int:
    """Return how many processors this process may use: affinity within control group quotas."""
    count = getattr(os, "process_cpu_count", None)  # Python 3.13; respects PYTHON_CPU_COUNT
    usable = (count() if count else None) or len(os.sched_getaffinity(0))
    quota = cpu_quota(groups, own)
    return usable if quota is None else max(1, min(usable, int(quota)))


def cpu_quota(groups: Path = CONTROL_GROUPS, own: Path = OWN_GROUPS) -> float | None:
    """Return how many processors the control groups of this process allow; None without a limit.

    A group's quota applies to all groups below it, so the smallest one counts.
    """
    folders = [groups, groups / "cpu", *_own_folders(groups, own)]
    quotas = [quota for folder in folders if (quota := _quota_of(folder)) is not None]
    return min(quotas, default=None)


def _own_folders(groups: Path, own: Path) -> list[Path]:
    """Return this process's group and those above: `0::/a/b` (v2), `4:cpu,cpuacct:/a/b` (v1)."""
    try:
        lines = [line.split(":", 2) for line in own.read_text("utf-8").splitlines()]
    except (OSError, ValueError):
        return []
    folders = []
    for fields in lines:
        names = fields[1].split(",") if len(fields) == 3 else []
        if names == [""] or "cpu" in names:
            path = groups / ("cpu" if "cpu" in names else "") / fields[2].strip("/")
            folders += [path, *(p for p in path.parents if p.is_relative_to(groups))]
    return folders


def _quota_of(folder: Path) -> float | None:
    """Return one group's quota: cpu.max (v2), or cpu.cfs_quota_us by cpu.cfs_period_us (v1)."""
    try:
        limit, period = (folder / "cpu.max").read_text("ascii").split()
    except (OSError, ValueError):
        try:
            limit = (folder / "cpu.cfs_quota_us").read_text("ascii").strip()
            period = (folder / "cpu.cfs_period_us").read_text("ascii").strip()
        except (OSError, ValueError):
            return None
    if not (limit.isdigit() and period.isdigit() and int(period)):  # "max" or -1: no limit
        return None
    return int(limit) / int(period)
