"""A run's story, rebuilt from its records by the very code that decided it, and its timing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from weft.model.results import Result, TaskError
from weft.model.values import Object, encode, from_wire
from weft.report.view import RunView, TaskSeen
from weft.tree.plot import Plot
from weft.tree.search import grow
from weft.tree.story import Eval, Story

ENDED_EARLY = ("dropped", "cancelled")
"""States of tasks behind an early stop."""


@dataclass(slots=True)
class Timing:
    """How an eval went: never part of a decision."""

    attempts: int = 0
    seconds: float = 0.0
    cpu_s: float = 0.0
    peak_bytes: int = 0
    started_at: float | None = None
    finished_at: float | None = None
    task_state: str = "queued"
    worker_pid: int | None = None
    slots: list[str] = field(default_factory=list)


@dataclass(slots=True)
class TreeSeen:
    """A run: what was decided, and how long it took."""

    plot: Plot
    story: Story
    timing: dict[int, Timing]
    inputs: Mapping[str, str]


def see(run: RunView) -> TreeSeen:
    """Rebuild the story of a run as far as its records reach."""
    genesis = run.genesis()
    args: Any = from_wire(genesis["config"]["args"])
    inputs = {name: Object(digest) for name, digest in genesis["inputs"].items()}
    rounds: dict[int, list[TaskSeen]] = {}
    timing: dict[int, Timing] = {}
    for task in run.tasks():
        rounds.setdefault(task.round, []).append(task)
        _time(timing, task)
    story = Story()
    body = grow(args["plot"], args["ideas"], args["root"], args["recorded"], inputs, story)
    _drive(body, rounds)
    return TreeSeen(Plot.from_dict(args["plot"]), story, timing, genesis["inputs"])


def _drive(body: Any, rounds: Mapping[int, list[TaskSeen]]) -> None:
    """Feed recorded rounds to the search until one is not complete."""
    try:
        asked = next(body)
        for number in range(len(rounds)):
            results = list(_results(rounds[number]))
            whole = len(results) == len(asked.tasks)
            if not whole and not any(t.state in ENDED_EARLY for t in rounds[number]):
                return
            asked = body.send(results)
    except StopIteration:
        return


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
    own.started_at = own.started_at or task.started_at
    own.finished_at = task.finished_at or own.finished_at
    own.task_state, own.worker_pid = task.state, task.worker_pid
    if "slot" in task.notes:
        own.slots.append(str(task.notes["slot"]))


def eval_dict(item: Eval, timing: Timing | None) -> dict[str, Any]:
    """JSON form of an eval, as `--json` shows it."""
    own = timing or Timing()
    return {
        "eval_id": item.eval_id,
        "parent_node_id": item.parent.node_id,
        "idea_path": item.idea.name,
        "depth": item.depth,
        "task_state": item.state,
        "stage": item.stage,
        "verdict": item.verdict,
        "score": item.result["score"] if item.result else None,
        "holdout": item.result.get("holdout") if item.result else None,
        "rank": item.rank,
        "node_id": item.node_id,
        "same_as": item.same_as,
        "commit": item.candidate["commit"] if item.candidate else None,
        "error": item.error,
        "attempts": own.attempts,
        "started_at": own.started_at,
        "finished_at": own.finished_at,
        "seconds": own.seconds,
        "cpu_s": own.cpu_s,
        "peak_bytes": own.peak_bytes,
        "worker_pid": own.worker_pid,
    }
