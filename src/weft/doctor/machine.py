"""Checks of the machine: clocks, processors, memory, limits, process control, GPUs."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import subprocess
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import psutil

from weft.doctor.result import NOTE, OK, PROBLEM, CheckResult, size_text
from weft.runs import world
from weft.runs.execution import cpu_quota

LOW_MEMORY_BYTES = 2**30
FEW_FILES = 256
TOOL_LIMIT_S = 10.0
EARLIEST_S = 1_735_689_600
"""2025-01-01: a clock before this was never set."""


def check_clock(
    wall: Callable[[], float] | None = None, monotonic: Callable[[], float] = time.monotonic
) -> CheckResult:
    """The monotonic clock advances, at the pace of the wall clock."""
    wall = wall or world.RealClock().wall
    wall_s, readings = wall(), [monotonic()]
    while len(readings) < 100_000 and readings[-1] - readings[0] < 0.05:
        readings.append(monotonic())
    if any(b < a for a, b in pairwise(readings)):
        return CheckResult(
            "clock", PROBLEM, "the monotonic clock went back", "repair the machine's clock"
        )
    span_s, wall_span_s = readings[-1] - readings[0], wall() - wall_s
    if span_s <= 0:
        return CheckResult(
            "clock", PROBLEM, "the monotonic clock does not advance", "repair the machine's clock"
        )
    if abs(wall_span_s - span_s) > 0.5:
        detail = f"wall clock moved {wall_span_s:.2f} s in {span_s:.2f} s"
        return CheckResult(
            "clock", NOTE, detail, "times shown will be off; results are not affected"
        )
    if wall_s < EARLIEST_S:
        return CheckResult(
            "clock", NOTE, "the date is before 2025", "set the clock; results are safe"
        )
    return CheckResult("clock", OK, "monotonic clock advances, wall clock keeps pace")


def check_processors(group: Path = Path("/sys/fs/cgroup")) -> CheckResult:
    """The number of workers that can run at once."""
    usable, quota = len(os.sched_getaffinity(0)), cpu_quota(group)
    if quota is not None and quota < usable:
        workers = max(1, int(quota))
        detail = f"{usable} usable, but a limit of {quota:g} processors"
        return CheckResult("processors", NOTE, detail, f"use --workers {workers}")
    return CheckResult("processors", OK, f"{usable} usable: up to --workers {usable}")


def check_memory(
    available_bytes: int | None = None, group: Path = Path("/sys/fs/cgroup")
) -> CheckResult:
    """The memory available now, within the control group's limit."""
    free = psutil.virtual_memory().available if available_bytes is None else available_bytes
    group_free = _group_memory(group)
    free = free if group_free is None else min(free, group_free)
    detail = f"{size_text(free)} available"
    if free < LOW_MEMORY_BYTES:
        return CheckResult(
            "memory", NOTE, detail, "use few workers: each takes 30 MiB and its tasks' own"
        )
    return CheckResult("memory", OK, detail)


def _group_memory(group: Path) -> int | None:
    try:
        limit = (group / "memory.max").read_text("ascii").strip()
        used = int((group / "memory.current").read_text("ascii"))
        return None if limit == "max" else max(0, int(limit) - used)
    except (OSError, ValueError):
        return None


def check_open_files(limit: int | None = None) -> CheckResult:
    """The number of files that a process may have open; each worker costs the coordinator two."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if limit is None else limit
    if soft != resource.RLIM_INFINITY and soft < FEW_FILES:
        return CheckResult(
            "open files", NOTE, f"at most {soft}", "ulimit -n 1024 before many workers"
        )
    return CheckResult("open files", OK, "no limit" if soft < 0 else f"up to {soft}")


def check_proc(proc: Path = Path("/proc")) -> CheckResult:
    """/proc shows which process holds a run and when a worker was started."""
    for name in ("self/stat", "locks"):
        try:
            (proc / name).read_bytes()
        except OSError as error:
            if name == "locks":
                detail = f"{proc / name}: {error.strerror}"
                return CheckResult("proc", NOTE, detail, "status tries the lock itself instead")
            return CheckResult("proc", PROBLEM, f"{proc / name}: {error.strerror}", "mount /proc")
    return CheckResult("proc", OK, f"{proc} can be read")


def check_parent_death(prctl: Callable[..., int] | None = None) -> CheckResult:
    """The kernel can kill workers when their coordinator dies, and give orphans to a supervisor."""
    call = prctl or ctypes.CDLL(None, use_errno=True).prctl
    value = ctypes.c_int()
    names = {2: "PR_SET_PDEATHSIG", 37: "PR_SET_CHILD_SUBREAPER"}  # tested by their GET forms
    missing = [name for number, name in names.items() if call(number, ctypes.byref(value), 0, 0, 0)]
    if missing:
        detail = f"the kernel refuses {', '.join(missing)}"
        return CheckResult("orphans", NOTE, detail, "after a killed run check for orphan processes")
    return CheckResult("orphans", OK, "parent-death signal and subreaper are available")


def check_gpus(which: Callable[[str], str | None] = shutil.which) -> CheckResult:
    """The GPUs that the vendors' tools list; having none is fine."""
    tools = {
        "nvidia-smi": ["--query-gpu=index,name,memory.total", "--format=csv,noheader"],
        "rocm-smi": ["--showproductname", "--csv"],
    }
    gpus = []
    for tool, options in tools.items():
        if path := which(tool):
            try:
                gpus += _lines_of(path, options)
            except (OSError, subprocess.SubprocessError) as error:
                reason = str(error).splitlines()[0][:120]
                return CheckResult("gpus", NOTE, f"{tool}: {reason}", f"run {tool} to find out why")
    return CheckResult("gpus", OK, "; ".join(gpus) if gpus else "none; searches run without one")


def _lines_of(path: str, options: list[str]) -> list[str]:
    process = subprocess.run(
        [path, *options], capture_output=True, text=True, timeout=TOOL_LIMIT_S, check=True
    )
    lines = [line.strip() for line in process.stdout.splitlines() if line.strip()]
    return [line for line in lines if not line.lower().startswith("device,")]
