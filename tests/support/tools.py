"""System tools that some tests need: skipped with a reason at home, a failure under CI."""

from __future__ import annotations

import os
import shutil

import pytest


def require_tool(name: str) -> str:
    """Return the path of the tool; without it skip the test, or fail it when CI=true.

    `.ci/run` must list the tool with its Debian package; tests/test_frame.py checks that.
    """
    path = shutil.which(name)
    if path is not None:
        return path
    reason = f"needs the system tool {name!r}, which is not installed"
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(f"{reason}; next: add it to .ci/run", pytrace=False)
    pytest.skip(reason)
