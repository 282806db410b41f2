"""Power loss: the disk as it would be found, rebuilt from a coordinator's system call trace.

The model is strict on purpose:
- data written to a file is on the disk once that file was fsynced or fdatasynced afterwards;
- a folder's entries (created, renamed, unlinked, sub-folders) are on the disk once that folder
  was fsynced afterwards; syncing a file does not make its name durable;
- everything else is dropped ("none"), or partly kept as a seeded draw decides ("some"): the
  first few unsynced writes of a file, the first few unsynced changes of a folder. Real disks
  may do either.
- a mode (chmod) follows the file's data. Staged objects are written by workers, which are not
  traced: their bytes are taken from the finished run, durable once the coordinator synced them.
- `-shm` is memory of running processes and is never rebuilt; worker logs and the lock's files
  do not affect the outcome and are left out.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

IGNORED = re.compile(r"-shm$|/logs(/|$)|/\.lock$|/\.owner$")
_LINE = re.compile(r"^(\w+)\((.*)\) += (-?\d+)")
_STRING = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')


@dataclass(frozen=True)
class Call:
    """One successful system call that may change the disk."""

    name: str
    fd: int
    text: tuple[bytes, ...]
    """Its string arguments: paths or data."""
    numbers: tuple[int, ...]
    flags: str
    result: int


def read_trace(path: Path) -> list[Call]:
    """Parse a trace recorded with `strace -xx` and an `-s` large enough to truncate nothing."""
    calls = []
    with path.open() as file:
        for line in file:
            if (match := _LINE.match(line)) and int(match[3]) >= 0:
                assert '"...' not in line, "strace cut a string: raise -s"
                calls.append(_call(match[1], match[2], int(match[3])))
    return calls


def _call(name: str, args: str, result: int) -> Call:
    text = tuple(bytes.fromhex(hexed.replace("\\x", "")) for hexed in _STRING.findall(args))
    plain = _STRING.sub("", args)
    numbers = tuple(int(n, 8 if n.startswith("0") and n != "0" else 10)
                    for n in re.findall(r"(?<![\w<])\d+(?![\w>])", plain))  # fmt: skip
    first = re.match(r"\d+", plain)
    return Call(name, int(first[0]) if first else -1, text, numbers, plain, result)


@dataclass(eq=False)
class File:
    """Bytes in the page cache, bytes on the disk, and the unsynced writes between the two."""

    data: bytearray = field(default_factory=bytearray)
    mode: int = 0o644
    synced: bytes = b""
    synced_mode: int = 0o644
    unsynced: list[tuple[int, bytes]] = field(default_factory=list)
    """(offset, bytes); an offset of −1 truncates the file to the length in `bytes`."""
    from_worker: bool = False
    worker_synced: bool = False

    def write(self, offset: int, data: bytes) -> None:
        _apply(self.data, offset, data)
        self.unsynced.append((offset, data))

    def cut(self, size: int) -> None:
        self.write(-1, str(size).encode())

    def sync(self) -> None:
        self.synced, self.synced_mode = bytes(self.data), self.mode
        self.unsynced.clear()
        self.worker_synced = True

    def found(self, survives: Survives) -> tuple[bytes, int]:
        """The data and mode of the file after a power loss."""
        count = survives.how_many(len(self.unsynced))
        data = bytearray(self.synced)
        for offset, piece in self.unsynced[:count]:
            _apply(data, offset, piece)
        everything = count == len(self.unsynced)
        return bytes(data), self.mode if everything else self.synced_mode


def _apply(data: bytearray, offset: int, piece: bytes) -> None:
    size = int(piece) if offset < 0 else 0
    end = size if offset < 0 else offset + len(piece)
    if len(data) < end:
        data.extend(bytes(end - len(data)))
    if offset < 0:
        del data[size:]
    else:
        data[offset:end] = piece


@dataclass(eq=False)
class Folder:
    """Entries in the page cache, entries on the disk, and the changes between the two."""

    entries: dict[str, File | Folder] = field(default_factory=dict)
    synced: dict[str, File | Folder] = field(default_factory=dict)
    unsynced: list[tuple[str, File | Folder | None]] = field(default_factory=list)

    def change(self, name: str, entry: File | Folder | None) -> None:
        _change(self.entries, name, entry)
        self.unsynced.append((name, entry))

    def sync(self) -> None:
        self.synced = dict(self.entries)
        self.unsynced.clear()

    def found(self, survives: Survives) -> dict[str, File | Folder]:
        entries = dict(self.synced)
        for name, entry in self.unsynced[: survives.how_many(len(self.unsynced))]:
            _change(entries, name, entry)
        return entries


def _change(entries: dict[str, File | Folder], name: str, entry: File | Folder | None) -> None:
    if entry is None:
        entries.pop(name, None)
    else:
        entries[name] = entry


class Survives(Protocol):
    """Decides how many unsynced changes of a file or folder survive a power loss."""

    def how_many(self, count: int) -> int: ...


class Nothing:
    def how_many(self, count: int) -> int:
        return 0


class Everything:
    """No loss at all: the page cache, as a reader on the running machine sees it."""

    def how_many(self, count: int) -> int:
        return count


class Some:
    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)

    def how_many(self, count: int) -> int:
        return self._draw.randint(0, count)


class DiskModel:
    """Everything below `root`, updated call by call.

    `prepared` names the folders that already exist; `finished` supplies the files of workers.
    """

    def __init__(self, root: Path, finished: Path, prepared: tuple[str, ...]) -> None:
        self._root = root
        self._finished = finished
        self.top = Folder()
        for name in prepared:
            self.top.change(name, Folder())
        self.top.sync()
        self._fds: dict[int, tuple[File | Folder, bool]] = {}
        self._positions: dict[int, int] = {}

    def apply(self, call: Call) -> str:
        """Apply one call; return the path it touched below the root, empty for others."""
        return _HANDLERS[call.name](self, call) or ""

    def rebuild(self, target: Path, survives: Survives) -> None:
        """Write what would be found on the disk now to `target`."""
        self._write(self.top, target, "", survives)

    def _write(self, folder: Folder, target: Path, inner: str, survives: Survives) -> None:
        target.mkdir()
        for name, entry in sorted(folder.found(survives).items()):
            path = f"{inner}/{name}"
            if IGNORED.search(path):
                continue
            if isinstance(entry, Folder):
                self._write(entry, target / name, path, survives)
                continue
            data, mode = entry.found(survives)
            if entry.from_worker:
                data = self._workers_bytes(entry, path)
            (target / name).write_bytes(data)
            (target / name).chmod(mode)

    def _workers_bytes(self, entry: File, path: str) -> bytes:
        source = self._finished / path.lstrip("/")
        return source.read_bytes() if entry.worker_synced and source.exists() else b""

    # -- calls ----------------------------------------------------------------------------

    def _openat(self, call: Call) -> str:
        inner = self._inner(call.text[0])
        self._fds.pop(call.result, None)
        if inner is None:
            return ""
        entry = self._find(inner)
        if entry is None:
            if "O_CREAT" not in call.flags:
                entry = self._adopt_workers_file(inner)
            else:
                entry = File(mode=0o444 if call.numbers[-1:] == (0o444,) else 0o644)
                self._parent(inner).change(Path(inner).name, entry)
        elif isinstance(entry, File) and "O_TRUNC" in call.flags and entry.data:
            entry.cut(0)
        if entry is not None:
            self._fds[call.result] = entry, "O_APPEND" in call.flags
            self._positions[call.result] = 0
        return inner if "O_CREAT" in call.flags else ""

    def _adopt_workers_file(self, inner: str) -> File | None:
        """A staged object, opened to be synced: an untraced worker wrote it."""
        if "/staging/" not in inner:
            return None
        entry = File(from_worker=True)
        self._make_parent(inner).change(Path(inner).name, entry)
        return entry

    def _close(self, call: Call) -> None:
        self._fds.pop(call.fd, None)

    def _lseek(self, call: Call) -> None:
        if call.fd in self._fds:
            self._positions[call.fd] = call.result

    def _append(self, call: Call) -> str:
        if call.fd not in self._fds:
            return ""
        entry, appends = self._fds[call.fd]
        assert isinstance(entry, File)
        offset = len(entry.data) if appends else self._positions[call.fd]
        entry.write(offset, call.text[-1][: call.result])
        self._positions[call.fd] = offset + call.result
        return "write"

    def _pwrite64(self, call: Call) -> str:
        if call.fd not in self._fds:
            return ""
        entry, _ = self._fds[call.fd]
        assert isinstance(entry, File)
        entry.write(call.numbers[-1], call.text[-1][: call.result])
        return "write"

    def _ftruncate(self, call: Call) -> str:
        if call.fd not in self._fds:
            return ""
        entry, _ = self._fds[call.fd]
        assert isinstance(entry, File)
        entry.cut(call.numbers[-1])
        return "cut"

    def _fsync(self, call: Call) -> str:
        if call.fd not in self._fds:
            return ""
        self._fds[call.fd][0].sync()
        return "sync"

    def _fchmod(self, call: Call) -> None:
        if call.fd in self._fds and isinstance(entry := self._fds[call.fd][0], File):
            entry.mode = call.numbers[-1]

    def _chmod(self, call: Call) -> None:
        inner = self._inner(call.text[0])
        if inner is not None and isinstance(entry := self._find(inner), File):
            entry.mode = call.numbers[-1]

    def _mkdir(self, call: Call) -> str:
        inner = self._inner(call.text[0])
        if inner:
            self._parent(inner).change(Path(inner).name, Folder())
        return inner or ""

    def _unlink(self, call: Call) -> str:
        inner = self._inner(call.text[0])
        if inner and self._find(inner) is not None:
            self._parent(inner).change(Path(inner).name, None)
        return inner or ""

    def _rename(self, call: Call) -> str:
        source, target = (self._inner(text) for text in call.text[:2])
        if source is None or target is None:
            return ""
        entry = self._find(source)
        assert entry is not None, f"renamed a file that nobody made: {source}"
        self._parent(source).change(Path(source).name, None)
        self._parent(target).change(Path(target).name, entry)
        return target

    # -- paths ----------------------------------------------------------------------------

    def _inner(self, path: bytes) -> str | None:
        text, root = path.decode(), str(self._root)
        if text == root:
            return ""
        return text[len(root) + 1 :] if text.startswith(root + "/") else None

    def _find(self, inner: str) -> File | Folder | None:
        entry: File | Folder | None = self.top
        for name in inner.split("/") if inner else ():
            entry = entry.entries.get(name) if isinstance(entry, Folder) else None
        return entry

    def _parent(self, inner: str) -> Folder:
        parent = self._find(inner.rpartition("/")[0])
        assert isinstance(parent, Folder), f"{inner} has no folder"
        return parent

    def _make_parent(self, inner: str) -> Folder:
        """Folders that workers created (staging)."""
        here = self.top
        for name in inner.split("/")[:-1]:
            entry = here.entries.get(name)
            if entry is None:
                entry = Folder()
                here.change(name, entry)
            assert isinstance(entry, Folder)
            here = entry
        return here


_HANDLERS = {
    "openat": DiskModel._openat,
    "close": DiskModel._close,
    "lseek": DiskModel._lseek,
    "write": DiskModel._append,
    "pwrite64": DiskModel._pwrite64,
    "ftruncate": DiskModel._ftruncate,
    "fsync": DiskModel._fsync,
    "fdatasync": DiskModel._fsync,
    "fchmod": DiskModel._fchmod,
    "chmod": DiskModel._chmod,
    "mkdir": DiskModel._mkdir,
    "unlink": DiskModel._unlink,
    "rename": DiskModel._rename,
}
TRACED = tuple(_HANDLERS)
