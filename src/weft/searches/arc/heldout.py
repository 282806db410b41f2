"""Recognise held-out tasks: the evaluation tasks of every published set, by their contents.

Nothing may be learned from the tasks on which it is measured, and sets overlap: most of
ARC-AGI-1's evaluation tasks are among ARC-AGI-2's training tasks. So a task is identified by its
training pairs in any order, not by its name or split. `heldout.txt` contains only fingerprints,
without those of tasks that are also in ARC-AGI-1's own training split.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from weft.model.values import canonical
from weft.searches.arc.task import ArcTask

HEX_DIGITS = 16
EVALUATION = "evaluation"
"""The name of the evaluation split, and the tag of runs on evaluation tasks."""


def fingerprint(task: ArcTask) -> str:
    """Return the first digits of the SHA-256 of the sorted training pairs."""
    pairs = sorted(canonical([pair.input.rows(), pair.output.rows()]) for pair in task.train)
    return hashlib.sha256("\n".join(pairs).encode()).hexdigest()[:HEX_DIGITS]


def held_out(tasks: Iterable[ArcTask]) -> int:
    """Count the tasks that belong to an evaluation split of a published set."""
    known = _known()
    return sum(fingerprint(task) in known for task in tasks)


@cache
def _known() -> frozenset[str]:
    text = files("weft.searches.arc").joinpath("heldout.txt").read_text("ascii")
    return frozenset(text.split())
