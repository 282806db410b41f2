"""The end of a command's log."""

from __future__ import annotations

import os
from pathlib import Path

TAIL_BYTES = 64 * 1024
TAIL_LINES = 40


def tail(path: Path) -> str:
    """Return the last lines of a log, or "" if there is none."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL_BYTES))
        lines = file.read().decode("utf-8", "replace").splitlines()
    return "\n".join(lines[-TAIL_LINES:])
