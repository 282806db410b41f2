"""The engine example, importable from tests as from its own folder."""

from __future__ import annotations

import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "examples" / "engine"
sys.path.insert(0, str(FOLDER))

from loom import loom  # noqa: E402

__all__ = ["FOLDER", "loom"]
