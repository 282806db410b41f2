"""Determines where a slot's scripts and interpreter are, on the machine that has them."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from weft.model.slots import Node, Slot

Located = TypeVar("Located", Node, Slot)


def located(place: Located, base: Path) -> Located:
    """Return a node or slot with its paths as workers need them: absolute, `~` expanded."""
    folder, python = absolute_place(place.folder, place.python, base)
    allowed = tuple(str(Path(folder, Path(path).expanduser())) for path in place.allow_paths)
    return replace(place, folder=folder, python=python, allow_paths=allowed)


def absolute_place(folder: str, python: str, base: Path) -> tuple[str, str]:
    """Return folder and interpreter as workers need them: absolute, `~` expanded.

    `python` may name a virtual environment's folder, its activate script, an interpreter, or be
    a bare name such as `python3`, looked up in the folder and then on the PATH; empty means the
    worker's own and stays empty.
    """
    place = base / Path(folder).expanduser()
    return str(place), _interpreter(python, place)


def _interpreter(name: str, folder: Path) -> str:
    if not name:
        return ""
    path = folder / Path(name).expanduser()
    if path.name.startswith("activate"):
        return str(path.with_name("python"))
    if path.is_dir():
        return str(path / "bin" / "python")
    if "/" not in name and not path.exists():
        return shutil.which(name) or str(path)
    return str(path)
