"""System tools and privileges that some tests need: skipped with a reason, a failure under CI."""

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


def require_root() -> None:
    """Skip a test that switches users unless it runs as root; with CI=true, fail it."""
    if os.geteuid() == 0:
        return
    reason = "only root can become another user"
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(f"{reason}; next: run the tests as root", pytrace=False)
    pytest.skip(reason)
