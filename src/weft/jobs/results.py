"""What happens on the slot around a job: an old file is moved aside, the result is taken in.

The result is the last line of stdout that is a JSON object or array, or the expected file.
Everything is read in pieces, so a result may be larger than memory. A result that is missing or
malformed fails the job; an earlier line is never taken in its place.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.jobs.jsoncheck import Malformed, check_json
from weft.model.results import TaskError
from weft.worker.command import CommandRun, expand
from weft.worker.context import note, put_file
from weft.worker.ending import Ending
from weft.worker.space import NO_ROOM

PIECE_BYTES = 1 << 16
SPACE = b" \t\r"
JSON_BEGINNINGS = (b"{", b"[{", b'["')
"""A line that begins so is meant as JSON; others, such as `[INFO] …`, may be anything."""
SCALAR_BEGINNINGS = b'"-0123456789tfn'
NODE_TROUBLE = (*NO_ROOM, errno.EIO, errno.EMFILE, errno.ENFILE)
"""Not the job's fault: it runs again."""


# -- before -------------------------------------------------------------------------------------


def prepare(run: CommandRun) -> dict[str, str]:
    """Check the script and move an expected file that is there already aside."""
    note(slot=run.slot)
    _check_script(run)
    target = _target(run)
    if target is not None and os.path.lexists(target):
        aside = free_name(target)
        try:
            target.rename(aside)
        except OSError as error:
            why = f"{target} is there already and cannot be moved aside: {error.strerror}"
            raise Ending(TaskError("expected-file-in-the-way", "prepare"), detail=why) from None
        note(moved_aside=aside.name)
    return {}


def free_name(path: Path) -> Path:
    """Return the first of NAME.before-1, NAME.before-2, … that nothing has."""
    number = 1
    while os.path.lexists(aside := path.with_name(f"{path.name}.before-{number}")):
        number += 1
    return aside


def _check_script(run: CommandRun) -> None:
    recorded = run.args["script_sha256"]
    if not recorded:
        return
    path = Path(expand(run.args["script"], run.names()))
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        why = f"{path}: {error.strerror}"
        raise Ending(TaskError("script-missing", "prepare"), detail=why) from None
    if found != recorded:
        why = f"{path} is not the script this run began with: SHA-256 {found}, not {recorded}"
        raise Ending(TaskError("script-changed", "prepare"), detail=why)


def _target(run: CommandRun) -> Path | None:
    target = run.args["target"]
    return Path(expand(target, run.names())) if target else None


# -- after --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of a file, from `start` up to `end`."""

    path: Path
    start: int
    end: int


def collect(run: CommandRun) -> dict[str, Any]:
    """Find the job's result, check it and store it; the value names its source, size and bytes."""
    try:
        source, part = _find(run)
        size = part.end - part.start
        return {"source": source, "bytes": size, "object": put_file(part.path, part.start, size)}
    except Malformed as error:
        why = str(error)
    except OSError as error:
        why = f"the result cannot be read: {error.strerror or error}"
        if error.errno in NODE_TROUBLE:
            full = error.errno in NO_ROOM
            reason = f"short of space: {why}" if full else "result-not-stored"
            raise Ending(None, lost=reason, detail=why, exhausted=full) from None
    detail = f"{why}\n\n{run.tail()}".rstrip()
    raise Ending(TaskError("result-invalid", "collect"), detail=detail)


def _find(run: CommandRun) -> tuple[str, Part]:
    channel = run.args["result"]
    if channel in ("stdout", "auto"):
        line = last_json_line(run.stdout, scalars=run.args["scalars"])
        if line is not None:
            return "stdout", line
        if channel == "stdout":
            kinds = "JSON" if run.args["scalars"] else "a JSON object or array"
            raise Malformed(f"no line of stdout is {kinds}")
    return "file", _expected(run)


def _expected(run: CommandRun) -> Part:
    target = _target(run)
    assert target is not None
    name = f"the expected file {target.name}"
    if not target.is_file():
        raise Malformed(f"{name} {'is no plain file' if target.exists() else 'was not written'}")
    part = Part(target, 0, target.stat().st_size)
    if run.args["format"] == "json":
        check_json(part.path, part.start, part.end, name)
    return part


def last_json_line(path: Path, *, scalars: bool = False) -> Part | None:
    """Return the last line that is a JSON object or array, or any JSON if `scalars` count.

    Raises Malformed when a later line begins like JSON and is not: a result that was cut off must
    not be replaced by an earlier line.
    """
    if not path.is_file():
        return None
    fd = os.open(path, os.O_RDONLY)
    try:
        for start, end in _lines_from_end(fd):
            part = Part(path, *_stripped(fd, start, end))
            beginning = os.pread(fd, min(2, part.end - part.start), part.start)
            if _is_result(part, beginning, scalars):
                return part
    finally:
        os.close(fd)
    return None


def _is_result(part: Part, beginning: bytes, scalars: bool) -> bool:
    meant = beginning.startswith(JSON_BEGINNINGS)
    scalar = scalars and beginning[:1] in [bytes([c]) for c in SCALAR_BEGINNINGS]
    if not (meant or scalar or beginning.startswith(b"[")):
        return False
    try:
        check_json(part.path, part.start, part.end, "the last line of stdout that begins like JSON")
    except Malformed:
        if meant:
            raise
        return False
    return True


def _lines_from_end(fd: int) -> Iterator[tuple[int, int]]:
    """Where each line is, without its newline, the last one first."""
    end = position = os.fstat(fd).st_size
    while position > 0:
        start = max(0, position - PIECE_BYTES)
        piece = os.pread(fd, position - start, start)
        cut = piece.rfind(b"\n")
        while cut >= 0:
            yield start + cut + 1, end
            end = start + cut
            cut = piece.rfind(b"\n", 0, cut)
        position = start
    yield 0, end


def _stripped(fd: int, start: int, end: int) -> tuple[int, int]:
    """Leave out white space at both ends."""
    while start < end:
        piece = os.pread(fd, min(PIECE_BYTES, end - start), start)
        start += len(piece) - len(piece.lstrip(SPACE))
        if piece.lstrip(SPACE):
            break
    while start < end:
        size = min(PIECE_BYTES, end - start)
        piece = os.pread(fd, size, end - size)
        end -= len(piece) - len(piece.rstrip(SPACE))
        if piece.rstrip(SPACE):
            break
    return start, end
