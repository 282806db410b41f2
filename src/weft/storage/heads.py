"""The heads list: heads of runs, kept outside the runs themselves.

One append-only JSONL file per run id in the user's state folder. A chain cannot reveal its own
clean truncation or rewrite; a head noted elsewhere can. The list also records where a run is
stored, which distinguishes a copy that continues from a folder that was moved.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from weft.errors import StorageFailed
from weft.storage.disk import Disk

SCHEMA_VERSION = 1
Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class RunLocation:
    """Where a run folder was seen: enough to distinguish a move from a copy."""

    host: str
    path: str
    device: int
    inode: int

    def is_elsewhere(self, other: RunLocation) -> bool:
        """Whether both are on the same host but are different folders."""
        same = self.same_folder(other) or self.path == other.path
        return self.host == other.host and not same

    def same_folder(self, other: RunLocation) -> bool:
        """Whether both name the same folder on the same disk, whatever its path."""
        mine = (self.host, self.device, self.inode)
        return mine == (other.host, other.device, other.inode)


@dataclass(frozen=True, slots=True)
class Head:
    """A ledger's size and root at one moment, with the manifest's commit counter."""

    size: int
    root: str
    commits: int
    home: RunLocation
    restart: bool = False
    """A roll-back was accepted here: earlier heads no longer bind."""

    def to_dict(self) -> dict[str, object]:
        """Return the JSON form."""
        return {"schema_version": SCHEMA_VERSION, **asdict(self)}

    @staticmethod
    def from_dict(raw: dict[str, object]) -> Head:
        """Read what `to_dict` wrote."""
        home = raw["home"]
        assert isinstance(home, dict)
        fields = {k: v for k, v in raw.items() if k not in ("schema_version", "home")}
        return Head(home=RunLocation(**home), **fields)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class CodeNote:
    """The digest of the code that a run stores, and the run's location; a line among its heads."""

    digest: str
    home: RunLocation

    def to_dict(self) -> dict[str, object]:
        """Return the JSON form."""
        return {"schema_version": SCHEMA_VERSION, "code": self.digest, "home": asdict(self.home)}

    @staticmethod
    def from_dict(raw: dict[str, object]) -> CodeNote:
        """Read what `to_dict` wrote."""
        home = raw["home"]
        assert isinstance(home, dict)
        return CodeNote(str(raw["code"]), RunLocation(**home))


class HeadsList:
    """The heads noted for each run; with `folder` None there are none (simulations, replays)."""

    def __init__(self, folder: Path | None, disk: Disk) -> None:
        self._folder = folder
        self._disk = disk
        self._named: set[str] = set()
        """Runs whose file has a durable entry in its folder."""

    def note(self, run_id: str, head: Head) -> None:
        """Append a head, durably; raises `StorageFailed` naming the state folder."""
        self._note(run_id, head)

    def note_code(self, run_id: str, note: CodeNote) -> None:
        """Append a note on a run's code; raises as `note` does."""
        self._note(run_id, note)

    def _note(self, run_id: str, entry: Head | CodeNote) -> None:
        if self._folder is None:
            return
        with _state_folder_named(self._folder, "written"):
            self._append(self._folder, run_id, entry)

    def _append(self, folder: Path, run_id: str, entry: Head | CodeNote) -> None:
        self._disk.make_folder(folder)
        line = json.dumps(entry.to_dict(), sort_keys=True).encode() + b"\n"
        fd = os.open(self._file(run_id), os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            size = os.fstat(fd).st_size
            torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
            self._disk.append(fd, b"\n" * torn + line)
            self._disk.sync(fd)
        finally:
            os.close(fd)
        if run_id not in self._named:
            self._disk.sync_folder(folder)
            self._named.add(run_id)

    def binding(self, run_id: str) -> list[Head]:
        """Return the heads that bind the run: all since the last accepted roll-back."""
        heads: list[Head] = []
        for head in self._read(run_id, Head.from_dict):
            if head.restart:
                heads.clear()
            heads.append(head)
        return heads

    def code(self, run_id: str) -> CodeNote | None:
        """Return the last note on a run's code, if there is one."""
        notes = self._read(run_id, CodeNote.from_dict)
        return notes[-1] if notes else None

    def _read(self, run_id: str, parse: Callable[[dict[str, object]], Entry]) -> list[Entry]:
        if self._folder is None:
            return []
        with _state_folder_named(self._folder, "read"):
            file = self._file(run_id)
            data = file.read_bytes() if file.is_file() else b""
        entries = []
        for line in data.splitlines():
            try:
                entries.append(parse(json.loads(line)))
            except (ValueError, KeyError, TypeError, AssertionError):
                continue  # the other kind of entry, or a torn line, which binds nobody
        return entries

    def _file(self, run_id: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{run_id}.jsonl"


@contextlib.contextmanager
def _state_folder_named(folder: Path, verb: str) -> Iterator[None]:
    """Name the state folder in errors raised there: it is not one of the run's own paths."""
    try:
        yield
    except OSError as error:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        step = "free space there" if is_full else "make it yours to read and write"
        raise StorageFailed(
            f"the heads list in the state folder {folder} cannot be {verb}:"
            f" {error.strerror or error}",
            hint=f"{step}, or set XDG_STATE_HOME to another folder; then the same command again",
        ) from error
