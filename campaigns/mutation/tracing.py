"""A pytest plugin that measures the lines of the core that each test reaches, and its time."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

PACKAGES = ("coordinator", "ledger", "model", "storage")


def core_files(root: Path) -> list[Path]:
    """Return the files that are mutated."""
    return [path for name in PACKAGES for path in sorted((root / "src/weft" / name).glob("*.py"))]


class LineTracer:
    """Measures lines by test, with coverage's contexts."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._coverage = coverage.Coverage(
            data_file=None, include=[str(path) for path in core_files(Path.cwd())]
        )
        self._coverage.set_option("run:disable_warnings", ["no-data-collected"])
        self._seconds: dict[str, float] = {}
        self._failed: set[str] = set()
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Record the lines and the time of one test."""
        self._coverage.switch_context(item.nodeid)
        start_s = time.monotonic()
        result = yield
        self._seconds[item.nodeid] = time.monotonic() - start_s
        self._coverage.switch_context("")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record tests that fail without a mutant."""
        if report.failed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write the measurement."""
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
