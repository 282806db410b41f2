"""Human decisions about evals: RUN/decisions/KEY.json, one file for each waiting task.

    weft tree approve ─ writes once ─► file ─► the waiting task ─► ledger: the decision
                                                                ─► manifest: by whom, when

A decision names the task and thereby the exact candidate: it can be made while no coordinator is
running, and is found when the run resumes.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from weft.errors import InputError
from weft.model import strictjson
from weft.model.codec import from_json
from weft.searches.tree.slot import approval

FOLDER = "decisions"
MAX_BYTES = 64 * 1024
MAX_NOTE_CHARS = 4000


@dataclass(frozen=True, slots=True)
class PersonDecision:
    """What a person decided about an eval."""

    approved: bool
    note: str = ""
    by: str = ""
    at: float = 0.0
    """Unix seconds."""

    @property
    def word(self) -> str:
        """The decision in one word."""
        return "approved" if self.approved else "rejected"


def decision_file(run: Path, key: str) -> Path:
    """Return the path of the decision about a task, whether or not it exists yet."""
    return run / FOLDER / f"{key}.json"


def approval_names(folder: Path, file: Path) -> dict[str, str]:
    """Return the values of the names used by the waiting command's template."""
    return {
        "approval": approval.__file__,
        "decision_file": str(file),
        "worktree": str(folder / "worktree"),
        **dict.fromkeys(UNUSED, ""),
    }


UNUSED = (
    "result_file", "eval_id", "node_id", "depth", "stage", "idea_file", "parent_result",
    "root_result", "sweep_result", "feedback_file", "harness", "harness_dir",
)  # fmt: skip
"""Names of other stages, unused while waiting for a person."""


def read_decision(file: Path) -> PersonDecision | None:
    """Return a decision; None if there is none. Raises InputError if it is malformed."""
    if not file.is_file():
        return None
    try:
        table = strictjson.loads(file.read_bytes(), where=str(file), max_bytes=MAX_BYTES)
        return from_json(PersonDecision, table)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError(f"{file}: not a decision: {error}") from None


def write_decision(file: Path, decision: PersonDecision) -> None:
    """Write a decision once and atomically; raises InputError if there already is one."""
    file.parent.mkdir(exist_ok=True)
    aside = file.with_name(f".{file.name}.{os.getpid()}")
    with aside.open("w", encoding="utf-8") as opened:
        json.dump(asdict(decision), opened)
        opened.flush()
        os.fsync(opened.fileno())
    try:
        os.link(aside, file)  # refuses to replace a decision
    except FileExistsError:
        known = read_decision(file)
        word = known.word if known else "decided"
        raise InputError(f"it was already {word}, by {known.by if known else 'somebody'}") from None
    finally:
        with contextlib.suppress(OSError):
            aside.unlink()
