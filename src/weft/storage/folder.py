"""A run's folder: its paths, its `run.toml`, and the lock that admits one coordinator.

Nothing in the folder is an absolute path, so it can be moved. The lock is a kernel file lock
(close-on-exec, freed by SIGKILL); the owner file beside it only names the holder.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
import time
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomli_w

from weft.errors import FileInvalid, RunFolderInvalid, RunLocked
from weft.storage.disk import Disk
from weft.storage.heads import RunLocation
from weft.storage.ledgerfile import is_whole
from weft.storage.plainfile import check_below, check_entries, read_plain

SCHEMA_VERSION = 1
OURS = (".lock", ".owner", "objects", "run.toml.tmp", "VALIDATION_REPORT.md")
"""Entries that a check before a run, or a run killed while being created, may leave behind."""
OWNER_WAIT_S = 5.0
OWNER_POLL_S = 0.01


@dataclass(frozen=True, slots=True)
class RunFile:
    """`run.toml`: what people ask about a run, and what resume needs to start it."""

    run_id: str
    search: str
    search_path: str
    """Folder of the search's module, relative to the run folder; empty when it is installed."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of each task package's source files."""
    execution: Mapping[str, Any] = field(default_factory=dict)
    imports: Mapping[str, str] = field(default_factory=dict)
    """Import path `module:function` of each declared name; the ledger has the names alone."""

    @property
    def tags(self) -> tuple[str, ...]:
        """Words that mark the run, for views; empty if the field is not a list."""
        tags = self.execution.get("tags")
        words = tags if isinstance(tags, list) else ()
        return tuple(word for word in words if isinstance(word, str))

    @property
    def labels(self) -> dict[str, str]:
        """Human-readable names for what the ledger names by a digest."""
        labels = self.execution.get("labels")
        pairs = labels.items() if isinstance(labels, Mapping) else ()
        return {name: label for name, label in pairs if isinstance(label, str)}

    def to_dict(self) -> dict[str, Any]:
        """Return the TOML form."""
        return {
            "schema_version": SCHEMA_VERSION,
            "run_id": self.run_id,
            "search": self.search,
            "search_path": self.search_path,
            "sources": dict(self.sources),
            "imports": dict(self.imports),
            "execution": dict(self.execution),
        }

    @staticmethod
    def from_dict(raw: Mapping[str, Any], where: str) -> RunFile:
        """Read what `to_dict` wrote; unknown or missing fields are refused."""
        if raw.get("schema_version") != SCHEMA_VERSION:
            raise FileInvalid(f"{where}: schema_version must be {SCHEMA_VERSION}")
        texts = {name: raw.get(name) for name in ("run_id", "search", "search_path")}
        tables = {name: raw.get(name) for name in ("sources", "execution")}
        tables["imports"] = raw.get("imports", {})  # runs of version 0.1 have no declared names
        bad = [n for n, v in texts.items() if not isinstance(v, str)]
        bad += [n for n, v in tables.items() if not isinstance(v, dict)]
        bad += sorted(raw.keys() - texts.keys() - tables.keys() - {"schema_version"})
        if bad:
            raise FileInvalid(f"{where}: field {bad[0]!r} is missing, unknown or of the wrong type")
        if not str(texts["run_id"]).isalnum():
            raise FileInvalid(f"{where}: run_id must be letters and digits")
        return RunFile(**texts, **tables)  # type: ignore[arg-type]


class RunFolder:
    """The paths of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run_toml = path / "run.toml"
        self.ledger = path / "ledger.jsonl"
        self.checkpoint = path / "checkpoint"
        self.signature = path / "checkpoint.sig"
        self.manifest = path / "manifest.sqlite"
        self.objects = path / "objects"
        self.logs = path / "logs"
        self.attempts = path / "attempts"
        """Working folders of commands, one for each attempt while it runs."""
        self.outcomes = path / "outcomes"
        """How commands ended, as noted by their supervisors; removed when the run is finished."""
        self.repository = path / "repo.git"
        """Where `weft tree` stores the states of the repository; git itself opens its files."""
        self.code = path / "code"
        """Modules generated from a notebook's cells; workers import them, views never do."""
        self.kept = path / "kept"
        """Files of failed commands that a user asked to keep; nothing reads them."""

    def is_run(self) -> bool:
        """Whether a run was created here; `require_run` refuses a run.toml that is a link."""
        try:
            return not stat.S_ISDIR(self.run_toml.lstat().st_mode)
        except OSError:
            return False

    def is_finished(self) -> bool:
        """Whether the ledger claims to end with the root's answer, at the checkpoint."""
        return is_whole(self.ledger, self.checkpoint)

    def is_read_only(self) -> bool:
        """Whether checkpoint and ledger are read-only, which is the last step of finishing a run.

        This shows what a crash left undone, never whether the run is finished.
        """
        sealed = (self.checkpoint, self.ledger)
        return not any(path.is_file() and path.stat().st_mode & 0o222 for path in sealed)

    def check_free(self) -> None:
        """Raise unless a new run may be created here."""
        if not self.path.exists():
            return
        if not self.path.is_dir():
            raise RunFolderInvalid(f"{self.path} is not a folder", hint="choose another --out")
        self.require_plain()
        foreign = sorted(p.name for p in self.path.iterdir() if p.name not in OURS)
        if foreign and not self.is_run():  # another coordinator may just have created it
            raise RunFolderInvalid(
                f"{self.path} holds files that are not of a run ({foreign[0]})",
                hint="choose an empty or new folder for --out",
            )

    def require_run(self) -> None:
        """Raise unless a run was created here and its entries are plain files and folders."""
        if not self.is_run():
            raise RunFolderInvalid(
                f"{self.path} is not a run folder (no run.toml)",
                hint="give the --out folder of an earlier run",
            )
        check_entries(self.path)

    def require_plain(self) -> None:
        """Raise unless everything that workers and git open themselves is plain files and folders.

        Folders that commands work in or left behind are exempt: repositories may contain links.
        """
        check_entries(self.path)
        for folder in (self.objects, self.logs, self.repository, self.code):
            check_below(folder)

    def read_run_file(self) -> RunFile:
        """Return the parsed run.toml."""
        self.require_run()
        try:
            raw = tomllib.loads(read_plain(self.run_toml).decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise FileInvalid(f"{self.run_toml}: {error}") from None
        return RunFile.from_dict(raw, str(self.run_toml))

    def write_run_file(self, run_file: RunFile, disk: Disk) -> None:
        """Write run.toml atomically."""
        disk.replace(self.run_toml, tomli_w.dumps(run_file.to_dict()).encode())

    def home(self, host: str) -> RunLocation:
        """Return where the folder is now, for the heads list."""
        status = self.path.stat()
        return RunLocation(host, str(self.path.absolute()), status.st_dev, status.st_ino)

    @contextlib.contextmanager
    def locked(self, host: str) -> Iterator[None]:
        """Hold the lock of the run, or raise `RunLocked` naming its holder."""
        check_entries(self.path)  # the lock and the owner file are opened for writing
        owner = self.path / ".owner"
        lock = os.open(self.path / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RunLocked(
                    f"{self.path} is in use by {_find_owner(owner, host)}",
                    hint="wait for it to end, or stop it with Ctrl-C",
                ) from None
            owner.write_text(json.dumps({"pid": os.getpid(), "host": host}))
            yield
        finally:
            os.close(lock)


def _find_owner(path: Path, host: str) -> str:
    """Name the lock's holder; until it writes the owner file, that may name a killed process."""
    end_s = time.monotonic() + OWNER_WAIT_S
    while True:
        owner = _read_owner(path)
        if owner and (owner[1] != host or Path(f"/proc/{owner[0]}").exists()):
            return f"pid {owner[0]} on {owner[1]}"
        if time.monotonic() >= end_s:
            return "another coordinator that is just starting"
        time.sleep(OWNER_POLL_S)


def _read_owner(path: Path) -> tuple[int, str] | None:
    try:
        owner = json.loads(read_plain(path))
        return int(owner["pid"]), str(owner["host"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
