"""Failures of a run by class, with examples; and the losses that were made good."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.inspect.report.places import Places
from weft.inspect.report.tasks import Chooser, TaskFacts
from weft.inspect.report.text import clip, failure_text
from weft.storage.manifest import Manifest

MAX_CLASSES = 40
EXAMPLES = 3
EXAMPLE_BYTES = 2000
TEXT_BYTES = 300


@dataclass(frozen=True, slots=True)
class Example:
    """One failed task; `key` is what `weft explain` takes."""

    key: str
    place: str
    args: str
    said: str
    """The last line of what its last attempt told."""


@dataclass(frozen=True, slots=True)
class FailureClass:
    """Tasks of one function that failed in one way."""

    function: str
    failure: str
    count: int
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Loss:
    """Attempts that were begun again for one reason, and are not in the ledger."""

    reason: str
    count: int


def read_failures(manifest: Manifest, logs: Path, *, sealed: bool) -> tuple[FailureClass, ...]:
    """Return the classes of failed tasks, largest first; of sealed runs without examples."""
    rows = manifest.query(
        "SELECT function, error, count(*), min(id) FROM tasks WHERE state = 'failed'"
        " GROUP BY function, error ORDER BY 3 DESC, 4 LIMIT ?",
        MAX_CLASSES,
    )
    chooser = Chooser(manifest, Places.read(manifest), logs)
    return tuple(
        FailureClass(
            clip(function, TEXT_BYTES),
            failure_text(error),
            count,
            () if sealed else _examples(chooser, function, error),
        )
        for function, error, count, _ in rows
    )


def _examples(chooser: Chooser, function: str, error: str) -> tuple[Example, ...]:
    rows = chooser.manifest.query(
        "SELECT id FROM tasks WHERE state = 'failed' AND function = ? AND error = ?"
        " ORDER BY id LIMIT ?",
        function,
        error,
        EXAMPLES,
    )
    ids = [row[0] for row in rows]
    return tuple(_example(task) for task in chooser.told(ids, EXAMPLE_BYTES))


def _example(task: TaskFacts) -> Example:
    place = f"{task.lane}:{task.round}:{task.index}"
    _, _, said = task.failure.partition(": ")
    return Example(task.key, place, clip(task.args, TEXT_BYTES), said)


def read_losses(manifest: Manifest) -> tuple[Loss, ...]:
    """Return why attempts were queued again, most frequent first."""
    rows: list[tuple[Any, ...]] = manifest.query(
        "SELECT reason, count(*) FROM attempts WHERE outcome = 'requeued' GROUP BY reason"
        " ORDER BY 2 DESC, 1 LIMIT ?",
        MAX_CLASSES,
    )
    return tuple(Loss(clip(reason, TEXT_BYTES), count) for reason, count in rows)
