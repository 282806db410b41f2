"""The outcome of a finished run, read from its ledger alone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.errors import LedgerDamaged
from weft.ledger.checkpoint import Checkpoint
from weft.ledger.records import Record, parse
from weft.model.card import card
from weft.model.records import AS_DICT, rebuild, shown
from weft.model.tasks import Unknown
from weft.model.values import Object, canonical, from_wire
from weft.product import locate
from weft.runs.decision import check_same
from weft.runs.history import check_signed
from weft.runs.results import StoredValues
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.ledgerfile import last_line, parse_at, read_checkpoint, whole_lines
from weft.storage.objects import ObjectStore
from weft.storage.plainfile import open_plain

SCHEMA_VERSION = 1
MAX_ANSWER_CHARS = 120
"""Limit for the answer in the `repr` of a run."""


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run: its answer, and the head that proves how it came about."""

    run_id: str
    """A random id, drawn when the run started; never in the ledger."""
    search: str
    """The search's declared name, or `module:function`."""
    out: Path
    """The run's folder."""
    answer: Any
    """The value that the search returned, or an `Unknown`."""
    head: str
    """The Merkle root of the ledger: equal heads mean equal decisions."""
    size: int
    """How many records the ledger has."""
    completed: int
    """How many tasks returned a value."""
    failed: int
    """How many tasks failed for good."""
    timing_dependent: bool
    """Whether the ledger contains a timeout or a dead worker, so that another run may differ."""
    failures_expected: bool = False
    """Whether the search declares that its tasks may fail, or its product has its own rules."""

    @property
    def mostly_failed(self) -> bool:
        """Whether more than half of the tasks failed, unless the search expects that."""
        return self.failed > self.completed and not self.failures_expected

    @property
    def status(self) -> str:
        """`answered` or `unknown`."""
        return "unknown" if isinstance(self.answer, Unknown) else "answered"

    @property
    def exit_code(self) -> int:
        """0 answered · 1 unknown · 4 unknown because tasks failed, or most of them failed."""
        if self.mostly_failed:
            return 4
        if not isinstance(self.answer, Unknown):
            return 0
        return 4 if self.answer.reason == "incomplete" else 1

    def read(self, reference: Object) -> bytes:
        """Return an object's bytes."""
        return ObjectStore(self.out / "objects", Disk()).read(reference.digest)

    def __repr__(self) -> str:
        outcome = self.status
        if isinstance(self.answer, Unknown):
            outcome = f"unknown, {self.answer.reason}"
        elif outcome == "answered":
            answer = json.dumps(self.to_dict()["answer"], ensure_ascii=False, default=str)
            is_long = len(answer) > MAX_ANSWER_CHARS
            outcome = f"answer {answer[:MAX_ANSWER_CHARS]}{'…' * is_long}"
        counts = f"{self.completed} completed, {self.failed} failed"
        return f"<Run {self.out} of {self.search}: {outcome}; {counts}>"

    def _repr_html_(self) -> str:
        answer = self.to_dict()["answer"]
        tasks = f"{self.completed:,} completed, {self.failed:,} failed"
        rows = [
            (self.status, json.dumps(answer, ensure_ascii=False, default=str)),
            ("tasks", tasks),
            ("head", f"{self.size} {self.head}"),
            ("folder", str(self.out)),
        ]
        if self.timing_dependent:
            rows.insert(2, ("timing-dependent", "another run may differ"))
        return card(f"Run of {self.search}", rows)

    def to_dict(self) -> dict[str, Any]:
        """JSON form, as `--json` prints it."""
        answer = self.answer
        if isinstance(answer, Unknown):
            answer = {"unknown": answer.reason, "detail": answer.detail}
        return {
            "schema_version": SCHEMA_VERSION,
            "run": self.run_id,
            "search": self.search,
            "status": self.status,
            "answer": _named_objects(shown(answer)),
            "head": self.head,
            "size": self.size,
            "tasks": {"completed": self.completed, "failed": self.failed},
            "timing_dependent": self.timing_dependent,
            "out": str(self.out),
        }


def _named_objects(value: Any) -> Any:
    """Replace objects inside a value as `--json` does: by their digests."""
    if type(value) is dict:
        return {key: _named_objects(item) for key, item in value.items()}
    if type(value) is list:
        return [_named_objects(item) for item in value]
    return {"$o": value.digest} if type(value) is Object else value


def read_outcome(folder: RunFolder, genesis: str | None) -> Run:
    """Read a finished run's answer; with `genesis`, refuse a run that has another one."""
    checkpoint = read_checkpoint(folder.checkpoint)
    if checkpoint is None:
        raise LedgerDamaged(f"{folder.path}: the checkpoint of a finished run is missing")
    check_signed(folder)
    first, last = _ends(folder.ledger)
    if genesis is not None:
        check_same(canonical(first.body), genesis, folder.path)
    return _run(folder, first, last, checkpoint)


def _run(folder: RunFolder, first: Record, last: Record, checkpoint: Checkpoint) -> Run:
    genesis, end = first.body, last.body
    is_unknown = end.get("status") == "unknown"
    read = StoredValues(ObjectStore(folder.objects, Disk())).read
    value = rebuild(from_wire(end["detail" if is_unknown else "value"]), AS_DICT, read)
    return Run(
        run_id=folder.read_run_file().run_id,
        search=genesis["search"],
        out=folder.path,
        answer=Unknown(end["reason"], value) if is_unknown else value,
        head=checkpoint.root.hex(),
        size=checkpoint.size,
        completed=end["completed"],
        failed=end["failed"],
        timing_dependent=end["timing_dependent"],
        failures_expected=genesis["config"].get("failures_expected") is True
        or (end["failed"] > end["completed"] and locate(genesis["search"]) is not None),
    )


def first_failed(out: Path) -> str:
    """Return the key of the first failed task in a run's ledger; empty without one."""
    for seq, line in enumerate(whole_lines(RunFolder(out).ledger)):
        if b'"error":' in line:
            record = parse_at(line, seq)
            if record.kind == "result" and "error" in record.body:
                return record.key
    return ""


def _ends(path: Path) -> tuple[Record, Record]:
    """Return the first and last record of a ledger, without reading those between."""
    hint = "weft verify says what is wrong"
    try:
        with open_plain(path) as file:
            first = parse(file.readline().rstrip(b"\n"))
    except FileNotFoundError:
        raise LedgerDamaged(f"{path} is missing", hint=hint) from None
    last = parse(last_line(path).rstrip(b"\n"))
    if last.kind != "answer":
        raise LedgerDamaged(f"{path}: a finished ledger ends with the root's answer", hint=hint)
    return first, last
