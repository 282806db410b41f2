"""What a run reuses from an earlier one: outcomes of commands, and completed evals.

    old run ─► outcome of each command by its key      ─► a search that runs without the commands
    old run ─► [parent commit, idea hash, its stages]  ─► a search that executes only new evals

A recording is looked up by stage, idea and the files it worked on; a diff also by its idea alone,
since it may apply elsewhere. All of this is bound by the new run's genesis, and the objects it
refers to are inputs of the new run. Costs of the old run are not counted again.
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
    """The key of a stage's outcome."""

    stage: str
    tree: str
    depth: int
    idea_digest: str = ""
    feedback: str = ""

    def texts(self) -> Iterator[str]:
        """Return the texts under which an outcome is stored, the most exact first."""
        if self.stage == "propose":
            yield f"propose {self.tree} {self.depth}"
            return
        feedback = hashlib.sha256(self.feedback.encode()).hexdigest()[:16]
        yield f"{self.stage} {self.idea_digest} {self.tree} {feedback}"
        if self.stage == "implement":
            yield f"implement {self.idea_digest}"

    def args(self, stage: StageId) -> dict[str, Value]:
        """Return the arguments of a replayed stage with this key."""
        table = to_json(self)
        if self.stage == "propose":
            del table["idea_digest"], table["feedback"]
        return {**flat(stage), **table}

    @staticmethod
    def of_args(args: Table) -> RecordingKey | None:
        """Return the key of a task from its arguments; None for a stage that is never reused."""
        recorded = args.get("stage") in STAGES and "tree" in args
        return from_json(RecordingKey, args) if recorded else None


Recordings = Mapping[str, StageOutcome]
"""Outcomes of stages by key text."""


def find_recording(recordings: Recordings, key: RecordingKey) -> StageOutcome:
    """Return the outcome recorded under a key, or `MISSING`."""
    return next((recordings[k] for k in key.texts() if k in recordings), MISSING)


def objects_in(value: Value) -> list[Object]:
    """Return every object that a value refers to, ordered by digest."""
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
    """Return the call of a stage that returns a recorded outcome."""
    error = None if outcome.error is None else to_json(outcome.error)
    return replayed(key.args(stage), outcome.value, error)


@task(name="tree.replayed")
def replayed(asked: dict[str, Value], value: Value, error: dict[str, Value] | None) -> Value:  # noqa: ARG001 - for views
    """Return a recorded value, or fail with the recorded error."""
    if error is not None:
        raise Ending(from_json(TaskError, error), detail="as recorded, or not recorded at all")
    return value


# -- completed evals --------------------------------------------------------------------------


StageValues = Mapping[str, Mapping[str, Value]]
"""The recorded value of each stage of an eval."""


@dataclass(frozen=True, slots=True)
class ImportedEval:
    """A completed eval of an earlier run."""

    parent: str
    """Commit of its parent node."""
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
        """Return the objects that its evals refer to, such as diffs."""
        return objects_in(to_json(self))


def completed_evals(history: TreeHistory) -> tuple[ImportedEval, ...]:
    """Return every completed eval of a run with its stages' values, in eval order."""
    by_id = {item.eval_id: item for item in history.evals}
    return tuple(
        ImportedEval(item.parent.commit, item.idea.digest, values)
        for item in history.evals
        if item.state == "completed"
        and (values := _stage_values(item, by_id.get(item.same_as or 0, item)))
    )


def _stage_values(item: Eval, scored: Eval) -> dict[str, Table]:
    """Gather the stages' values; a collapsed eval has the scores of the one it equals."""
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
    """Refuse scores that were obtained differently than in the new run; raises InputError."""
    for name in ("protected", "dry_run"):
        if getattr(old, name) != getattr(new, name):
            raise InputError(f"{where} cannot be imported: {name} is different there")
    for name in ("argv", "env", "format", "regex"):
        if getattr(old.stages["score"], name) != getattr(new.stages["score"], name):
            raise InputError(f"{where} cannot be imported: score.{name} is different there")


class Imports:
    """The evals of an earlier run, by (parent commit, idea hash)."""

    def __init__(self, run: ImportedRun | None = None) -> None:
        evals = run.evals if run else ()
        self._stages = {(item.parent, item.idea): item.stages for item in evals}

    def find(self, item: Eval, message: Callable[[Eval], str]) -> StageValues:
        """Return the imported stages of an eval, its commit made with this run's message."""
        known = self._stages.get((item.parent.commit, item.idea.digest))
        if known is None:
            return {}
        tree = read_stage(Candidate, known["implement"]).tree
        text = commit_text(tree, item.parent.commit, message(item))
        return {**known, "implement": {**known["implement"], "commit": commit_id(text)}}
