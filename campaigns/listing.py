"""A pytest plugin that records the collected tests, and which of them are slow.

Tests that campaigns divide are recorded with their parameters: each variant is a separate case.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from campaigns.rows import is_divided


def pytest_collection_finish(session: pytest.Session) -> None:
    """Write the tests, each once, in order; of divided tests only the slow variants."""
    slow: dict[str, bool] = {}
    for item in session.items:
        name = item.nodeid.partition("[")[0]
        is_slow = item.get_closest_marker("slow") is not None
        if is_divided(name):
            slow |= {item.nodeid: True} if is_slow else {}
        else:
            slow[name] = slow.get(name, False) or is_slow
    Path(os.environ["WEFT_LISTED"]).write_text(json.dumps(list(slow.items())), "utf-8")
