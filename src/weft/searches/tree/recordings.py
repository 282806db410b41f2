"""What commands of an earlier run produced, so that a run can be repeated without them.

A recording is looked up by stage, idea and the files it worked on; a diff also by its idea
alone, since it may fit elsewhere. A recorded diff is applied like any patch, so the repeat goes
through the same engine; a recorded failure, review or proposal is returned as it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from weft import task
from weft.model.codec import Table, from_json, to_json
from weft.model.results import TaskError
from weft.model.tasks import TaskCall
from weft.model.values import Object, Value
from weft.searches.tree.results import StageOutcome
from weft.searches.tree.stageargs import StageId, flat
from weft.worker.ending import Ending

STAGES = ("propose", "implement", "review")
MISSING = StageOutcome(error=TaskError("not-recorded", "run"))


@dataclass(frozen=True, slots=True)
class RecordingKey:
    """What the outcome of a stage is looked up by."""

    stage: str
    tree: str
    depth: int
    idea_digest: str = ""
    feedback: str = ""

    def texts(self) -> Iterator[str]:
        """Return the keys under which an outcome is stored, the most exact first."""
        if self.stage == "propose":
            yield f"propose {self.tree} {self.depth}"
            return
        feedback = hashlib.sha256(self.feedback.encode()).hexdigest()[:16]
        yield f"{self.stage} {self.idea_digest} {self.tree} {feedback}"
        if self.stage == "implement":
            yield f"implement {self.idea_digest}"

    def args(self, stage: StageId) -> dict[str, Value]:
        """Return the arguments of a stage that is replayed under this key."""
        table = to_json(self)
        if self.stage == "propose":
            del table["idea_digest"], table["feedback"]
        return {**flat(stage), **table}

    @staticmethod
    def of_args(args: Table) -> RecordingKey | None:
        """Return the key of a recorded task; None for a stage that is never recorded."""
        recorded = args.get("stage") in STAGES and "tree" in args
        return from_json(RecordingKey, args) if recorded else None


Recordings = Mapping[str, StageOutcome]
"""Outcomes of stages by key."""


def find_recording(recordings: Recordings, key: RecordingKey) -> StageOutcome:
    """Return the outcome recorded under a key, or that there is none."""
    return next((recordings[k] for k in key.texts() if k in recordings), MISSING)


def objects_in(value: Value) -> list[Object]:
    """Return every object that a value refers to, in order of their digests."""
    return sorted(set(_objects(value)))


def _objects(value: Value) -> Iterator[Object]:
    if isinstance(value, Object):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _objects(item)
    elif isinstance(value, list):
        for item in value:
            yield from _objects(item)


def replay_call(stage: StageId, key: RecordingKey, outcome: StageOutcome) -> TaskCall:
    """Describe a stage that returns what was recorded."""
    error = None if outcome.error is None else to_json(outcome.error)
    return replayed(key.args(stage), outcome.value, error)


@task(name="tree.replayed")
def replayed(asked: dict[str, Value], value: Value, error: dict[str, Value] | None) -> Value:  # noqa: ARG001 - for views
    """Return a recorded value, or fail as it was recorded."""
    if error is not None:
        raise Ending(from_json(TaskError, error), detail="as recorded, or not recorded at all")
    return value
