"""Whether this machine can confine commands: if not, tests are skipped, but they fail under CI."""

from __future__ import annotations

import os
from functools import cache

import pytest

from tests.support.tools import require_tool
from weft.worker.sandbox import find_isolation


def require_sandbox() -> None:
    """Skip a test if bubblewrap does not work; with CI=true, fail it with the reason."""
    require_tool("bwrap")
    problem = _problem()
    if problem and os.environ.get("CI", "").lower() == "true":
        pytest.fail(f"the sandbox does not hold on the build machine: {problem}", pytrace=False)
    if problem:
        pytest.skip(problem)


@cache
def _problem() -> str:
    return find_isolation().problem
