"""Walk folders in name order; a `pathlib` object per file would cost more than git."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator


def walk(
    folder: str, descend: Callable[[str], bool] = lambda _: True, prefix: str = ""
) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield every entry below a folder with its relative path; links are not followed.

    Folders for which `descend` is false are yielded but not entered.
    """
    with os.scandir(folder) as listing:  # noqa: TID251 - sorted at once
        entries = sorted(listing, key=lambda entry: entry.name)
    for entry in entries:
        name = prefix + entry.name
        yield name, entry
        if entry.is_dir(follow_symlinks=False) and descend(name):
            yield from walk(entry.path, descend, f"{name}/")
