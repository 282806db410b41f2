"""Messages between coordinator and worker: a length, then one JSON array.

To the worker:   ["hello", {…}] · ["run", [[field, …] of an Assignment, …]]
                 · ["drop", [ticket, …]]
From the worker: ["ready"] · ["started", ticket] · ["finished", ticket, {…}]
                 · ["lost", ticket, reason, detail, cause]
                 · ["dropped", [ticket, …]]
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any

_LENGTH = struct.Struct(">I")
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
"""Made once: `json.dumps` makes an encoder for every call with options."""


def pack(message: list[Any]) -> bytes:
    """Write one message as a frame."""
    data = _encode(message).encode()
    return _LENGTH.pack(len(data)) + data


class Unpacker:
    """Collects received bytes and gives the whole messages in them."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[list[Any]]:
        """Take more bytes and give each message they complete."""
        buffer = self._buffer
        buffer += data
        start = 0
        while len(buffer) - start >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(buffer, start)
            end = start + _LENGTH.size + length
            if len(buffer) < end:
                break
            yield json.loads(buffer[start + _LENGTH.size : end].decode())
            start = end
        del buffer[:start]
