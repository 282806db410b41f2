"""What runs inside pytest: note which tests reach which line, and run tests on mutants.

    python -m pytest -p campaigns.mutation.plugin FILES…      with WEFT_MUTATION=MODE:WHERE

    reach:FILE    run the tests; write what each took and the lines of the core that it reached
    serve:FD      collect the tests, then fork for every mutant asked for on this socket
    once:FD       run one list of tests on what is on disk, and report on this socket as a fork does

A fork has everything imported already: the code of the changed function is exchanged in the
function objects that exist. The changed file is on disk too, for processes that tests start.
Examples of hypothesis are the same every time, and are not made small.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import json
import os
import resource
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NoReturn

import coverage
import psutil
import pytest
from hypothesis import Phase, settings

MODE, _, WHERE = os.environ.get("WEFT_MUTATION", ":").partition(":")
PACKAGES = ("coordinator", "ledger", "model", "storage")
MEMORY_BYTES = 6 << 30
"""Address space of a fork: an endless list must not take the machine along."""


def core_files(root: Path) -> list[Path]:
    """The files that are mutated."""
    return [path for name in PACKAGES for path in sorted((root / "src/weft" / name).glob("*.py"))]


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """Fix the examples of hypothesis, after the conftest has chosen its profile."""
    settings.register_profile(
        "mutation", settings.get_profile(settings.get_current_profile_name()),
        derandomize=True, database=None, phases=(Phase.explicit, Phase.generate),
    )  # fmt: skip
    settings.load_profile("mutation")


# -- reach ---------------------------------------------------------------------------------------


class Reach:
    """Lines by test, measured with coverage's contexts."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._files = {str(path): path for path in core_files(Path.cwd())}
        self._coverage = coverage.Coverage(data_file=None, include=list(self._files))
        self._coverage.set_option("run:disable_warnings", ["no-data-collected"])
        self._seconds: dict[str, float] = {}
        self._failed: set[str] = set()
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Count the lines of one test as its own."""
        self._coverage.switch_context(item.nodeid)
        start_s = time.monotonic()
        result = yield
        self._seconds[item.nodeid] = time.monotonic() - start_s
        self._coverage.switch_context("")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember tests that fail without any mutant."""
        if report.failed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write what was measured."""
        self._coverage.stop()
        data = self._coverage.get_data()
        names = list(self._seconds)
        numbers = {name: number for number, name in enumerate(names)} | {"": -1}
        lines: dict[str, dict[int, list[int]]] = {}
        for file in sorted(data.measured_files()):
            relative = str(Path(file).relative_to(Path.cwd()))
            lines[relative] = {
                line: sorted(numbers[name] for name in tests)
                for line, tests in sorted(data.contexts_by_lineno(file).items())
            }
        seconds = [round(self._seconds[name], 4) for name in names]
        body = {"tests": names, "seconds": seconds, "failed": sorted(self._failed), "lines": lines}
        self._out.write_text(json.dumps(body), "utf-8")


REACH = Reach(Path(WHERE)) if MODE == "reach" else None
"""Made at once: it must see what is done while the core is imported."""


# -- forks ---------------------------------------------------------------------------------------


class Forks:
    """Runs the tests asked for, each request in a fork, or the only one here."""

    def __init__(self, channel: socket.socket, *, once: bool) -> None:
        self._once = once
        self._asked = channel.makefile("r")
        self._answers = channel.makefile("w")
        self._failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember the first failure."""
        if report.failed and not self._failed:
            self._failed = report.nodeid

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Serve requests to the end of the socket instead of running everything."""
        items = {item.nodeid: item for item in session.items}
        if self._once:
            self._run(items, json.loads(self._asked.readline()))
        adopt_orphans()
        gc.collect()
        gc.freeze()
        self._say(tests=len(items))
        for line in self._asked:
            request = json.loads(line)
            pid = os.fork()
            if pid == 0:
                os.setsid()
                self._say(pid=os.getpid())
                self._run(items, request)
            _, status = os.waitpid(pid, 0)
            end_children()
            self._say(status=status)
        return True

    def _run(self, items: dict[str, pytest.Item], request: dict[str, Any]) -> NoReturn:
        """Run the tests of a request up to the first that fails; never returns."""
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        chosen = [items[name] for name in request["tests"] if name in items]
        for item in chosen[:1]:
            factory = item.config._tmp_path_factory  # type: ignore[attr-defined]
            factory._given_basetemp, factory._basetemp = Path(request["folder"]), None
        if request["patch"]:
            exchange(Path(request["path"]))
        self._say(ready=True)
        try:
            self._run_items(chosen, request["keep_going"])
        except BaseException as error:  # whatever ends a test run has noticed the mutant
            self._say(failed=self._failed or f"{type(error).__name__}: {error}"[:200])
        finally:
            os._exit(0)

    def _run_items(self, chosen: list[pytest.Item], keep_going: bool) -> None:
        for number, item in enumerate(chosen):
            last = number + 1 == len(chosen)
            self._say(begins=item.nodeid)
            start_s = time.monotonic()
            following = None if last else chosen[number + 1]
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._failed:
                self._say(failed=self._failed)
                if not keep_going:
                    return
            elif keep_going:
                self._say(passed=item.nodeid, seconds=round(time.monotonic() - start_s, 4))
            self._failed = ""
        self._say(survived=len(chosen))

    def _say(self, **words: object) -> None:
        self._answers.write(json.dumps(words) + "\n")
        self._answers.flush()


def exchange(path: Path) -> None:
    """Give every function of a file the code that the file has now.

    Fails where a line has two functions of one name, or a closure now holds something else; such
    a mutant is tried in a new interpreter.
    """
    codes: dict[tuple[str, int], list[CodeType]] = {}
    collect_codes(compile(path.read_text("utf-8"), str(path), "exec"), codes)
    gc.unfreeze()
    tracked = gc.get_objects()
    gc.freeze()
    for wrapper in (entry for entry in tracked if isinstance(entry, functools._lru_cache_wrapper)):
        wrapper.cache_clear()
    for function in (entry for entry in tracked if isinstance(entry, FunctionType)):
        code = function.__code__
        if code.co_filename == str(path):
            [changed] = codes[code.co_qualname, code.co_firstlineno]
            function.__code__ = changed


def collect_codes(code: CodeType, into: dict[tuple[str, int], list[CodeType]]) -> None:
    """All code objects inside one, by qualified name and first line."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            into.setdefault((constant.co_qualname, constant.co_firstlineno), []).append(constant)
            collect_codes(constant, into)


def adopt_orphans() -> None:
    """Let processes whose parents ended become children of this one."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def end_children() -> None:
    """Kill and reap all that a fork left behind."""
    while children := psutil.Process().children(recursive=True):
        for child in children:
            try:
                child.kill()
            except psutil.NoSuchProcess:
                continue
        try:
            while os.waitpid(-1, 0):
                pass
        except ChildProcessError:
            return


def pytest_configure(config: pytest.Config) -> None:
    """Register what the mode needs."""
    if REACH is not None:
        config.pluginmanager.register(REACH)
    elif MODE in ("serve", "once"):
        channel = socket.socket(fileno=int(WHERE))
        os.set_inheritable(channel.fileno(), False)
        config.pluginmanager.register(Forks(channel, once=MODE == "once"))
