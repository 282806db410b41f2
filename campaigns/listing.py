"""A pytest plugin that writes down which tests were collected, and which of them are slow."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest


def pytest_collection_finish(session: pytest.Session) -> None:
    """Write the tests without their parameters, each once, in order."""
    slow: dict[str, bool] = {}
    for item in session.items:
        name = item.nodeid.partition("[")[0]
        slow[name] = slow.get(name, False) or item.get_closest_marker("slow") is not None
    Path(os.environ["WEFT_LISTED"]).write_text(json.dumps(list(slow.items())), "utf-8")
