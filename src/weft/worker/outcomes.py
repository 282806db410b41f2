"""Records how a command ended, durably, so that after a crash it is adopted and not run again.

    supervisor ── outcome file ──► next attempt of the same task: prepare and run are skipped

An outcome counts only for its own task and attempt, if it is authenticated by the run's token and
everything that the command left is unchanged. Standard library only: supervisors write these files.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

FOLDER = "outcomes"
"""In the run folder, where no confined command can write."""
CLOCK_MARGIN_NS = 50_000_000
"""File timestamps lag behind the clock by up to a kernel tick."""
MAX_SYNCED = 64
"""Maximum number of changed files that are synced to disk one by one."""
MAX_BYTES = 1 << 24
TEMPORARY = 75
BROKEN = 126
"""Exit codes from here on are not final."""


class OutcomeRequest(TypedDict):
    """Where a supervisor records the end of a command, and what it records with it."""

    path: str
    key: str
    attempt: int
    token: str
    base: str
    """The attempt's folder."""
    folders: list[str]
    """Folders that the command may change, relative to `base`; checked again before adoption."""
    notes: dict[str, Any]
    """The notes that the task had when the command started."""


class StoredOutcome(NamedTuple):
    """An outcome that can be adopted."""

    path: Path
    attempt: int
    report: Any
    notes: dict[str, Any]


def is_final(status: int, reason: str) -> bool:
    """Whether the command ended on its own and no other attempt can follow."""
    return reason == "exited" and 0 <= status < BROKEN and status != TEMPORARY


def write(request: OutcomeRequest, logs: list[str], report: Any, started_ns: int) -> None:
    """Record the end of a command; if this fails, the only cost is that it may be run again."""
    body = {
        "key": request["key"], "attempt": request["attempt"], "report": report,
        "notes": request["notes"], "started_ns": started_ns, "folders": request["folders"],
    }  # fmt: skip
    places = [os.path.join(request["base"], name) for name in request["folders"]]  # noqa: PTH118
    try:
        body["digest"] = digest_of(places, logs, started_ns, durable=True)
    except OSError:  # it left something that cannot be read
        return
    text = json.dumps(body, sort_keys=True)
    line = json.dumps({"body": text, "mac": _mac(request["token"], text)}).encode()
    path = Path(request["path"])
    part = path.with_suffix(".part")
    with contextlib.suppress(OSError):
        _write_durably(part, line)
        part.rename(path)
        _sync(str(path.parent))


def read(
    path: Path, key: str, attempt: int, token: str, base: Path, logs: list[str]
) -> StoredOutcome | None:
    """Return an outcome that may be adopted; None if it is another's, forged, damaged or stale."""
    try:
        if path.is_symlink() or path.stat().st_size > MAX_BYTES:
            return None
        outer = json.loads(path.read_bytes())
        text, mac = str(outer["body"]), str(outer["mac"])
        if not hmac.compare_digest(mac, _mac(token, text)):
            return None
        body = json.loads(text)
        if (body["key"], body["attempt"]) != (key, attempt):
            return None
        places = [str(base / name) for name in body["folders"]]
        if body["digest"] != digest_of(places, logs, body["started_ns"]):
            return None
        return StoredOutcome(path, attempt, body["report"], body["notes"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


def digest_of(
    folders: list[str], logs: list[str], started_ns: int, *, durable: bool = False
) -> str:
    """Return one hash over what a command may have changed.

    Files older than the command contribute the metadata that change with any write, others their
    bytes too. With `durable`, the latter are synced to disk, `MAX_SYNCED` of them at most.
    """
    digest, synced = hashlib.sha256(), 0
    for name, path in (*_logs(logs), *_entries(folders)):
        status = os.lstat(path)
        is_new = status.st_ctime_ns >= started_ns - CLOCK_MARGIN_NS
        facts: tuple[int, ...] = (status.st_mode, status.st_size, status.st_mtime_ns)
        if stat.S_ISDIR(status.st_mode):
            facts = (status.st_mode,)
        digest.update(f"{name}\0{facts}\n".encode("utf-8", "surrogateescape"))
        if stat.S_ISLNK(status.st_mode):
            digest.update(os.fsencode(Path(path).readlink()))
        elif stat.S_ISREG(status.st_mode) and is_new and status.st_size:
            synced += 1
            digest.update(_content(path, durable and synced <= MAX_SYNCED))
    return digest.hexdigest()


def _logs(logs: list[str]) -> Iterator[tuple[str, str]]:
    return ((f"log {number}", path) for number, path in enumerate(logs))


def _entries(folders: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the name and path of everything below the folders, in a fixed order."""
    for number, folder in enumerate(folders):
        pending = [folder]
        while pending:
            place = pending.pop()
            with os.scandir(place) as entries:  # noqa: TID251 - sorted below
                ordered = sorted(entries, key=lambda entry: entry.name)
            for entry in ordered:
                yield f"{number}{entry.path[len(folder) :]}", entry.path
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)


def _content(path: str, durable: bool) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - many of them
        if durable:
            os.fsync(file.fileno())
        return hashlib.file_digest(file, "sha256").digest()


def _mac(token: str, text: str) -> str:
    return hmac.new(token.encode(), text.encode("utf-8", "surrogateescape"), "sha256").hexdigest()


def _write_durably(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: str) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
