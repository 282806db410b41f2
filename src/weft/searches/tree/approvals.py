"""Evals that wait for a person's decision: find them, show them, decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from weft.errors import InputError, UsageError
from weft.inspect.report.view import RunView
from weft.model.values import JsonValue
from weft.searches.tree.config import APPROVE
from weft.searches.tree.decisions import (
    MAX_NOTE_CHARS,
    PersonDecision,
    decision_file,
    read_decision,
    write_decision,
)
from weft.searches.tree.history import Eval
from weft.searches.tree.load import TreeRun
from weft.searches.tree.search import NAME

OPEN = ("queued", "running")


@dataclass(frozen=True, slots=True)
class WaitingEval:
    """An eval that needs a person's decision."""

    eval_id: int
    idea_path: str
    parent_node_id: int
    depth: int
    score: str | None
    parent_score: str | None
    changed: tuple[str, ...]
    key: str
    """Key of the waiting task."""
    decision: PersonDecision | None
    """A decision that no coordinator has picked up yet."""

    @property
    def name(self) -> str:
        """The name that users see."""
        return f"e{self.eval_id}"

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON form."""
        return {**asdict(self), "changed": list(self.changed)}


def waiting_evals(run: Path, tree_run: TreeRun) -> list[WaitingEval]:
    """Return the evals that wait for a person, in eval order."""
    by_id = {item.eval_id: item for item in tree_run.history.evals}
    return [
        _waiting(run, by_id[number], stage.key)
        for number, stage in sorted(tree_run.live.items())
        if stage.stage == APPROVE and stage.state in OPEN
    ]


def _waiting(run: Path, item: Eval, key: str) -> WaitingEval:
    parent = item.parent.result
    return WaitingEval(
        item.eval_id, item.idea.name, item.parent.node_id, item.depth, item.score,
        parent.score if parent else None, item.candidate.changed if item.candidate else (), key,
        read_decision(decision_file(run, key)),
    )  # fmt: skip


def unanswered(waiting: Sequence[WaitingEval]) -> list[WaitingEval]:
    """Return the evals without a decision."""
    return [item for item in waiting if item.decision is None]


def find_waiting(
    run: Path, waiting: Sequence[WaitingEval], names: Sequence[str]
) -> list[WaitingEval]:
    """Return the named evals; without names, the only undecided one.

    Raises InputError if a named eval does not wait or, without names, none does, and UsageError if
    several do.
    """
    if not names:
        open_evals = unanswered(waiting)
        if len(open_evals) == 1:
            return open_evals
        listed = ", ".join(item.name for item in open_evals)
        if open_evals:
            raise UsageError(f"{listed} wait for a decision: name the ones to decide")
        raise InputError(f"{run}: no eval waits for a person", hint=f"weft status {run}")
    by_name = {word: item for item in waiting for word in (item.name, str(item.eval_id))}
    for name in names:
        if name not in by_name:
            listed = ", ".join(item.name for item in waiting) or "none"
            raise InputError(
                f"{run}: {name[:40]} does not wait for a person", hint=f"waiting: {listed}"
            )
    return list(dict.fromkeys(by_name[name] for name in names))


def decide(run: Path, items: Sequence[WaitingEval], decision: PersonDecision) -> list[WaitingEval]:
    """Write a decision about evals; raises InputError if one of them is already decided."""
    if len(decision.note) > MAX_NOTE_CHARS:
        raise UsageError(f"--note has more than {MAX_NOTE_CHARS:,} characters")
    for item in items:
        if item.decision is not None:
            word, by = item.decision.word, item.decision.by
            raise InputError(f"{run}: {item.name} was already {word}, by {by}")
    for item in items:
        write_decision(decision_file(run, item.key), decision)
    return [replace(item, decision=decision) for item in items]


def diff_of(run: Path, tree_run: TreeRun, item: WaitingEval) -> str:
    """Return the change of an eval as a patch; empty if it has none."""
    own = next(e for e in tree_run.history.evals if e.eval_id == item.eval_id)
    if own.candidate is None or own.candidate.diff is None:
        return ""
    return RunView(run, NAME).read(own.candidate.diff).decode("utf-8", "replace")
