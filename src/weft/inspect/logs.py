"""The tails of the output of a task's last attempt, from `logs/<task>/<attempt>.<suffix>`.

A task's key comes from the manifest, which is not trusted: a key that is not a simple file name
has no logs, and links are not followed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from weft.storage.plainfile import NESTED, is_plain_folder, open_plain


def log_tails(
    logs: Path, key: str, limit_bytes: int, suffixes: Sequence[str] = (".log",)
) -> list[str]:
    """Return the tail of each file of the last attempt, in the order of `suffixes`."""
    folder = logs / key
    if folder.parent != logs or folder.name != key or not is_plain_folder(folder, NESTED - 1):
        return []
    files = [path for path in sorted(folder.iterdir()) if path.suffix in suffixes]
    numbered = [(int(path.stem), path) for path in files if _is_number(path.stem)]
    last = max((number for number, _ in numbered), default=0)
    paths = [path for number, path in numbered if number == last]
    return [_tail(path, limit_bytes) for name in suffixes for path in paths if path.suffix == name]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def _tail(path: Path, limit_bytes: int) -> str:
    with open_plain(path, NESTED) as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - limit_bytes))
        return file.read(limit_bytes).decode(errors="replace")
