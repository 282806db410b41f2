"""Whether bytes of a file are one JSON document, read in pieces; if not, exactly where not.

The grammar is that of the `ijson` library's parser (RFC 8259, UTF-8). Memory is bounded by a
piece and by the longest single string or number of the document.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

PIECE_BYTES = 1 << 16
BOM = b"\xef\xbb\xbf"
"""What some programs write before UTF-8; no part of a document (RFC 8259, section 8.1)."""
ODD_NUMBERS = (ValueError, ArithmeticError, SystemError)
"""The parser makes numbers on the way, and trips over thousands of digits or a vast exponent."""


class Malformed(Exception):  # noqa: N818 - what a result is, not an error of ours
    """A result that is missing or not what it should be; the message says why and where."""


def check_json(path: Path, start: int, end: int, name: str) -> None:
    """Raise Malformed, naming `name`, unless the bytes from `start` to `end` are JSON."""
    parser, done = _Parser(), start
    try:
        for piece in _pieces(path, start, end, PIECE_BYTES):
            parser.feed(piece)
            done += len(piece)
    except _ParseError as error:
        at = _exactly(path, start, done, end)
        raise _malformed(path, start, at, name, str(error)) from None
    try:
        parser.finish()
    except _ParseError as error:
        raise _malformed(path, start, end, name, str(error)) from None


class _ParseError(Exception):
    pass


class _Parser:
    """Takes a document piece by piece and forgets what it read; raises _ParseError."""

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
    """The first line of what the parser says; below it, it would draw the place."""
    if isinstance(error, ODD_NUMBERS):
        return "a number beyond reason"
    message = error.args[0] if error.args else ""
    text = message.decode(errors="replace") if isinstance(message, bytes) else str(message)
    return text.strip().split("\n")[0][:200]


def _exactly(path: Path, start: int, sound: int, end: int) -> int:
    """Where the first byte is that the parser refuses; all before `sound` is known to be good."""
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
    """Say what is wrong, and its line and column, both counted from 1, in bytes."""
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
        left = end - start
        while left > 0 and (piece := file.read(min(size, left))):
            left -= len(piece)
            yield piece
