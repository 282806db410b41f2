"""Measurements for the page of the engine, each in a separate process.

Engines alternate, so that a busy machine disturbs all of them alike. An engine that fails twice is
dropped from the rest of the run and named at the end.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TypedDict

from benchmarks.rivals.table import Rival

ROOT = Path(__file__).parents[1]
LIMIT_S = 180
"""A measurement that takes longer counts as failed."""


class Figure(TypedDict):
    """Seconds of every turn of one engine under one load."""

    engine: str
    load: str
    n: int
    start: str
    workers: int
    seconds: list[float]


@dataclass(slots=True)
class Bench:
    """Runs measurements and records which engines failed."""

    rivals_python: str
    """Interpreter for the engines that are not ours."""
    failures: dict[str, str] = field(default_factory=dict)
    start_s: float = field(default_factory=time.monotonic)

    def compare(
        self, rivals: Sequence[Rival], load: str, starts: Sequence[str], workers: int, turns: int,
        share: float = 1.0, until_s: float = math.inf,
    ) -> list[Figure]:  # fmt: skip
        """Measure every engine `turns` times, alternating; `share` scales the number of tasks.

        After the first, a turn is skipped if it would end more than `until_s` after the start.
        """
        figures: list[Figure] = [
            {"engine": rival.name, "load": load, "n": rival.tasks(load, workers, share),
             "start": start, "workers": workers, "seconds": []}
            for rival in rivals for start in starts
        ]  # fmt: skip
        by_name = {rival.name: rival for rival in rivals}
        measured, turn_s = 0, 0.0
        while measured < turns and (measured == 0 or self.elapsed_s() + turn_s <= until_s):
            begin_s, name = self.elapsed_s(), f"turn {measured + 1}/{turns}"
            for figure in figures if measured % 2 == 0 else reversed(figures):
                if figure["engine"] not in self.failures:
                    self._measure(by_name[figure["engine"]], figure, name)
            measured, turn_s = measured + 1, self.elapsed_s() - begin_s
        return [figure for figure in figures if len(figure["seconds"]) == measured]

    def elapsed_s(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self.start_s

    def _measure(self, rival: Rival, figure: Figure, turn: str) -> None:
        words = (figure["load"], str(figure["n"]), figure["start"], str(figure["workers"]))
        python = sys.executable if rival.ours else self.rivals_python
        argv = (python, "-m", "benchmarks.rivals", rival.place, *words)
        for attempt in (1, 2):
            try:
                figure["seconds"].append(float(run_json(*argv)["seconds"]))
                break
            except MeasurementError as failure:
                print(f"{rival.name}, {' '.join(words)}: {failure}", file=sys.stderr, flush=True)
                if attempt == 2:
                    self.failures[rival.name] = str(failure)
                    return
        cost_us = 1e6 * figure["seconds"][-1] / figure["n"]
        self.note(f"{turn}: {rival.name}, {' '.join(words)}: {cost_us:.1f} µs a task")

    def note(self, line: str) -> None:
        """Print a progress line."""
        print(f"[{self.elapsed_s():4.0f} s] {line}", flush=True)


class MeasurementError(Exception):
    """A measuring process failed or did not print its figures."""


def run_json(*argv: str) -> dict[str, float]:
    """Run a process and return the JSON of its last line; raises MeasurementError."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # as for users: modules are compiled once
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        # files, not pipes: a process that an engine leaves behind would hold a pipe open
        process = subprocess.Popen(
            argv, stdout=output, stderr=errors, env=environment, cwd=ROOT, start_new_session=True
        )
        try:
            status = process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            raise MeasurementError(f"took longer than {LIMIT_S} s") from None
        finally:
            _end_session(process)
        lines, complaints = _lines(output), _lines(errors)
    if status or not lines:
        raise MeasurementError(f"exit {status}: {' '.join(complaints[-1:])[:300]}")
    figures: dict[str, float] = json.loads(lines[-1])
    return figures


def _end_session(process: subprocess.Popen[bytes]) -> None:
    """Kill the whole session, so that nothing disturbs the next measurement."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _lines(file: IO[bytes]) -> list[str]:
    file.seek(0)
    return file.read().decode("utf-8", "replace").strip().splitlines()
