"""Failures of a run by class, with examples; and attempts that were lost and queued again."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from weft.inspect.report.places import Places
from weft.inspect.report.tasks import TaskFacts, TaskReader
from weft.inspect.report.text import clip, failure_text
from weft.model.values import JsonValue
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
    message: str
    """The last line of the detail of its last attempt; `said` in JSON."""

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON form."""
        return {"key": self.key, "place": self.place, "args": self.args, "said": self.message}


@dataclass(frozen=True, slots=True)
class FailureClass:
    """Tasks of one function that failed in the same way."""

    function: str
    failure: str
    count: int
    examples: tuple[Example, ...]

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON form."""
        return {**asdict(self), "examples": [example.to_dict() for example in self.examples]}


@dataclass(frozen=True, slots=True)
class RequeueCount:
    """Number of attempts requeued for one reason; they are not in the ledger."""

    reason: str
    count: int


def read_failures(manifest: Manifest, logs: Path, *, sealed: bool) -> tuple[FailureClass, ...]:
    """Return the classes of failed tasks, largest first; without examples for sealed runs."""
    rows = manifest.query(
        "SELECT function, error, count(*), min(id) FROM tasks WHERE state = 'failed'"
        " GROUP BY function, error ORDER BY 3 DESC, 4 LIMIT ?",
        MAX_CLASSES,
    )
    reader = TaskReader(manifest, Places.read(manifest), logs)
    return tuple(
        FailureClass(
            clip(function, TEXT_BYTES),
            failure_text(error),
            count,
            () if sealed else _examples(reader, function, error),
        )
        for function, error, count, _ in rows
    )


def _examples(reader: TaskReader, function: str, error: str) -> tuple[Example, ...]:
    rows = reader.manifest.query(
        "SELECT id FROM tasks WHERE state = 'failed' AND function = ? AND error = ?"
        " ORDER BY id LIMIT ?",
        function,
        error,
        EXAMPLES,
    )
    ids = [row[0] for row in rows]
    return tuple(_example(task) for task in reader.read_tasks(ids, EXAMPLE_BYTES))


def _example(task: TaskFacts) -> Example:
    place = f"{task.lane}:{task.round}:{task.index}"
    _, _, message = task.failure.partition(": ")
    return Example(task.key, place, clip(task.args, TEXT_BYTES), message)


def read_requeues(manifest: Manifest) -> tuple[RequeueCount, ...]:
    """Return the reasons for which attempts were requeued, most frequent first."""
    rows = manifest.query(
        "SELECT reason, count(*) FROM attempts WHERE outcome = 'requeued' GROUP BY reason"
        " ORDER BY 2 DESC, 1 LIMIT ?",
        MAX_CLASSES,
    )
    return tuple(RequeueCount(clip(reason, TEXT_BYTES), count) for reason, count in rows)
