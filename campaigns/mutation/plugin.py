"""The pytest plugin: measure which tests reach which line, or serve forks for mutants.

    python -m pytest -p campaigns.mutation.plugin FILES…      with WEFT_MUTATION=MODE:WHERE

    reach:FILE    run the tests; write the time of each and the lines of the core that it reached
    serve:FD      collect the tests, then fork for every mutant requested on this socket

Hypothesis generates the same examples every time and does not shrink them. Only the first few of
the simulator's seeds are tried: all would take longer than most other tests together.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from campaigns.mutation.serving import WarmSession
from campaigns.mutation.tracing import LineTracer

MODE, _, WHERE = os.environ.get("WEFT_MUTATION", ":").partition(":")
TRACER = LineTracer(Path(WHERE)) if MODE == "reach" else None
"""Created at once, since it must trace the import of the core."""

SIMULATOR = "tests/testing/test_simulator.py::"
FEW_SEEDS = ("test_simulator_seeds_no_violation[0-15]", "test_simulator_same_seed_same_story")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out most of the simulator's tests."""
    items[:] = [i for i in items if not i.nodeid.startswith(SIMULATOR) or i.name in FEW_SEEDS]


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """Fix the examples of Hypothesis, after the conftest has chosen its profile."""
    settings.register_profile(
        "mutation", settings.get_profile(settings.get_current_profile_name()),
        derandomize=True, database=None, phases=(Phase.explicit, Phase.generate),
    )  # fmt: skip
    settings.load_profile("mutation")


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin object of the mode."""
    if TRACER is not None:
        config.pluginmanager.register(TRACER)
    elif MODE == "serve":
        channel = socket.socket(fileno=int(WHERE))
        os.set_inheritable(channel.fileno(), False)
        config.pluginmanager.register(WarmSession(channel))
