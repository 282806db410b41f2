"""Many result lines of one round checked at once: the fast path beside `chain` and the grammar.

A line is accepted only where every byte of it is accounted for: all but the texts of its
arguments and value is known beforehand, and these are read and written again together. Whatever
is not accepted is left to the plain twin, `LineChecker` and the grammar, which names what is
wrong; so both accept the same lines, and the twin alone refuses.
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
"""Levels of nesting around a value: more than the body around it, which is one."""
MARK_CHARS = 32
_HEAD = b'{"body":{"args":'
_ARGS_START = len(_HEAD)
_KEY_BYTES = len(b'},"key":"') + KEY_CHARS
_FUNCTION = re.compile(rb',"function":("[ !#-\[\]-~]+"),"index":')
_NAME = re.compile(r"[ !#-\[\]-~]+")
_INT = "(?:0|-?[1-9][0-9]{0,14})"
_SHAPE = rf'{_INT}|\{{"[A-Za-z_][0-9A-Za-z_]*":{_INT}\}}'
"""The commonest texts that are canonical for certain: an integer, and one argument that is one."""
_PLAIN_TEXT = re.compile(_SHAPE).fullmatch
_PLAIN = re.compile(_SHAPE.encode()).fullmatch
_LONG_INT = re.compile(r"[\[,:]-?([0-9]{16,})")
"""An integer that may be beyond ±(2^53−1); a text inside quotes may look so, which costs time."""


@dataclass(frozen=True, slots=True)
class RoundPlace:
    """The round that result lines belong to; `recorded` of them stand before the next one."""

    genesis: str
    lane: str
    round: int
    recorded: int


def accept_results(lines: Sequence[bytes], chain: Chain, place: RoundPlace) -> tuple[int, int]:
    """Advance the chain over the leading lines that are completed results of the round.

    Returns how many were accepted, and how many of those after them are for the twin: none, the
    one that is another record, a failed task, unusual or wrong, or a block with unusual texts.
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
    """Splits lines of one round into what is known of them and the texts that are not."""

    __slots__ = ("_before", "_key_head", "_lane", "_name", "unusual")

    def __init__(self, place: RoundPlace) -> None:
        lane = canonical(place.lane)
        self.unusual: list[bytes] = []
        """Texts of the last line whose form is still to be checked."""
        self._lane = f',"lane":{lane},"round":{place.round},"value":'
        self._key_head = _key_head(place)
        self._before = self._name = ""

    def split(self, line: bytes, key_end: int, index: int) -> bool:
        """Whether all of the line up to its key is as it must be, apart from `unusual`."""
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
    """Whether texts (key, function, args, value) make completed results of the round, in order.

    For those who have the texts and know that the lines made from them stand in the ledger, the
    last one with `last_hash`. Like `accept_results` it may refuse what the twin accepts.
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
    """Whether each text is one value in canonical JSON; some that are may be refused.

    The texts are read as one list with a mark between them, taken from a hash that depends on
    all of them, so that none can hold it: then marks at every second place of the list show
    that each text is one item, and writing the list again that each is canonical.
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
