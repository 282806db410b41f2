"""Completed evals of an earlier run, taken over by a new one instead of being carried out.

    old run ─► [parent commit, idea hash, what each stage said] ─► arguments of the new search

The list is part of the new run's first record, beside the old run's head; the diffs it names are
inputs of the new run. What was paid for there is not counted again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from weft.errors import InputError
from weft.model.values import Object
from weft.tree.plot import Plot
from weft.tree.recordings import objects_of
from weft.tree.story import Eval, Story
from weft.treetools.git import commit_id, commit_text

Stages = Mapping[str, Mapping[str, Any]]
"""What each stage of an eval said."""


def completed_evals(story: Story) -> list[dict[str, Any]]:
    """Return every completed eval of a run with what its stages said, in eval order."""
    first = {item.eval_id: item for item in story.evals}
    found = []
    for item in story.evals:
        if item.state == "completed" and item.candidate is not None:
            said = _said(item, first.get(item.same_as or 0, item))
            found.append({"parent": item.parent.commit, "idea": item.idea.digest, "stages": said})
    return found


def _said(item: Eval, scored: Eval) -> dict[str, Any]:
    """Gather the stages; an eval that was collapsed has the scores of the one it equals."""
    said = {"implement": item.candidate, "review": {"approved": True}}
    said |= {"sweep": scored.sweep, "score": scored.result}
    return {name: {**value, "cost": None} for name, value in said.items() if value is not None}


def objects_in(evals: Sequence[Mapping[str, Any]]) -> list[Object]:
    """Return the diffs and whatever else imported evals refer to."""
    return objects_of({str(number): item for number, item in enumerate(evals)})


def check_comparable(old: Plot, new: Plot, where: str) -> None:
    """Refuse scores that were not made the way the new run makes them."""
    for name in ("protected", "dry_run"):
        if getattr(old, name) != getattr(new, name):
            raise InputError(f"{where} cannot be imported: {name} is another there")
    for name in ("argv", "env", "format", "regex"):
        if getattr(old.stages["score"], name) != getattr(new.stages["score"], name):
            raise InputError(f"{where} cannot be imported: score.{name} is another there")


class Imports:
    """What a search has of an earlier one, by (parent commit, idea hash)."""

    def __init__(self, table: Mapping[str, Any] | None = None) -> None:
        evals = table["evals"] if table else []
        self._stages: dict[tuple[str, str], Stages] = {
            (item["parent"], item["idea"]): item["stages"] for item in evals
        }

    def find(self, item: Eval, message: Callable[[Eval], str]) -> dict[str, Any]:
        """Return what is known of an eval; its commit gets the message of this run."""
        known = self._stages.get((item.parent.commit, item.idea.digest))
        if known is None:
            return {}
        made = dict(known["implement"])
        text = commit_text(made["tree"], item.parent.commit, message(item))
        return {**known, "implement": {**made, "commit": commit_id(text)}}
