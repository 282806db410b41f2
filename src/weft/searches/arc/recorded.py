"""Read back a run of `weft arc solve`: its tasks, and the answers recorded so far.

Everything that decided comes from the ledger and the objects. Only what decides nothing comes from
run.toml: the names of tasks and the run's tags.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from weft.errors import InputError
from weft.inspect.access import run_named
from weft.inspect.report.view import RunView, view_of
from weft.model.values import JsonValue, Object, from_wire
from weft.runs.execution import SEALED_VIEWS
from weft.searches.arc.records import SEARCH, AnswerRecord
from weft.searches.arc.task import ArcTask


@dataclass(frozen=True, slots=True)
class Recorded:
    """One task of a run; `answer` is None until its lane has one."""

    task: ArcTask
    answer: AnswerRecord | None

    @property
    def outcome(self) -> str:
        """The recorded outcome; `running` while there is none."""
        return "running" if self.answer is None else self.answer["outcome"]


@dataclass(frozen=True, slots=True)
class ArcRun:
    """All tasks of a run, sorted by name."""

    path: Path
    items: tuple[Recorded, ...]
    tags: tuple[str, ...] = ()

    @property
    def sealed(self) -> bool:
        """Whether the tasks must not be shown one by one."""
        return SEALED_VIEWS in self.tags

    def outcomes(self) -> dict[str, int]:
        """Return the number of tasks with each outcome."""
        counts = Counter(item.outcome for item in self.items)
        return dict(sorted(counts.items()))

    def find(self, name: str) -> Recorded:
        """Return the task with a name, or else with a digest that starts with it.

        Raises InputError if no task matches, or several.
        """
        named = [item for item in self.items if item.task.name == name]
        fits = named or [i for i in self.items if name and i.task.digest.startswith(name)]
        if len(fits) != 1:
            what = "several tasks fit" if fits else "no task fits"
            raise InputError(f"{self.path}: {what} {name!r}")
        return fits[0]


def read_run(path: Path) -> ArcRun:
    """Read a run; raises `InputError` if it is a run of another search."""
    view = view_of(path, SEARCH, "weft arc solve")
    with run_named(path):
        return of_view(view)


def of_view(view: RunView) -> ArcRun:
    """Read a run from the report's view of it."""
    names = view.labels()
    answers: dict[str, AnswerRecord] = {}
    digests: list[str] = []
    for record in view.records():
        if record.seq == 0:
            digests = record.body["config"]["args"]["tasks"]
        elif record.kind == "answer" and record.body["lane"].count("/") == 1:
            answers[record.body["lane"][1:]] = _answer(
                record.body["status"], record.body.get("value")
            )
    items = [
        Recorded(
            ArcTask.from_canonical(view.read(Object(digest)), names.get(digest, digest[:8])),
            answers.get(digest),
        )
        for digest in digests
    ]
    items.sort(key=lambda item: (item.task.name, item.task.digest))
    return ArcRun(view.path, tuple(items), view.tags())


def _answer(status: str, wire: JsonValue) -> AnswerRecord:
    """Return the answer of a lane; the ledger is verified, so its keys are those of the record."""
    if status == "unknown":
        return {
            "outcome": "UNKNOWN/incomplete", "groups": [], "weighing": None, "failure": None,
            "nearest": None,
        }  # fmt: skip
    return cast(AnswerRecord, from_wire(wire))
