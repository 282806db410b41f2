"""Checks many result lines of one round at once: the fast path beside `chain` and the grammar.

A line is accepted only if every byte of it is accounted for: all but the texts of its arguments
and value is known in advance, and these texts are decoded and re-encoded together. A line that is
not accepted is left to the plain path, `LineChecker` and the grammar, which reports what is
wrong. So both paths accept the same lines, and only the plain path refuses.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from weft.errors import ValueInvalid
from weft.ledger.chain import Chain
from weft.ledger.records import FORMAT, KEY_CHARS, MAX_DEPTH, MAX_INT
from weft.model.values import canonical

BODY_DEPTH = 2
"""Levels of nesting reserved for what is around a value; the body itself is only one."""
MARK_CHARS = 32
_HEAD = b'{"body":{"args":'
_ARGS_START = len(_HEAD)
_KEY_BYTES = len(b'},"key":"') + KEY_CHARS
_FUNCTION = re.compile(rb',"function":("[ !#-\[\]-~]+"),"index":')
_NAME = re.compile(r"[ !#-\[\]-~]+")
_INT = "(?:0|-?[1-9][0-9]{0,14})"
_SHAPE = rf'{_INT}|\{{"[A-Za-z_][0-9A-Za-z_]*":{_INT}\}}'
"""The most common texts that are canonical for certain: an integer, or one integer argument."""
_PLAIN_TEXT = re.compile(_SHAPE).fullmatch
_PLAIN = re.compile(_SHAPE.encode()).fullmatch
_LONG_INT = re.compile(r"[\[,:]-?([0-9]{16,})")
"""An integer that may be beyond ±(2^53−1); a match inside a string costs only time."""


@dataclass(frozen=True, slots=True)
class RoundPlace:
    """The round that result lines belong to; `recorded` of its results precede the next line."""

    genesis: str
    lane: str
    round: int
    recorded: int


def accept_results(lines: Sequence[bytes], chain: Chain, place: RoundPlace) -> tuple[int, int]:
    """Advance the chain over the leading lines that are completed results of the round.

    Returns how many were accepted, and how many after them are left to the plain path: none; one
    that is another record, a failed task, unusual or wrong; or a block with unusual texts.
    """
    texts, leaves, sha256 = list[bytes](), list[bytes](), hashlib.sha256
    layout = _Layout(place)
    seq, last_hash = chain.size, chain.prev_hash
    for index, line in enumerate(lines, place.recorded):
        tail = f'","kind":"result","prev_hash":"{last_hash}","seq":{seq},"v":{FORMAT}}}'.encode()
        if not line.endswith(tail) or not layout.split(line, len(line) - len(tail), index):
            break
        texts += layout.unusual
        last_hash = sha256(line).hexdigest()
        leaves.append(sha256(b"\x00" + line).digest())
        seq += 1
    count = len(leaves)
    if not _are_canonical_bytes(texts, last_hash):
        return 0, count
    if count:
        chain.accept_hashed(last_hash, leaves)
    return count, int(count < len(lines))


class _Layout:
    """Splits lines of one round into the known parts and the texts that are not known."""

    __slots__ = ("_before", "_key_head", "_lane", "_name", "unusual")

    def __init__(self, place: RoundPlace) -> None:
        lane = canonical(place.lane)
        self.unusual: list[bytes] = []
        """Texts of the last line that still have to be checked for canonical form."""
        self._lane = f',"lane":{lane},"round":{place.round},"value":'
        self._key_head = _key_head(place)
        self._before = self._name = ""

    def split(self, line: bytes, key_end: int, index: int) -> bool:
        """Return whether the line, up to and with its key, is correct apart from `unusual`."""
        body_end = key_end - _KEY_BYTES
        between = f"{self._before}{index}{self._lane}".encode()
        args_end = line.find(between, _ARGS_START, body_end) if self._name else -1
        if args_end < 0:
            between, args_end = self._other_function(line, body_end, index)
            if args_end < 0:
                return False
        args, value = line[_ARGS_START:args_end], line[args_end + len(between) : body_end]
        asked = f"{self._key_head}{index},{self._name},".encode() + args + b"]"
        key = hashlib.sha256(asked).hexdigest()
        self.unusual = [text for text in (args, value) if not _PLAIN(text)]
        return line.startswith(_HEAD) and line[body_end:key_end] == b'},"key":"' + key.encode()

    def _other_function(self, line: bytes, end: int, index: int) -> tuple[bytes, int]:
        """Read the function's name from the line, if it needs no escapes."""
        match = _FUNCTION.search(line, _ARGS_START, end)
        if match is None:
            return b"", -1
        self._before, self._name = match[0].decode(), match[1].decode()
        between = f"{self._before}{index}{self._lane}".encode()
        return between, line.find(between, match.start(), end)


def are_results(
    results: Iterable[tuple[str, str, str, str]], place: RoundPlace, last_hash: str
) -> bool:
    """Whether texts (key, function, args, value) are completed results of the round, in order.

    For callers who know that the ledger has the lines built from these texts, the last one with
    `last_hash`. Like `accept_results` it may refuse what the plain path accepts.
    """
    head, sha256 = _key_head(place), hashlib.sha256
    unusual = list[str]()
    name = ""
    for index, (key, function, args, value) in enumerate(results, place.recorded):
        if sha256(f'{head}{index},"{function}",{args}]'.encode()).hexdigest() != key:
            return False
        if function != name and not _NAME.fullmatch(name := function):
            return False
        if not _PLAIN_TEXT(args):
            unusual.append(args)
        if not _PLAIN_TEXT(value):
            unusual.append(value)
    return are_canonical(unusual, last_hash)


def _key_head(place: RoundPlace) -> str:
    return f'["task",{canonical(place.genesis)},{canonical(place.lane)},{place.round},'


def _are_canonical_bytes(texts: Sequence[bytes], last_hash: str) -> bool:
    try:
        return are_canonical([str(text, "utf-8") for text in texts], last_hash)
    except UnicodeDecodeError:
        return False


def are_canonical(texts: Sequence[str], last_hash: str) -> bool:
    """Whether each text is one value in canonical JSON; may refuse some that are.

    The texts are parsed as one list with a separator between them. The separator is taken from a
    hash that depends on all texts, so none can contain it: separators at every second place of
    the list show that each text is one item, and re-encoding the list that each is canonical.
    """
    mark = last_hash[:MARK_CHARS]
    between = f',"{mark}",'
    joined = f"[{between.join(texts)}]"
    if any(map(_may_be_deep, texts)) or any(map(_is_beyond, _LONG_INT.findall(joined))):
        return False
    try:
        items, _ = _DECODER.raw_decode(joined)
        marks = [mark] * (len(texts) - 1)
        aligned = len(items) == len(texts) + len(marks) and items[1::2] == marks
        return aligned and canonical(items) == joined
    except (ValueError, ValueInvalid, RecursionError):
        return False


def _may_be_deep(text: str) -> bool:
    return len(text) > MAX_DEPTH and text.count("{") + text.count("[") > MAX_DEPTH - BODY_DEPTH


def _is_beyond(digits: str) -> bool:
    return len(digits) > 16 or int(digits) > MAX_INT


def _refuse(text: str) -> NoReturn:
    raise ValueError(text)


_DECODER = json.JSONDecoder(parse_float=_refuse, parse_constant=_refuse)
