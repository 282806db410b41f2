"""The JSON files of a folder or a zip file, at any depth, behind one interface.

    files_in(folder) ─┐
    files_of(zip)    ─┴─► TaskFiles: relative paths, sorted; read(path) ──► bytes

Nothing is unpacked to disk. Untrusted contents are refused with a one-line FileInvalid: names that
lead outside the zip file, encrypted or linked entries, and sizes beyond the limits or other than
declared.
"""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from weft.errors import FileInvalid
from weft.searches.arc.taskfile import printable

MAX_FILE_BYTES = 64 * 2**20
MAX_TOTAL_BYTES = 1024 * 2**20
"""Most bytes of all files of a zip file, unpacked."""
MAX_FILES = 100_000
_JSON = ".json"


@dataclass(frozen=True, slots=True)
class TaskFiles:
    """JSON files by their paths below one folder or zip file."""

    where: str
    paths: tuple[PurePosixPath, ...]
    folders: frozenset[str]
    """Relative paths of the folders; of a zip file, only those that contain JSON files."""
    read: Callable[[PurePosixPath], bytes]

    def shown(self, path: PurePosixPath) -> str:
        """Return the name of a file for a message."""
        return f"{self.where}/{path}"

    def below(self, folder: str) -> TaskFiles:
        """Return the files of a subfolder, with paths relative to it."""
        inside = [path for path in self.paths if path.parts[0] == folder and len(path.parts) > 1]
        folders = {
            name[len(folder) + 1 :] for name in self.folders if name.startswith(folder + "/")
        }
        return TaskFiles(
            f"{self.where}/{folder}",
            tuple(PurePosixPath(*path.parts[1:]) for path in inside),
            frozenset(folders),
            lambda path: self.read(PurePosixPath(folder) / path),
        )


def files_in(folder: Path) -> TaskFiles:
    """Find the JSON files of a folder, at any depth, except hidden ones and linked folders."""
    paths: list[PurePosixPath] = []
    folders: list[PurePosixPath] = []
    waiting = [PurePosixPath()]
    while waiting:
        place = waiting.pop()
        for path in sorted((folder / place).iterdir()):
            if path.is_dir() and not path.is_symlink() and not path.name.startswith("."):
                waiting.append(place / path.name)
                folders.append(place / path.name)
            elif not path.is_dir() and _is_wanted(path.name):
                paths.append(place / path.name)
        _check_count(len(paths), visible(folder))
    names = frozenset(path.as_posix() for path in folders)
    return TaskFiles(
        visible(folder), tuple(sorted(paths)), names, lambda path: read_file(folder / path)
    )


def read_file(path: Path) -> bytes:
    """Read a regular file; raises `FileInvalid` for others and for files that are too large."""
    if not path.is_file():
        raise FileInvalid(f"{visible(path)}: not a regular file")
    if path.stat().st_size > MAX_FILE_BYTES:
        raise FileInvalid(f"{visible(path)}: more than the {MAX_FILE_BYTES} bytes allowed")
    return path.read_bytes()


def files_of(path: Path) -> TaskFiles:
    """Find the JSON files of a zip file; a single folder that contains all of them is skipped."""
    where = visible(path)
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, zipfile.LargeZipFile, ValueError, NotImplementedError) as error:
        raise FileInvalid(f"{where}: not a valid zip file: {printable(str(error))}") from None
    _check_count(len(entries), where)
    listed = [entry for entry in entries if _is_entry_wanted(entry)]
    _check_entries(listed, where)
    by_path = {_path_of(entry, where): entry for entry in listed}
    folders = {parent.as_posix() for name in by_path for parent in name.parents if parent.parts}
    files = TaskFiles(
        where, tuple(sorted(by_path)), frozenset(folders), lambda name: _read(path, by_path[name])
    )
    tops = sorted({name.parts[0] for name in files.paths if len(name.parts) > 1})
    around = len(tops) == 1 and all(len(name.parts) > 1 for name in files.paths)
    if around and tops[0] not in ("data", "training", "evaluation"):
        return replace(files.below(tops[0]), where=where)
    return files


def visible(path: Path) -> str:
    """Return a path fit for a message."""
    text = str(path)
    return text if text.isprintable() else ascii(text)[1:-1]


def _check_count(count: int, where: str) -> None:
    if count > MAX_FILES:
        raise FileInvalid(f"{where}: more than the {MAX_FILES} files allowed")


def _check_entries(entries: Iterable[zipfile.ZipInfo], where: str) -> None:
    """Refuse duplicate, encrypted and linked entries, and sizes that are too large.

    Sizes are those that the zip file declares; reading verifies them.
    """
    total, names = 0, set[str]()
    for entry in entries:
        place = f"{where}: {printable(entry.filename)}"
        if entry.filename in names:
            raise FileInvalid(f"{place}: is in it twice")
        if entry.flag_bits & 1:
            raise FileInvalid(f"{place}: is encrypted")
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise FileInvalid(f"{place}: is a link")
        if entry.file_size > MAX_FILE_BYTES:
            raise FileInvalid(f"{place}: more than the {MAX_FILE_BYTES} bytes allowed")
        names.add(entry.filename)
        total += entry.file_size
    if total > MAX_TOTAL_BYTES:
        raise FileInvalid(f"{where}: unpacks to more than the {MAX_TOTAL_BYTES} bytes allowed")


def _path_of(entry: zipfile.ZipInfo, where: str) -> PurePosixPath:
    name = PurePosixPath(entry.filename)
    if name.is_absolute() or ".." in name.parts or "\\" in entry.filename or ":" in name.parts[0]:
        raise FileInvalid(f"{where}: {printable(entry.filename)!r} leads outside of the zip file")
    return name


def _read(path: Path, entry: zipfile.ZipInfo) -> bytes:
    """Unpack one file; raises `FileInvalid` unless it has the size it declares."""
    place = f"{visible(path)}: {printable(entry.filename)}"
    try:
        with zipfile.ZipFile(path) as archive, archive.open(entry) as file:
            data = file.read(entry.file_size + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise FileInvalid(f"{place}: {printable(str(error))}") from None
    if len(data) != entry.file_size:
        raise FileInvalid(f"{place}: does not have the {entry.file_size} bytes it declares")
    return data


def _is_entry_wanted(entry: zipfile.ZipInfo) -> bool:
    parts = PurePosixPath(entry.filename).parts
    hidden = any((p.startswith(".") and p != "..") or p == "__MACOSX" for p in parts)
    return bool(parts) and not entry.is_dir() and not hidden and _is_wanted(parts[-1])


def _is_wanted(name: str) -> bool:
    return name.endswith(_JSON) and not name.startswith(".")
