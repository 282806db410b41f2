"""Completed evals of an earlier run, taken over by a new one instead of being executed.

    old run ─► [parent commit, idea hash, what each stage recorded] ─► arguments of the new search

The list is part of the new run's first record, beside the old run's head; the diffs it names are
inputs of the new run. What was paid for there is not counted again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from weft.errors import InputError
from weft.model.codec import Table, to_json
from weft.model.values import Object, Value
from weft.searches.tree.commits import commit_id, commit_text
from weft.searches.tree.config import TreeConfig
from weft.searches.tree.history import Eval, TreeHistory
from weft.searches.tree.recordings import objects_in
from weft.searches.tree.results import Candidate, read_stage

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
