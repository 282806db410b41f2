"""Checks everything a run left on disk and names every violation.

Independent of the engine: it reads the ledger, the manifest and the objects with a few lines of
its own code (a plain RFC 6962 tree, plain SQL), so that it does not share the engine's mistakes.
Every function returns a list of sentences, empty if all is well; nothing on disk changes.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import sqlite3
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.errors import WeftError
from weft.inspect.verify import verify
from weft.storage.disk import Disk
from weft.storage.heads import HeadsList

TaskPlace = tuple[str, int, int]
"""A task's lane, round and index."""

STATES = ("queued", "running", "completed", "failed", "cancelled", "dropped")
FINAL = ("completed", "failed", "dropped")
EVENTS = (
    "interrupted", "tail-cut", "manifest-lost", "manifest-rebuilt", "moved", "copy-accepted",
    "rollback-accepted", "code-accepted", "code-changed", "round-forgotten", "orphans-ended",
    "sandbox",
    "sandbox-missing", "ray-session",
)  # fmt: skip
REBUILT = ("manifest-lost", "manifest-rebuilt")


@dataclass(frozen=True)
class Place:
    """A run folder, and the folder of heads lists that has its list."""

    run: Path
    heads: Path


@dataclass(frozen=True)
class Reference:
    """The result of a run without faults."""

    head: str
    size: int
    ledger_sha256: str

    @staticmethod
    def of(run: Path) -> Reference:
        lines = whole_lines(run / "ledger.jsonl")
        digest = hashlib.sha256((run / "ledger.jsonl").read_bytes()).hexdigest()
        return Reference(merkle_root(lines).hex(), len(lines), digest)


def check_finished(place: Place, reference: Reference) -> list[str]:
    """Check a finished run against the run without faults."""
    run = place.run
    violations = [*check_order(place), *_check_lock(run), *_check_temporaries(run)]
    lines = whole_lines(run / "ledger.jsonl")
    if Reference.of(run) != reference:
        violations.append(f"ledger differs: {Reference.of(run)} instead of {reference}")
    checkpoint = read_checkpoint(run)
    if checkpoint != (reference.size, reference.head):
        violations.append(f"checkpoint {checkpoint} is not the head of a run without faults")
    heads = noted_heads(place)
    if not heads or (heads[-1]["size"], heads[-1]["root"]) != (reference.size, reference.head):
        violations.append("the heads list does not end with the head")
    sealed = (run / "ledger.jsonl", run / "checkpoint")
    violations += [f"{path.name} of a finished run can be written" for path in sealed
                   if path.stat().st_mode & 0o222]  # fmt: skip
    with open_copy(run) as db:
        violations += [*_check_rows(db), *_check_all_final(db), *_check_against_ledger(db, lines)]
    return [*violations, *check_objects(run, lines), *_check_with_verify(place)]


def check_crashed(place: Place) -> list[str]:
    """Check an interrupted run: each later item may lag behind the earlier one, never lead."""
    run = place.run
    if not (run / "run.toml").exists():
        return []
    violations = check_order(place)
    with contextlib.ExitStack() as stack:
        try:
            db = stack.enter_context(open_copy(run))
        except FileNotFoundError:
            return violations
        violations += _check_rows(db)
        violations += _check_ledger_not_ahead(db, whole_lines(run / "ledger.jsonl"))
    return violations


def check_not_doubled(
    final_before: frozenset[TaskPlace], executed_since: list[TaskPlace]
) -> list[str]:
    """Check that no task with a durable outcome ran again."""
    doubled = sorted(final_before.intersection(executed_since))
    return [f"task {place} was completed and ran again" for place in doubled]


def check_executed(run: Path, executed: list[TaskPlace]) -> list[str]:
    """Check that every completed task was executed at least once."""
    missing = sorted(_tasks_in(run, ("completed",)) - frozenset(executed))
    return [f"task {place} is completed but never ran" for place in missing]


def check_not_lost(final_before: frozenset[TaskPlace], run: Path) -> list[str]:
    """Check that every durable outcome is still there."""
    lost_tasks = sorted(final_before - final_tasks(run))
    return [f"task {place} was completed and is lost" for place in lost_tasks]


# -- order of durability ------------------------------------------------------------------


def check_order(place: Place) -> list[str]:
    """Check that heads list ≤ checkpoint ≤ ledger, and that all agree on the records."""
    violations: list[str] = []
    lines = whole_lines(place.run / "ledger.jsonl")
    violations += _check_chain(lines)
    checkpoint = read_checkpoint(place.run)
    size = checkpoint[0] if checkpoint else 0
    if size > len(lines):
        violations.append(f"the checkpoint counts {size} records, the ledger has {len(lines)}")
    elif checkpoint and merkle_root(lines[:size]).hex() != checkpoint[1]:
        violations.append(f"the checkpoint's root is not that of the first {size} records")
    for head in noted_heads(place):
        if head["size"] > size:
            violations.append(
                f"a head of {head['size']} records is noted, the checkpoint has {size}"
            )
        elif merkle_root(lines[: head["size"]]).hex() != head["root"]:
            violations.append(f"the noted head of {head['size']} records is not theirs")
    return violations


def _check_chain(lines: list[bytes]) -> list[str]:
    before = None
    for seq, line in enumerate(lines):
        record = json.loads(line)
        if record["seq"] != seq:
            return [f"record {seq} says it is {record['seq']}"]
        if before is not None and record["prev_hash"] != hashlib.sha256(before).hexdigest():
            return [f"record {seq} does not follow record {seq - 1}"]
        before = line
    return []


def _check_ledger_not_ahead(db: sqlite3.Connection, lines: list[bytes]) -> list[str]:
    recorded = {key for (key,) in db.execute(
        "SELECT t.key FROM task_view t WHERE t.state IN ('completed', 'failed')")}  # fmt: skip
    results = (json.loads(line) for line in lines)
    ahead = [r["seq"] for r in results if r["kind"] == "result" and r["key"] not in recorded]
    return [f"record {seq} is in the ledger, not in the manifest" for seq in ahead]


# -- the manifest -------------------------------------------------------------------------


def _check_rows(db: sqlite3.Connection) -> list[str]:
    """Check that every row of every table is one that the lifecycle allows."""
    violations = [f"manifest: {text}" for (text,) in db.execute("PRAGMA integrity_check")
                  if text != "ok"]  # fmt: skip
    rebuilt = _count(db, f"SELECT count(*) FROM events WHERE kind IN {REBUILT}") > 0
    wrong = {
        "a state outside the lifecycle": f"state NOT IN {STATES}",
        "completed without a value": "state='completed' AND (value IS NULL OR error IS NOT NULL)",
        "failed without an error": "state='failed' AND (error IS NULL OR value IS NOT NULL)",
        "unfinished with an outcome": "state IN ('queued','running') AND"
        " (value IS NOT NULL OR error IS NOT NULL OR finished_at IS NOT NULL)",
        "running without a worker": "state='running' AND (worker_pid IS NULL OR attempt < 1)",
    }
    if not rebuilt:
        wrong["finished without times"] = (
            "state IN ('completed','failed','dropped') AND (finished_at IS NULL OR"
            " started_at IS NULL OR queued_at IS NULL OR attempt < 1)"
        )
        wrong["failed without its attempt"] = (
            "state='failed' AND (SELECT count(*) FROM attempts a WHERE a.task=tasks.id AND"
            " a.outcome='failed' AND a.attempt=tasks.attempt) <> 1"
        )
    for what, condition in wrong.items():
        rows = db.execute(f"SELECT id FROM tasks WHERE {condition}").fetchall()
        violations += [f"task {id_}: {what}" for (id_,) in rows]
    return [*violations, *_check_attempts(db), *_check_rounds(db)]


def _check_attempts(db: sqlite3.Connection) -> list[str]:
    wrong = {
        "of no task": "t.id IS NULL",
        "with an unknown outcome": "a.outcome NOT IN ('failed', 'requeued')",
        "beyond the task's own count": "a.attempt > t.attempt",
        "failed, of a task that did not": "a.outcome='failed' AND t.state IN"
        " ('completed', 'queued', 'running')",
        "that is also the successful one": "t.state='completed' AND a.attempt=t.attempt",
    }
    violations = []
    for what, condition in wrong.items():
        sql = f"SELECT a.task FROM attempts a LEFT JOIN tasks t ON t.id=a.task WHERE {condition}"
        violations += [f"attempt of task {id_}: {what}" for (id_,) in db.execute(sql)]
    kinds = [kind for (kind,) in db.execute("SELECT DISTINCT kind FROM events ORDER BY kind")]
    return violations + [f"event of unknown kind {kind}" for kind in kinds if kind not in EVENTS]


def _check_rounds(db: sqlite3.Connection) -> list[str]:
    violations = []
    sql = "SELECT id, size, first, recorded, closed, stopped FROM rounds WHERE kind='tasks'"
    for id_, size, first, recorded, closed, stopped in db.execute(sql).fetchall():
        inside = _states(db, first, first + recorded)
        beyond = _states(db, first + recorded, first + (size or recorded))
        if size is not None and recorded > size:
            violations.append(f"round {id_}: {recorded} results of {size} tasks")
        if len(inside) != recorded or not set(inside) <= {"completed", "failed"}:
            violations.append(f"round {id_}: its recorded results are {inside}")
        if closed and not set(beyond) <= {"dropped", "cancelled"}:
            violations.append(f"round {id_}: closed, but beyond its end are {beyond}")
        if not closed and {"dropped", "cancelled"} & set(beyond):
            violations.append(f"round {id_}: open, but beyond its end are {beyond}")
        if closed and not stopped and recorded != size:
            violations.append(f"round {id_}: closed after {recorded} of {size} without a stop")
    return violations


def _states(db: sqlite3.Connection, first: int, end: int) -> list[str]:
    rows = db.execute("SELECT state FROM tasks WHERE id >= ? AND id < ?", (first, end))
    return [state for (state,) in rows]


def _check_all_final(db: sqlite3.Connection) -> list[str]:
    violations = []
    if _count(db, "SELECT count(*) FROM tasks WHERE state IN ('queued', 'running')"):
        violations.append("a finished run has unfinished tasks")
    if _count(db, "SELECT count(*) FROM rounds WHERE kind='tasks' AND NOT closed"):
        violations.append("a finished run has open rounds")
    if _count(db, "SELECT count(*) FROM lanes WHERE answer IS NULL"):
        violations.append("a finished run has lanes without an answer")
    return violations


def _check_against_ledger(db: sqlite3.Connection, lines: list[bytes]) -> list[str]:
    """Check that the recorded rows are the ledger's result records, with the same values."""
    columns = "key, lane, round, idx, function, args, value, error, state"
    rows = {row[0]: row for row in db.execute(f"SELECT {columns} FROM task_view")}
    violations, results = [], 0
    for record in map(json.loads, lines):
        if record["kind"] != "result":
            continue
        results += 1
        row, body = rows.get(record["key"]), record["body"]
        if row is None:
            violations.append(f"record {record['seq']} has no row in the manifest")
            continue
        recorded_body = (body["lane"], body["round"], body["index"], body["function"], body["args"],
                         body.get("value"), body.get("error"))  # fmt: skip
        if recorded_body != (*row[1:5], *(json.loads(text) if text else None for text in row[5:8])):
            violations.append(f"record {record['seq']} and its row in the manifest differ")
    recorded = sum(row[8] in ("completed", "failed") for row in rows.values())
    if recorded != results:
        violations.append(f"the manifest has {recorded} recorded results, the ledger {results}")
    return violations


def _count(db: sqlite3.Connection, sql: str) -> int:
    return int(db.execute(sql).fetchone()[0])


# -- files --------------------------------------------------------------------------------


def check_objects(run: Path, lines: list[bytes]) -> list[str]:
    """Check that every object named by the ledger exists, and that every object fits its name."""
    violations, present = [], set()
    for path in sorted((run / "objects").glob("??/*")):
        digest = path.parent.name + path.name
        present.add(digest)
        if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            violations.append(f"object {digest[:12]} is not whole")
    for line in lines:
        named = _references(json.loads(line)["body"])
        violations += [
            f"object {digest[:12]} is named in the ledger and missing"
            for digest in named
            if digest not in present
        ]
    return violations


def _references(value: Any) -> Iterator[str]:
    """Digests in `$o` tags, and the inputs named by the genesis."""
    if isinstance(value, dict):
        for name, item in value.items():
            if name == "$o" and isinstance(item, str):
                yield item
            elif name == "inputs" and isinstance(item, dict):
                yield from (digest for digest in item.values() if isinstance(digest, str))
            else:
                yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


def _check_temporaries(run: Path) -> list[str]:
    return [f"{path.name} was left behind" for path in sorted(run.rglob("*.tmp*"))]


def _check_lock(run: Path) -> list[str]:
    if not (run / ".lock").exists():  # a copy or a rebuilt folder of a finished run
        return []
    with (run / ".lock").open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return ["the lock is still held"]
        fcntl.flock(file, fcntl.LOCK_UN)
    return []


def _check_with_verify(place: Place) -> list[str]:
    """Check that `weft verify` reports the run as finished."""
    try:
        verdict = verify(place.run, HeadsList(place.heads, Disk()))
    except WeftError as error:
        return [f"weft verify: {error}"]
    return [] if verdict.status == "finished" else [f"weft verify calls it {verdict.status}"]


def whole_lines(path: Path) -> list[bytes]:
    """Lines that end with a newline, without it."""
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []


def merkle_root(lines: list[bytes]) -> bytes:
    """RFC 6962 §2.1, taken literally."""
    if not lines:
        return hashlib.sha256(b"").digest()
    if len(lines) == 1:
        return hashlib.sha256(b"\0" + lines[0]).digest()
    half = 1 << (len(lines) - 1).bit_length() - 1
    return hashlib.sha256(
        b"\1" + merkle_root(lines[:half]) + merkle_root(lines[half:])
    ).digest()  # fmt: skip


def read_checkpoint(run: Path) -> tuple[int, str] | None:
    """Size and hex root of the checkpoint, if there is one."""
    path = run / "checkpoint"
    if not path.exists():
        return None
    _, size, root = path.read_text().splitlines()[:3]
    return int(size), base64.b64decode(root).hex()


def noted_heads(place: Place) -> list[dict[str, Any]]:
    """Every complete and valid line of the run's heads list."""
    run_id = tomllib.loads((place.run / "run.toml").read_text())["run_id"]
    lines = whole_lines(place.heads / f"{run_id}.jsonl")
    heads = []
    for line in lines:
        with contextlib.suppress(ValueError):
            heads.append(json.loads(line))
    return heads


@contextlib.contextmanager
def open_copy(run: Path) -> Iterator[sqlite3.Connection]:
    """Open a copy of the manifest: reading the original could change it."""
    with tempfile.TemporaryDirectory() as folder:
        if not (run / "manifest.sqlite").exists():
            raise FileNotFoundError(run / "manifest.sqlite")
        for suffix in ("", "-wal", "-journal"):
            source = run / f"manifest.sqlite{suffix}"
            if source.exists():
                shutil.copyfile(source, os.path.join(folder, source.name))  # noqa: PTH118
        db = sqlite3.connect(os.path.join(folder, "manifest.sqlite"))  # noqa: PTH118
        try:
            yield db
        finally:
            db.close()


def final_tasks(run: Path) -> frozenset[TaskPlace]:
    """Tasks whose outcome is in the manifest."""
    return _tasks_in(run, FINAL)


def _tasks_in(run: Path, states: tuple[str, ...]) -> frozenset[TaskPlace]:
    if not (run / "manifest.sqlite").exists():
        return frozenset()
    with open_copy(run) as db:
        try:
            rows = db.execute("SELECT lane, round, idx, state FROM task_view").fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return frozenset()
            raise
    return frozenset((lane, round_, idx) for lane, round_, idx, state in rows if state in states)
