"""JSON results of jobs: find the last object or array on stdout, and check whole files.

Lines of stdout are read from the end. A line that is valid JSON is the result. A line that ends
with a closing bracket ends a document that begins at the line with the matching bracket; JSON
strings contain no newlines, so brackets can be counted line by line. The grammar is that of the
`ijson` library's parser (RFC 8259, UTF-8). Everything is read in pieces: memory is bounded by a
piece and by the longest string or number of the document.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PIECE_BYTES = 1 << 16
BOM = b"\xef\xbb\xbf"
"""Byte order mark that some programs write; not part of a document (RFC 8259, section 8.1)."""
ODD_NUMBERS = (ValueError, ArithmeticError, SystemError)
"""Errors of the parser when it converts numbers with thousands of digits or a huge exponent."""
MAX_LINE_BYTES = 16 * 2**20
"""A longer line is only considered on its own, not as part of a multi-line document."""
BEGINNING_BYTES = 1024
SPACE = b" \t\r"
JSON_BEGINNINGS = (b"{", b"[{", b'["')
"""Beginnings of lines that must be meant as JSON; others, such as `[INFO] …`, need not be."""
SCALAR_BEGINNINGS = tuple(bytes([c]) for c in b'"-0123456789tfn')
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_ALMOST_JSON = re.compile(
    rb"(?>[\s\[\]{}:,]|[-+]?[0-9][0-9.eE+-]*+|true|false|null|-?NaN|-?Infinity|True|False|None)*+"
)
"""What a line of a document may contain apart from strings, including common non-JSON literals.

There is no backtracking (`*+`, `(?>`), so matching takes linear time.
"""


class Malformed(Exception):  # noqa: N818 - what a result is, not an error of ours
    """A result that is missing or malformed; the message gives the reason and the position."""


@dataclass(frozen=True, slots=True)
class ByteRange:
    """Bytes of a file, from `start` to before `end`."""

    path: Path
    start: int
    end: int


def last_json(path: Path, *, scalars: bool = False) -> ByteRange | None:
    """Return the last JSON object or array with no other text on its lines, or None.

    With `scalars`, any JSON value alone on a line counts. Raises Malformed if a later line begins
    like JSON but is invalid: an earlier result must not replace a truncated one.
    """
    if not path.is_file():
        return None
    fd = os.open(path, os.O_RDONLY)
    try:
        for start, end in _lines_from_end(fd):
            line = ByteRange(path, *_stripped(fd, start, end))
            if document := _document(fd, line, scalars):
                return document
    finally:
        os.close(fd)
    return None


def _document(fd: int, line: ByteRange, scalars: bool) -> ByteRange | None:
    """Return the document that is a line or ends with it; None if there is none."""
    size = line.end - line.start
    if size and os.pread(fd, 1, line.end - 1) in (b"}", b"]"):
        whole = _opened(fd, line)
        if whole is not None and whole.start < line.start and _is_json(fd, whole):
            return whole
    scalar = scalars and os.pread(fd, 1, line.start) in SCALAR_BEGINNINGS
    begins = scalar or os.pread(fd, min(1, size), line.start) in (b"{", b"[")
    return line if begins and _is_json(fd, line) else None


def _opened(fd: int, last: ByteRange) -> ByteRange | None:
    """Return the lines from the bracket that `last` closes; None if there is none."""
    depth = 0
    for start, end in _lines_from_end(fd, last.end):
        part = ByteRange(last.path, *_stripped(fd, start, end))
        if part.end - part.start > MAX_LINE_BYTES:
            return None
        line = _STRING.sub(b"", os.pread(fd, part.end - part.start, part.start))
        if not _ALMOST_JSON.fullmatch(line):
            return None
        depth += sum(map(line.count, (b"}", b"]"))) - sum(map(line.count, (b"{", b"[")))
        if depth <= 0:
            return ByteRange(last.path, part.start, last.end) if line[:1] in (b"{", b"[") else None
    return None


def _is_json(fd: int, part: ByteRange) -> bool:
    """Whether a part is JSON; raises Malformed if it is not but begins as only JSON would."""
    beginning = os.pread(fd, min(BEGINNING_BYTES, part.end - part.start), part.start)
    alone = beginning.partition(b"\n")[0].rstrip(SPACE) == b"["
    try:
        check_json(part.path, part.start, part.end, "the last text on stdout that begins like JSON")
    except Malformed:
        if alone or beginning.startswith(JSON_BEGINNINGS):
            raise
        return False
    return True


def _lines_from_end(fd: int, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield the range of each line without its newline, backwards from `end`."""
    end = position = os.fstat(fd).st_size if end is None else end
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
    """Return the range without a leading byte order mark and surrounding white space."""
    if os.pread(fd, min(len(BOM), end - start), start) == BOM:
        start += len(BOM)
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


# -- checks --------------------------------------------------------------------------------------


def check_json(path: Path, start: int, end: int, name: str) -> None:
    """Raise Malformed, naming `name`, unless the bytes from `start` to `end` are JSON."""
    parser, position = _Parser(), start
    try:
        for piece in _pieces(path, start, end, PIECE_BYTES):
            parser.feed(piece)
            position += len(piece)
    except _ParseError as error:
        at = _exactly(path, start, position, end)
        raise _malformed(path, start, at, name, str(error)) from None
    try:
        parser.finish()
    except _ParseError as error:
        raise _malformed(path, start, end, name, str(error)) from None


class _ParseError(Exception):
    pass


class _Parser:
    """Checks a document piece by piece in constant memory; raises _ParseError."""

    def __init__(self) -> None:
        import ijson  # noqa: PLC0415 - for workers with results only

        self._events: Any = ijson.sendable_list()
        self._parse: Any = ijson.basic_parse_coro(self._events)
        self._errors = (ijson.JSONError, *ODD_NUMBERS)

    def feed(self, piece: bytes) -> None:
        try:
            self._parse.send(piece)
        except self._errors as error:
            raise _ParseError(_words(error)) from None
        self._events.clear()

    def finish(self) -> None:
        try:
            self._parse.close()
        except self._errors as error:
            raise _ParseError(_words(error)) from None


def _words(error: Exception) -> str:
    """Return the first line of the parser's message; the others illustrate the position."""
    if isinstance(error, ODD_NUMBERS):
        return "a number beyond reason"
    message = error.args[0] if error.args else ""
    text = message.decode(errors="replace") if isinstance(message, bytes) else str(message)
    return text.strip().split("\n")[0][:200]


def _exactly(path: Path, start: int, sound: int, end: int) -> int:
    """Return the position of the first byte that the parser refuses, at or after `sound`."""
    parser = _Parser()
    for piece in _pieces(path, start, sound, PIECE_BYTES):
        parser.feed(piece)
    at = sound
    try:
        for byte in _pieces(path, sound, end, 1):
            parser.feed(byte)
            at += 1
    except _ParseError:
        pass
    return at


def _malformed(path: Path, start: int, at: int, name: str, message: str) -> Malformed:
    """Return the error with line and column, both counted from 1, columns in bytes."""
    line, last = 1, start - 1
    position = start
    for piece in _pieces(path, start, at, PIECE_BYTES):
        line += piece.count(b"\n")
        if b"\n" in piece:
            last = position + piece.rindex(b"\n")
        position += len(piece)
    return Malformed(f"{name} is not JSON: {message} (line {line}, column {at - last})")


def _pieces(path: Path, start: int, end: int, size: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.seek(start)
        remaining = end - start
        while remaining > 0 and (piece := file.read(min(size, remaining))):
            remaining -= len(piece)
            yield piece
