"""A folder with the script, and the environment of a user at a terminal."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The script's folder; its tasks wait after the first few."""
    shutil.copyfile(Path(__file__).with_name("napping.py"), tmp_path / "napping.py")
    (tmp_path / "hold").touch()
    return tmp_path


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An ordinary terminal, not a build server."""
    without = {name: value for name, value in os.environ.items() if name not in ("CI", "NO_COLOR")}
    return {**without, "TERM": "xterm", "XDG_STATE_HOME": str(tmp_path / "state")}
