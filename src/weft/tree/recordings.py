"""What commands of an earlier run made, so that a run can be repeated without them.

A recording is found by stage, idea and the files it worked on; a diff also by its idea alone,
since it may fit elsewhere. A recorded diff is applied like any patch, so the repeat goes through
the same engine; a recorded failure, review or proposal is returned as it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from weft.define import task
from weft.model.results import TaskError
from weft.model.tasks import TaskCall
from weft.model.values import Object
from weft.report.view import TaskSeen
from weft.worker.ending import Ending

STAGES = ("propose", "implement", "review")
MISSING = {"type": "not-recorded", "stage": "run", "exit_code": None}


@dataclass(frozen=True, slots=True)
class Recordings:
    """Outcomes by key: `{"value": …}` or `{"error": …}`."""

    entries: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def find(self, args: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the outcome recorded for a stage with these arguments, or that there is none."""
        for key in keys_of(args):
            if key in self.entries:
                return self.entries[key]
        return {"error": MISSING}


def keys_of(args: Mapping[str, Any]) -> Iterator[str]:
    """Return the keys under which a stage's outcome is known, the most exact first."""
    stage, tree = args["stage"], args["tree"]
    if stage == "propose":
        yield f"propose {tree} {args['depth']}"
        return
    feedback = hashlib.sha256(args["feedback"].encode()).hexdigest()[:16]
    yield f"{stage} {args['idea_digest']} {tree} {feedback}"
    if stage == "implement":
        yield f"implement {args['idea_digest']}"


def gathered(tasks: Iterable[tuple[TaskSeen, Mapping[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Collect what a run's tasks, given with what they were asked, have recorded; first wins."""
    found: dict[str, dict[str, Any]] = {}
    for seen, args in tasks:
        if args["stage"] in STAGES and "tree" in args and seen.state in ("completed", "failed"):
            outcome = {"value": seen.value} if seen.error is None else {"error": dict(seen.error)}
            exact, *loose = keys_of(args)
            for key in [exact, *loose] if seen.error is None else [exact]:
                found.setdefault(key, outcome)
    return found


def objects_of(entries: Mapping[str, Mapping[str, Any]]) -> list[Object]:
    """Return every object that recordings refer to, in order of their digests."""
    return sorted(set(_objects(list(entries.values()))))


def _objects(value: Any) -> Iterator[Object]:
    if isinstance(value, Object):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _objects(item)
    elif isinstance(value, list):
        for item in value:
            yield from _objects(item)


def replay_call(asked: Mapping[str, Any], outcome: Mapping[str, Any]) -> TaskCall:
    """Describe a stage that returns what was recorded."""
    return replayed(dict(asked), outcome.get("value"), outcome.get("error"))


@task
def replayed(asked: dict[str, Any], value: Any, error: Any) -> Any:  # noqa: ARG001 - for views
    """Return a recorded value, or fail as it was recorded."""
    if error is not None:
        raise Ending(TaskError(**error), detail="as recorded, or not recorded at all")
    return value
