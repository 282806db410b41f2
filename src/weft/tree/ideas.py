"""Ideas from a folder of files, and from lists of values for a parameter.

Read once, at the door; their bytes become inputs of the run. Two ideas are the same when their
normalised text is: white space at the ends of lines and empty lines at the end do not count.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from weft.errors import FileInvalid
from weft.tree.plot import Idea
from weft.treetools.stage import BLOCK

SUFFIXES = (".md", ".patch", ".diff", ".txt")
MAX_BYTES = 4 * 2**20
MAX_IDEAS = 100_000


def read_folder(folder: Path, *, has_command: bool) -> list[tuple[Idea, bytes]]:
    """Return the ideas of a folder, by name; raises FileInvalid naming the file."""
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise FileInvalid(f"ideas folder {folder} {what}")
    files = sorted(p for p in folder.iterdir() if p.suffix in SUFFIXES)
    return [_read(path, folder, has_command) for path in files]


def from_parameters(tables: Sequence[Mapping[str, Any]]) -> list[tuple[Idea, bytes]]:
    """Return one idea for each value of each parameter."""
    found = []
    for table in tables:
        for value in table["values"]:
            body = {"file": table["file"], "key": table["key"], "value": value}
            data = json.dumps(body, sort_keys=True).encode()
            name = f"{table['key']}={json.dumps(value)}"
            found.append((Idea(name, "parameter", digest_of(data)), data))
    return found


def merged(*parts: Sequence[tuple[Idea, bytes]], where: Path) -> list[tuple[Idea, bytes]]:
    """Put ideas together, by name; refuses two of one name, too many, or none."""
    ideas = sorted((pair for part in parts for pair in part), key=lambda pair: pair[0].name)
    for (one, _), (other, _) in pairwise(ideas):
        if one.name == other.name:
            raise FileInvalid(f"{where}: two ideas are called {one.name!r}")
    if not 0 < len(ideas) <= MAX_IDEAS:
        raise FileInvalid(f"{where}: {len(ideas):,} ideas; there must be 1 to {MAX_IDEAS:,}")
    return ideas


def digest_of(data: bytes) -> str:
    """Return the hash of an idea's normalised text."""
    lines = [line.rstrip() for line in data.replace(b"\r\n", b"\n").split(b"\n")]
    return hashlib.sha256(b"\n".join(lines).strip(b"\n")).hexdigest()


def _read(path: Path, folder: Path, has_command: bool) -> tuple[Idea, bytes]:
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            raise FileInvalid(f"idea {path} leads out of its folder")
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            raise FileInvalid(f"idea {path} is no plain file of at most {MAX_BYTES:,} bytes")
        data = path.read_bytes()
        text = data.decode()
    except UnicodeDecodeError as error:
        raise FileInvalid(f"idea {path} is not UTF-8: byte {error.start}") from None
    except OSError as error:
        raise FileInvalid(f"idea {path}: {error.strerror}") from None
    if not path.name.isprintable():
        raise FileInvalid(f"idea {path.name!r}: a name is printable text")
    if not text.strip():
        raise FileInvalid(f"idea {path} is empty")
    return Idea(path.name, _kind(path, text, has_command), digest_of(data)), data


def _kind(path: Path, text: str, has_command: bool) -> str:
    if path.suffix in (".patch", ".diff"):
        return "patch"
    if BLOCK.search(text):
        return "blocks"
    if has_command:
        return "text"
    raise FileInvalid(
        f"idea {path} is text, and no command implements it",
        hint="set implement.argv, or write a patch or search-replace blocks",
    )
