"""The runs below a folder, newest first, one entry each, as `weft list` shows them.

Reads only a few rows of each run, not every task, and changes nothing. A run that cannot be read
is listed as damaged, with the reason.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from weft.errors import FileInvalid, WeftError
from weft.inspect.access import last_record, open_manifest, run_named, state_of
from weft.inspect.serve.rundirectory import RunDirectory
from weft.model.records import shown
from weft.model.values import JsonValue, Object, from_wire
from weft.storage.folder import RunFolder
from weft.storage.manifest import Manifest

SCHEMA_VERSION = 1
DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class RunEntry:
    """One run in a list."""

    name: str
    """Its path relative to the folder."""
    path: str
    search: str = ""
    state: str = DAMAGED
    """`finished`, `running`, `interrupted` or `damaged`."""
    started_at: float | None = None
    duration_s: float | None = None
    """From its first task to its last head, including pauses."""
    tasks: int = 0
    """Results accepted so far."""
    failed: int | None = None
    """Known only for a finished run."""
    answer: str = ""
    """As JSON; for a damaged run, what is wrong."""
    tags: tuple[str, ...] = ()
    mtime: float = field(default=0.0, repr=False)

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON form."""
        raw = asdict(self)
        del raw["mtime"]
        return {"schema_version": SCHEMA_VERSION, **raw, "tags": list(self.tags)}


def list_runs(folder: Path) -> list[RunEntry]:
    """Return the runs below a folder, newest first, ties by name."""
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise FileInvalid(f"{folder} {what}", hint="weft list FOLDER, where runs are")
    runs = [read_entry(run.name, run.path) for run in RunDirectory(folder).runs()]
    return sorted(runs, key=lambda run: (-(run.started_at or run.mtime), run.name))


def read_entry(name: str, path: Path) -> RunEntry:
    """Read a run's entry; one that cannot be read is damaged, with the reason as its answer."""
    folder = RunFolder(path)
    try:
        with run_named(path):
            return _read(name, folder)
    except WeftError as error:
        return RunEntry(name, str(path), answer=error.message, mtime=_mtime(folder))


def _read(name: str, folder: RunFolder) -> RunEntry:
    run_file, state = folder.read_run_file(), state_of(folder)
    tasks, failed, answer = 0, None, ""
    if state == "finished" and (record := last_record(folder.ledger)) is not None:
        body = record.body
        failed = body["failed"]
        tasks = body["completed"] + failed
        answer = _answer(body)
    started_at = duration_s = None
    if folder.manifest.is_file():
        with open_manifest(folder) as manifest:
            started_at, duration_s = _times(manifest)
            tasks = tasks or _recorded(manifest)
    return RunEntry(
        name, str(folder.path), run_file.search, state, started_at, duration_s, tasks, failed,
        answer, run_file.tags, _mtime(folder),
    )  # fmt: skip


def _answer(body: dict[str, JsonValue]) -> str:
    if body["status"] == "unknown":
        return f"unknown: {body['reason']}"
    return json.dumps(
        shown(from_wire(body["value"])), ensure_ascii=False, separators=(",", ":"),
        default=_object_json,
    )  # fmt: skip


def _object_json(value: object) -> JsonValue:
    """Return an object as its digest; no other value lacks a JSON form."""
    assert isinstance(value, Object)
    return {"object": value.digest}


def _times(manifest: Manifest) -> tuple[float | None, float | None]:
    """Return when the first task was queued, and the seconds from then to the last head."""
    first = manifest.query("SELECT coalesce(queued_at, started_at) FROM tasks ORDER BY id LIMIT 1")
    [(last,)] = manifest.query("SELECT max(at) FROM heads")
    started_at: float | None = first[0][0] if first else None
    if started_at is None or last is None:
        return started_at or last, None
    return started_at, max(0.0, last - started_at)


def _recorded(manifest: Manifest) -> int:
    [(count,)] = manifest.query(
        "SELECT coalesce(sum(recorded), 0) FROM rounds WHERE kind = 'tasks'"
    )
    recorded: int = count
    return recorded


def _mtime(folder: RunFolder) -> float:
    try:
        return folder.run_toml.lstat().st_mtime
    except OSError:
        return 0.0
