"""What a run takes over from an earlier one: what its commands produced, and completed evals.

    old run ─► outcome of each command by its key      ─► a search that runs without the commands
    old run ─► [parent commit, idea hash, its stages]  ─► a search that executes only what is new

A recording is looked up by stage, idea and the files it worked on; a diff also by its idea
alone, since it may fit elsewhere. All of it is bound by the new run's first record, and what it
refers to is an input of the new run. What was paid for in the old one is not counted again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from weft import task
from weft.errors import InputError
from weft.model.codec import Table, from_json, to_json
from weft.model.results import TaskError
from weft.model.tasks import TaskCall
from weft.model.values import Object, Value
from weft.searches.tree.commits import commit_id, commit_text
from weft.searches.tree.config import TreeConfig
from weft.searches.tree.history import Eval, TreeHistory
from weft.searches.tree.results import Candidate, StageOutcome, read_stage
from weft.searches.tree.stageargs import StageId, flat
from weft.worker.ending import Ending

STAGES = ("propose", "implement", "review", "approve")
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


# -- completed evals --------------------------------------------------------------------------


StageValues = Mapping[str, Mapping[str, Value]]
"""What each stage of an eval recorded."""


@dataclass(frozen=True, slots=True)
class ImportedEval:
    """A completed eval of an earlier run."""

    parent: str
    """Commit of its parent."""
    idea: str
    """Digest of its idea."""
    stages: StageValues


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """The completed evals of a run, with its head."""

    head: str
    size: int
    evals: tuple[ImportedEval, ...]

    def objects(self) -> list[Object]:
        """Return the diffs and whatever else its evals refer to."""
        return objects_in(to_json(self))


def completed_evals(history: TreeHistory) -> tuple[ImportedEval, ...]:
    """Return every completed eval of a run with what its stages recorded, in eval order."""
    by_id = {item.eval_id: item for item in history.evals}
    return tuple(
        ImportedEval(item.parent.commit, item.idea.digest, values)
        for item in history.evals
        if item.state == "completed"
        and (values := _stage_values(item, by_id.get(item.same_as or 0, item)))
    )


def _stage_values(item: Eval, scored: Eval) -> dict[str, Table]:
    """Gather the stages; an eval that was collapsed has the scores of the one it equals."""
    if item.candidate is None:
        return {}
    values: dict[str, Table] = {
        "implement": item.candidate.recorded, "review": {"approved": True},
    }  # fmt: skip
    for name, result in (("sweep", scored.sweep), ("score", scored.result)):
        if result is not None:
            values[name] = result.recorded
    return {name: {**value, "cost": None} for name, value in values.items()}


def check_comparable(old: TreeConfig, new: TreeConfig, where: str) -> None:
    """Refuse scores that were not made the way the new run makes them."""
    for name in ("protected", "dry_run"):
        if getattr(old, name) != getattr(new, name):
            raise InputError(f"{where} cannot be imported: {name} is different there")
    for name in ("argv", "env", "format", "regex"):
        if getattr(old.stages["score"], name) != getattr(new.stages["score"], name):
            raise InputError(f"{where} cannot be imported: score.{name} is different there")


class Imports:
    """What a search has of an earlier one, by (parent commit, idea hash)."""

    def __init__(self, run: ImportedRun | None = None) -> None:
        evals = run.evals if run else ()
        self._stages = {(item.parent, item.idea): item.stages for item in evals}

    def find(self, item: Eval, message: Callable[[Eval], str]) -> StageValues:
        """Return what is known of an eval; its commit gets the message of this run."""
        known = self._stages.get((item.parent.commit, item.idea.digest))
        if known is None:
            return {}
        tree = read_stage(Candidate, known["implement"]).tree
        text = commit_text(tree, item.parent.commit, message(item))
        return {**known, "implement": {**known["implement"], "commit": commit_id(text)}}
