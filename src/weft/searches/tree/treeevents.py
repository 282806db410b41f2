"""Events of a tree run: one JSON object per line, appended when observed.

    history, live stages ─ events_of ─► all events so far ─ new ones ─► FILE

Events are derived from records, so a truncated log or a resumed run continues where the file ends:
nothing is written twice and nothing is missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from weft.errors import InputError
from weft.model.values import Value
from weft.searches.tree.config import APPROVE
from weft.searches.tree.history import CostSum, Eval, TreeHistory, costs_of
from weft.searches.tree.load import TreeRun

SCHEMA_VERSION = 1
TreeEvent = dict[str, Value]


def events_of(tree_run: TreeRun) -> Iterator[TreeEvent]:
    """Yield every event of a run so far, in an order determined by its records alone."""
    history = tree_run.history
    yield from _root(history)
    for depth, frontier in enumerate(history.frontiers, 1):
        evals = history.at(depth)
        yield {"event": "depth-planned", "depth": depth, "evals": len(evals),
               "frontier": [f"n{number}" for number in frontier]}  # fmt: skip
        for item in evals:
            yield from _eval(item, tree_run)
        if _is_judged(depth, history):
            yield from _depth(depth, history)
    if history.stopped:
        name, _, detail = history.stopped.partition(": ")
        yield {"event": "stopped", "reason": name, "detail": detail,
               "costs": _table(history.costs)}  # fmt: skip


def _table(costs: Mapping[str, CostSum]) -> Value:
    return {stage: cost.to_dict() for stage, cost in costs.items()}


def _root(history: TreeHistory) -> Iterator[TreeEvent]:
    if history.root_scores:
        yield {"event": "root-scored", "scores": list[Value](history.root_scores),
               "band": f"{history.band:f}"}  # fmt: skip
    elif history.root_error is not None:
        error = history.root_error
        yield {"event": "root-unscored", "type": error.type, "exit_code": error.exit_code}


def _eval(item: Eval, tree_run: TreeRun) -> Iterator[TreeEvent]:
    own: TreeEvent = {
        "eval_id": item.eval_id, "depth": item.depth, "parent_node_id": item.parent.node_id,
        "idea_path": item.idea.name,
    }  # fmt: skip
    for number, (stage, key) in enumerate(zip(item.stages, item.keys, strict=True), 1):
        yield {"event": "stage-done", **own, "stage": stage, "number": number, "key": key}
    live = tree_run.live.get(item.eval_id)
    if live is not None and live.state in ("completed", "failed"):
        number = len(item.stages) + 1
        yield {"event": "stage-done", **own, "stage": live.stage, "number": number, "key": live.key}
    if live is not None and live.stage == APPROVE and live.state in ("queued", "running"):
        yield {"event": "waits-for-person", **own, "key": live.key}
    score = item.score or (live.score if live else None)
    if score is not None:
        yield {"event": "eval-scored", **own, "score": score}
    if _is_judged(item.depth, tree_run.history):
        yield {"event": "eval-done", **own, "task_state": item.state, "verdict": item.verdict,
               "rank": item.rank, "node_id": item.node_id,
               "costs": _table(costs_of(item))}  # fmt: skip


def _is_judged(depth: int, history: TreeHistory) -> bool:
    """Whether the search has finished judging a depth."""
    return depth < len(history.frontiers) or bool(history.stopped)


def _depth(depth: int, history: TreeHistory) -> Iterator[TreeEvent]:
    for node in (n for n in history.nodes if n.depth == depth):
        yield {"event": "promoted", "depth": depth, "node": node.name, "eval_id": node.eval_id,
               "commit": node.commit, "score": node.score_text}  # fmt: skip
    yield {"event": "depth-done", "depth": depth}


class EventLog:
    """An append-only file of events; `clock` gives the time of observation."""

    def __init__(self, path: Path, clock: Callable[[], float]) -> None:
        self._path, self._clock = path, clock
        self._written = set(self._known())
        try:
            path.open("a", encoding="utf-8").close()
        except OSError as error:
            raise InputError(f"--events {path}: {error.strerror or error}") from None

    def _known(self) -> Iterator[str]:
        """Yield the ids of the events in the file; malformed lines are ignored."""
        if self._path.is_file():
            for line in self._path.read_text("utf-8", "replace").splitlines():
                try:
                    event = json.loads(line)
                    yield str(event["id"])
                except (ValueError, KeyError, TypeError):
                    continue

    def write(self, tree_run: TreeRun, run_id: str) -> None:
        """Append the events that the file does not contain yet."""
        lines = []
        for event in events_of(tree_run):
            name = f"{run_id[:8]}/{_identity(event)}"
            if name not in self._written:
                self._written.add(name)
                head: TreeEvent = {"schema_version": SCHEMA_VERSION, "id": name}
                lines.append(json.dumps({**head, "observed_at": self._clock(), **event}))
        if lines:
            with self._path.open("a", encoding="utf-8") as file:
                file.write("".join(f"{line}\n" for line in lines))


def _identity(event: TreeEvent) -> str:
    """Return an id of an event that is unique within its run."""
    parts = [event.get(name) for name in ("event", "depth", "eval_id", "node", "number", "key")]
    return "/".join(str(part)[:12] for part in parts if part is not None)
