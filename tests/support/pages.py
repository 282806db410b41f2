"""Runs to display on pages; their searches are in tests/inspect/report/searches."""

from __future__ import annotations

import sys
from pathlib import Path

import weft

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "inspect" / "report" / "searches"))

import tuning
import weave

__all__ = ["many_tasks", "tuning", "weave"]


def many_tasks(run: Path) -> Path:
    """Run 100,000 tiny tasks, four of which fail."""
    weft.run(weave.many(100_000), out=run, workers=2)
    return run
