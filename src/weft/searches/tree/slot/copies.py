"""Per-attempt copies of the run's files beside the config, read-only.

They are written from the run's objects, so changes to the originals or to the copies of another
attempt have no effect. A copy that has changed afterwards is evidence of tampering.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

from weft.model.values import Object
from weft.searches.tree.runfiles import SHIPPED

FOLDER = "harness"
"""Folder of the copies below the attempt's folder."""
MODE = 0o555
COMPILED = "__pycache__"


def lay_out(
    files: Mapping[str, Object] | None, folder: Path, get: Callable[[Object], bytes]
) -> dict[str, str]:
    """Write the copies; return their paths by template name."""
    place = folder / FOLDER
    for name, content in (files or {}).items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(get(content))
        path.chmod(MODE)
    return {"harness_dir": str(place), "harness": str(place / SHIPPED)} if files else {}


def changed(files: Mapping[str, Object] | None, folder: Path) -> str:
    """Return the name of a changed, missing or added file; empty if there is none."""
    if not files:
        return ""
    place = folder / FOLDER
    for name, content in files.items():
        path = place / name
        is_plain = path.is_file() and not path.is_symlink()
        if not is_plain or hashlib.sha256(path.read_bytes()).hexdigest() != content.digest:
            return name
    present = sorted(path for path in place.rglob("*") if not path.is_dir() or path.is_symlink())
    names = [path.relative_to(place) for path in present]
    return next(
        (n.as_posix() for n in names if n.as_posix() not in files and COMPILED not in n.parts), ""
    )
