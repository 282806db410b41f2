"""Ideas: from a folder of files, from values to try, or written by a command.

They are read once, with the request or on the slot; their bytes become inputs or objects of the
run. Two ideas are the same if their normalised texts are equal: trailing white space and empty
lines at the start and end do not count.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from weft.errors import FileInvalid
from weft.model import strictjson
from weft.model.values import Value
from weft.searches.tree.config import Idea
from weft.searches.tree.results import SkippedFile
from weft.searches.tree.slot.edits import BLOCK
from weft.searches.tree.slot.values import Scalar

PATCHES = (".patch", ".diff")
SUFFIXES = (".md", ".txt", ".json", *PATCHES)
MAX_BYTES = 4 * 2**20
MAX_IDEAS = 100_000
MAX_PROPOSED = 1000
PATCHED = re.compile(r"^--- ([^\t\n]*)[^\n]*\n\+\+\+ ([^\t\n]*)[^\n]*\n@@ ", re.MULTILINE)
KEY = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")


def read_folder(folder: Path, *, has_command: bool) -> list[tuple[Idea, bytes]]:
    """Return the ideas of a folder, by name; raises FileInvalid, which names the file."""
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise FileInvalid(f"ideas folder {folder} {what}")
    ideas = []
    for path in _files(folder):
        try:
            ideas.append(_read(path, folder, has_command))
        except _IdeaError as error:
            raise FileInvalid(f"idea {path!s:.300} {error}", hint=error.hint) from None
    return ideas


def read_proposed(
    folder: Path, *, has_command: bool
) -> tuple[list[tuple[Idea, bytes]], list[SkippedFile]]:
    """Return the ideas that a command wrote and the files that are not ideas, with reasons."""
    ideas: list[tuple[Idea, bytes]] = []
    skipped: list[SkippedFile] = []
    for path in _files(folder) if folder.is_dir() else ():
        try:
            if len(ideas) >= MAX_PROPOSED:
                raise _IdeaError(f"is one of more than {MAX_PROPOSED:,}")
            ideas.append(_read(path, folder, has_command))
        except _IdeaError as error:
            name = path.name.encode("utf-8", "backslashreplace").decode()
            skipped.append(SkippedFile(name[:200], str(error)))
    return ideas, skipped


def merge_ideas(
    *parts: Sequence[tuple[Idea, bytes]], where: Path, may_be_none: bool = False
) -> list[tuple[Idea, bytes]]:
    """Merge ideas, sorted by name; raises FileInvalid for duplicate names, too many, or none."""
    ideas = sorted((pair for part in parts for pair in part), key=lambda pair: pair[0].name)
    for (idea, _), (following, _) in pairwise(ideas):
        if idea.name == following.name:
            raise FileInvalid(f"{where}: two ideas are called {idea.name!r}")
    if len(ideas) > MAX_IDEAS or not (ideas or may_be_none):
        raise FileInvalid(f"{where}: {len(ideas):,} ideas; there must be 1 to {MAX_IDEAS:,}")
    return ideas


def digest_of(data: bytes) -> str:
    """Return the hash of an idea's normalised text."""
    lines = [line.rstrip() for line in data.replace(b"\r\n", b"\n").split(b"\n")]
    return hashlib.sha256(b"\n".join(lines).strip(b"\n")).hexdigest()


def name_of(values: Mapping[str, Scalar]) -> str:
    """Return the name of an idea that sets these values."""
    return ",".join(f"{key}={json.dumps(value)}" for key, value in values.items())


def parameter(file: str, values: Mapping[str, Scalar]) -> tuple[Idea, bytes]:
    """Return the idea that sets values of a file."""
    data = json.dumps({"file": file, "values": dict(values)}, sort_keys=True).encode()
    return Idea(name_of(values), "parameter", digest_of(data)), data


def other_files(folder: Path) -> list[str]:
    """Return the names of entries in an ideas folder that are not read as ideas."""
    present = sorted(folder.iterdir()) if folder.is_dir() else []
    return [p.name for p in present if p.suffix not in SUFFIXES and not p.name.startswith(".")]


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES)


class _IdeaError(Exception):
    """The problem with a file, without its path, which may be on a slot or the user's."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.hint = hint


def _read(path: Path, folder: Path, has_command: bool) -> tuple[Idea, bytes]:
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            raise _IdeaError("leads out of its folder")
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            raise _IdeaError(f"is no plain file of at most {MAX_BYTES:,} bytes")
        data = path.read_bytes()
        text = data.decode()
    except UnicodeDecodeError as error:
        raise _IdeaError(f"is not UTF-8: byte {error.start}") from None
    except OSError as error:
        raise _IdeaError(f"cannot be read: {error.strerror}") from None
    if not path.name.isprintable():
        raise _IdeaError("has a name that cannot be printed")
    if not text.strip():
        raise _IdeaError("is empty")
    return Idea(path.name, _kind(path, text, has_command), digest_of(data)), data


def _kind(path: Path, text: str, has_command: bool) -> str:
    if path.suffix in PATCHES:
        _check_inside([name for pair in PATCHED.findall(text) for name in pair])
        return "patch"
    if path.suffix == ".json":
        _check_parameter(text)
        return "parameter"
    if BLOCK.search(text):
        _check_inside([block["file"].strip() for block in BLOCK.finditer(text)])
        return "blocks"
    if has_command:
        return "text"
    hint = "set implement.argv, or write a patch or search-replace blocks"
    raise _IdeaError("is text, and no command implements it", hint)


def _check_parameter(text: str) -> None:
    """Refuse text that is not `{"file": …, "values": {key: value}}`."""
    try:
        body = strictjson.loads(text, where="its JSON", max_bytes=MAX_BYTES)
    except FileInvalid as error:
        raise _IdeaError(f"cannot be read: {error.message}") from None
    if complaint := next(_complaints(body), ""):
        raise _IdeaError(f"is no parameter: {complaint}")


def _complaints(body: Value) -> Iterator[str]:
    if not isinstance(body, dict) or body.keys() != {"file", "values"}:
        yield "it has other fields than file and values"
    elif not isinstance(body["file"], str) or not body["file"] or "\0" in body["file"]:
        yield "file is not a path"
    elif not isinstance(body["values"], dict) or not body["values"]:
        yield "values are not a table of keys and values"
    else:
        for key, value in body["values"].items():
            if not KEY.fullmatch(key) or not isinstance(value, bool | int | float | str):
                yield f"{key[:100]!r} is not a dotted key with a plain value"


def _check_inside(names: Sequence[str]) -> None:
    """Refuse paths that lead outside the repository."""
    for name in names:
        parts = name.split("/")
        if ".." in parts or (name.startswith("/") and name != "/dev/null"):
            raise _IdeaError(f"names {name[:100]!r}, a path outside the repository")
