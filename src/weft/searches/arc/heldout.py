"""Which tasks are held out: the evaluation tasks of every published set, by their contents.

A set is measured honestly only with what never saw it, and sets overlap: most of ARC-AGI-1's
evaluation tasks are among ARC-AGI-2's training tasks. So a task is known by its training pairs
in any order, not by its name or split. `heldout.txt` holds fingerprints and nothing to look at;
a task that ARC-AGI-1 itself also gives for training is not in it.
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
"""Tag of a run whose tasks were chosen from a split of this name."""


def fingerprint(task: ArcTask) -> str:
    """Return the first digits of a SHA-256 over the training pairs, sorted."""
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
