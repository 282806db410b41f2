"""Processes by a mark that they carry. Read directly from /proc: tests poll many times a second."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil

Alive = tuple[int, float, str]
"""Pid, start time and command line."""


def carrying(*marks: str) -> list[Alive]:
    """Return the processes with one of the marks in their environment or command line."""
    return sorted(_found([mark.encode() for mark in marks]))


def _found(marks: list[bytes]) -> Iterator[Alive]:
    for folder in Path("/proc").iterdir():
        try:
            if not folder.name.isdigit() or not _carries(folder, marks):
                continue
            process = psutil.Process(int(folder.name))
            if process.status() != psutil.STATUS_ZOMBIE:
                yield process.pid, process.create_time(), " ".join(process.cmdline())
        except (psutil.Error, OSError):  # it has just ended, or belongs to another user
            continue


def _carries(folder: Path, marks: list[bytes]) -> bool:
    texts = ((folder / name).read_bytes() for name in ("environ", "cmdline"))
    return any(mark in text for text in texts for mark in marks)


def open_descriptors() -> set[str]:
    """Name and target of the descriptors open in this process, except that of this scan."""
    folder = Path("/proc/self/fd")
    links = {name: folder / name for name in sorted(path.name for path in folder.iterdir())}
    return {f"{name} {link.readlink()}" for name, link in links.items() if link.is_symlink()}
