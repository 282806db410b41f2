"""The virtual environment of the rivals, build/rivals, which keeps their packages out of Weft's."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "rivals"
REQUIREMENTS = Path(__file__).parent / "requirements.txt"
INSTALL_S = 600


def pinned(requirements: str) -> dict[str, str]:
    """Parse `name==version` lines."""
    lines = [line.strip() for line in requirements.splitlines()]
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def needed(versions: dict[str, str], packages: set[str]) -> list[str]:
    """Return the requirements for some packages; Dask consists of two distributions."""
    names = packages | ({"dask"} if "distributed" in packages else set())
    return [f"{name}=={version}" for name, version in versions.items() if name in names]


def prepare(packages: set[str]) -> Path:
    """Install missing packages one by one and return the interpreter; exits if one fails."""
    python = FOLDER / "bin" / "python"
    if not python.exists():
        print(f"making {FOLDER.relative_to(ROOT)}", flush=True)
        venv.create(FOLDER, with_pip=True, symlinks=True)
    present = _installed(python)
    for requirement in needed(pinned(REQUIREMENTS.read_text("utf-8")), packages):
        if requirement not in present:
            print(f"installing {requirement}", flush=True)
            _install(python, requirement)
    return python


def _installed(python: Path) -> set[str]:
    argv = [python, "-m", "pip", "list", "--format", "freeze", "--disable-pip-version-check"]
    result = subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True)
    return {line.strip().lower() for line in result.stdout.splitlines()}


def _install(python: Path, requirement: str) -> None:
    argv = [python, "-m", "pip", "install", "--quiet", requirement]
    result = subprocess.run(argv, check=False, stderr=subprocess.PIPE, text=True, timeout=INSTALL_S)
    if result.returncode:
        reason = result.stderr.strip().splitlines()[-1:]
        sys.exit(
            f"{requirement} cannot be installed into {FOLDER}: {' '.join(reason)};"
            " leave it out with --only NAMES"
        )
