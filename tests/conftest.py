"""Settings that all tests share.

`--chaos` unlocks tests marked `slow`; without it they are deselected, so a normal run skips
nothing that it could have run. The user's state folder is never touched.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.support import tools

# Per-example deadlines fail on a busy machine; pytest-timeout guards against hangs.
settings.register_profile("weft", deadline=None, print_blob=True)
settings.load_profile("weft")

BROWSED = {"browser", "chromium", "kinds", "many_run"}
"""Fixtures of tests that open pages in a browser."""
COMPILING = "tests/searches/prng/"

gc.disable()  # objects that collection creates live on; each pass would scan them again

# A shell that starts the tests in the background ignores Ctrl-C for them, and for every command
# that they start, unless they restore the default.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--chaos", action="store_true", help="also run tests marked slow")


@pytest.hookimpl(tryfirst=True)  # before `-m slow` selects
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    keep_together(items)
    if config.getoption("--chaos"):
        for item in items:
            if "chaos" in getattr(item, "fixturenames", ()):
                item.add_marker("slow")  # a sample that now runs in full
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]


def pytest_collection_finish() -> None:
    gc.enable()


def keep_together(items: list[pytest.Item]) -> None:
    """Run tests that share a fixture of their file in one process, so that it is created once.

    The same holds for what takes seconds and serves tests of several files (a browser, and runs
    to display in it), and for kernels that the tests of a file compile on demand.
    """
    for item in items:
        shared = getattr(item, "_fixtureinfo", None)
        definitions = shared.name2fixturedefs if shared else {}
        scopes = {definition[-1].scope for definition in definitions.values()}
        if item.get_closest_marker("xdist_group"):
            continue
        if not BROWSED.isdisjoint(definitions):
            item.add_marker(pytest.mark.xdist_group("browsed"))
        elif "module" in scopes or item.nodeid.startswith(COMPILING):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


@pytest.fixture(scope="session")
def chaos(pytestconfig: pytest.Config) -> bool:
    """True under `make chaos`: run the full campaign instead of the sample."""
    return bool(pytestconfig.getoption("--chaos"))


@pytest.fixture(scope="session")
def require_tool() -> Callable[[str], str]:
    """Call it with a tool's name: skip without the tool, but fail without it when CI=true."""
    return tools.require_tool


@pytest.fixture(scope="session", autouse=True)
def private_state_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep heads lists written by tests and their processes out of the user's state folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session", autouse=True)
def recorded_load(record_testsuite_property: Callable[[str, object], None]) -> Iterator[None]:
    """Write the load of the machine to the report, for `tools/flakiness.py --take`."""
    yield
    record_testsuite_property("load_average", round(os.getloadavg()[0], 1))


@pytest.fixture(scope="session")
def many_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of 100,000 tasks, four of which failed."""
    from tests.support.pages import many_tasks

    return many_tasks(tmp_path_factory.mktemp("many") / "many")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Debian's browser without windows, at a third of the CPU time; driven by Playwright."""
    program = tools.require_tool("chromium-headless-shell")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        yield browser
        browser.close()
