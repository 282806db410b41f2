"""Where a slot's scripts and interpreter are, worked out on the machine that has them."""

from __future__ import annotations

from pathlib import Path


def absolute_place(folder: str, python: str, base: Path) -> tuple[str, str]:
    """Return folder and interpreter as workers need them: absolute, `~` expanded.

    `python` may name a virtual environment's folder, its activate script or an interpreter;
    empty means the worker's own and stays empty.
    """
    place = base / Path(folder).expanduser()
    return str(place), _interpreter(python, place)


def _interpreter(named: str, folder: Path) -> str:
    if not named:
        return ""
    path = folder / Path(named).expanduser()
    if path.name.startswith("activate"):
        return str(path.with_name("python"))
    return str(path / "bin" / "python") if path.is_dir() else str(path)
