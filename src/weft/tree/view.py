"""A run's story, rebuilt from its records by the very code that decided it, and its timing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from weft.model.results import Result, TaskError
from weft.model.values import Object, encode, from_wire
from weft.report.view import RunView, TaskSeen
from weft.tree.plot import Plot
from weft.tree.rules import look_in
from weft.tree.search import grow
from weft.tree.story import Story

ENDED_EARLY = ("dropped", "cancelled")
"""States of tasks behind an early stop."""


@dataclass(slots=True)
class Timing:
    """How an eval went: never part of a decision."""

    attempts: int = 0
    seconds: float = 0.0
    cpu_s: float = 0.0
    peak_bytes: int = 0
    queued_at: float | None = None
    started_at: float | None = None
    finished_at: float | None = None
    task_state: str = "queued"
    """Of its last stage, as is what follows."""
    worker_pid: int | None = None
    worker_started: float | None = None
    node: str | None = None
    gpu: int | None = None
    attempt: int = 0


@dataclass(slots=True)
class TreeSeen:
    """A run: what was decided, and how long it took."""

    plot: Plot
    story: Story
    timing: dict[int, Timing]
    inputs: Mapping[str, str]
    imported_from: str = ""
    """Head of the run whose completed evals were taken over."""


def see(run: RunView) -> TreeSeen:
    """Rebuild the story of a run as far as its records reach."""
    genesis = run.genesis()
    if folder := run.execution().get("folder"):
        look_in(run.path / folder)
    args: Any = from_wire(genesis["config"]["args"])
    inputs = {name: Object(digest) for name, digest in genesis["inputs"].items()}
    timing: dict[int, Timing] = {}
    story = Story()
    body = grow(**args, inputs=inputs, story=story)
    _drive(body, groupby(_timed(run.tasks(), timing), key=lambda task: task.round))
    past = (args["imported"] or {}).get("head", "")
    return TreeSeen(Plot.from_dict(args["plot"]), story, timing, genesis["inputs"], past)


def _drive(body: Any, rounds: Iterable[tuple[int, Iterable[TaskSeen]]]) -> None:
    """Feed recorded rounds to the search, one after the other, until one is not complete."""
    try:
        asked = next(body)
        for _, group in rounds:
            tasks = list(group)
            results = list(_results(tasks))
            whole = len(results) == len(asked.tasks)
            if not whole and not any(t.state in ENDED_EARLY for t in tasks):
                return
            asked = body.send(results)
    except StopIteration:
        return


def _timed(tasks: Iterable[TaskSeen], timing: dict[int, Timing]) -> Iterator[TaskSeen]:
    """Pass tasks on and take note of how each went."""
    for task in tasks:
        _time(timing, task)
        yield task


def _results(tasks: list[TaskSeen]) -> Iterator[Result]:
    for task in sorted(tasks, key=lambda t: t.index):
        if task.state not in ("completed", "failed"):
            return
        error = None if task.error is None else TaskError(**dict(task.error))
        value = None if error is not None else encode(task.value)
        yield Result(task.index, task.key, task.function, encode(task.args), value, error)


def asked_of(task: TaskSeen) -> Mapping[str, Any]:
    """Return what a stage was asked, as a command or without one."""
    inner: Mapping[str, Any] = task.args.get("asked") or task.args["args"]
    return inner


def _time(timing: dict[int, Timing], task: TaskSeen) -> None:
    number = asked_of(task)["eval_id"]
    if number is None:
        return
    own = timing.setdefault(number, Timing())
    own.attempts += max(1, task.attempt) if task.started_at else 0
    own.seconds += task.run_s or 0.0
    own.cpu_s += task.notes.get("cpu_s", 0.0)
    own.peak_bytes = max(own.peak_bytes, int(task.notes.get("peak_bytes", 0)))
    own.queued_at = own.queued_at or task.queued_at
    own.started_at = own.started_at or task.started_at
    own.finished_at = task.finished_at or own.finished_at
    own.task_state, own.attempt, own.node, own.gpu = task.state, task.attempt, task.node, task.gpu
    own.worker_pid, own.worker_started = task.worker_pid, task.worker_started
