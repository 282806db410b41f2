"""`python -P -m weft.worker.ledgerlines FD`: renders and hashes ledger lines for a coordinator.

The hashes of a chain cannot be computed in parallel, and they are a third of what a tiny task
costs a coordinator. A long run therefore has a dedicated process for them:

    coordinator ── chain state, records ──► here ── lines, chain state ──► coordinator

One message each way at a time: two lengths, a JSON header, and texts joined by newlines, which
canonical JSON never contains. Results are sent as columns, so that their bodies are never built.
Ends with its socket. Accesses no files; the coordinator writes them.
"""

from __future__ import annotations

import json
import signal
import socket
import struct
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, TypeAlias

from weft.ledger.chain import Chain, ChainState
from weft.ledger.resultcolumns import Entry, ResultColumns

READY = b"!"
"""Sent once: from then on messages are read as soon as they arrive."""
_LENGTHS = struct.Struct(">IQ")
Shape: TypeAlias = tuple[int, str, str, int] | tuple[int]
"""The number of records, each sent as three consecutive texts; or the number of results, with
their function, place and first index, whose texts are sent column by column."""


def send_batch(channel: socket.socket, state: ChainState, parts: Sequence[Sequence[Entry]]) -> None:
    """Request the lines of records that extend a chain."""
    shapes, texts = [_shape(part) for part in parts], chain.from_iterable(map(_texts, parts))
    _send(channel, state, "\n".join(texts).encode(), shapes)


def receive_lines(channel: socket.socket) -> tuple[bytes, ChainState]:
    """Return the requested lines, and the state of the chain after them."""
    lines, state, _ = _receive(channel)
    return lines, state


def serve(channel: socket.socket) -> None:
    """Answer batches until the other side closes."""
    channel.sendall(READY)
    while True:
        try:
            text, state, shapes = _receive(channel)
        except EOFError:
            return
        after = Chain()
        after.move_to(state)
        parts = _parts(text.decode().split("\n"), shapes)
        lines = [line for part in parts for line in after.next_lines(part)]
        _send(channel, after.state, b"\n".join([*lines, b""]))


def _shape(part: Sequence[Entry]) -> Shape:
    if isinstance(part, ResultColumns):
        return len(part), part.function, part.place, part.first
    return (len(part),)


def _texts(part: Sequence[Entry]) -> Iterable[str]:
    if isinstance(part, ResultColumns):
        return chain(part.keys, part.args, part.values)
    return chain.from_iterable(part)


def _parts(texts: Sequence[str], shapes: Sequence[Shape]) -> Iterator[Sequence[Entry]]:
    """Regroup texts into their parts; raises ValueError if there are too many or too few."""
    if len(texts) != 3 * sum(shape[0] for shape in shapes):
        raise ValueError("a text holds a line end")
    remaining = iter(texts)
    for shape in shapes:
        if len(shape) == 1:
            fields = [*islice(remaining, 3 * shape[0])]
            yield [*zip(fields[::3], fields[1::3], fields[2::3], strict=True)]
        else:
            count, function, place, first = shape
            keys, args, values = ([*islice(remaining, count)] for _ in range(3))
            yield ResultColumns(function, place, first, keys, args, values)


def _send(
    channel: socket.socket, state: ChainState, text: bytes, shapes: Sequence[Shape] = ()
) -> None:
    peaks = [peak.hex() for peak in state.peaks]
    header = json.dumps([state.size, state.prev_hash, peaks, shapes]).encode()
    channel.sendall(_LENGTHS.pack(len(header), len(text)) + header)
    channel.sendall(text)


def _receive(channel: socket.socket) -> tuple[bytes, ChainState, Sequence[Shape]]:
    header_bytes, text_bytes = _LENGTHS.unpack(_exactly(channel, _LENGTHS.size))
    raw: Any = json.loads(_exactly(channel, header_bytes))
    size, prev_hash, peaks, shapes = raw
    state = ChainState(size, prev_hash, tuple(map(bytes.fromhex, peaks)))
    return _exactly(channel, text_bytes), state, shapes


def _exactly(channel: socket.socket, size_bytes: int) -> bytes:
    """Read exactly `size_bytes`; raises EOFError if the other side closes first."""
    data = bytearray(size_bytes)
    view = memoryview(data)
    while view:
        count = channel.recv_into(view)
        if not count:
            raise EOFError
        view = view[count:]
    return bytes(data)


def main() -> None:
    """Serve the socket whose number is the argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the coordinator handles Ctrl-C
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        try:
            serve(channel)
        except ConnectionError:
            return  # the coordinator is gone


if __name__ == "__main__":
    main()
