"""`python -P -m weft.worker.ledgerlines FD`: renders and hashes ledger lines for a coordinator.

The hashes of a chain cannot be computed side by side, and they are a third of what a tiny task
costs a coordinator. So a long run has one process that does nothing else:

    coordinator ── chain state, records ──► here ── lines, chain state ──► coordinator

One message each way at a time: two lengths, a JSON header, and texts joined by line ends, which
canonical JSON has none of. Ends with its socket. Knows no files; the coordinator writes them.
"""

from __future__ import annotations

import json
import signal
import socket
import struct
import sys
from collections.abc import Sequence
from itertools import chain
from typing import Any

from weft.ledger.chain import Chain, ChainState

READY = b"!"
"""Sent once: from then on messages are read as soon as they come."""
_LENGTHS = struct.Struct(">IQ")


def send_batch(
    channel: socket.socket, state: ChainState, entries: Sequence[tuple[str, str, str]]
) -> None:
    """Ask for the lines of records that follow a chain."""
    _send(channel, state, "\n".join(chain.from_iterable(entries)).encode())


def receive_lines(channel: socket.socket) -> tuple[bytes, ChainState]:
    """Return the lines that were asked for, and the chain behind them."""
    return _receive(channel)


def serve(channel: socket.socket) -> None:
    """Answer batches until the other side closes."""
    channel.sendall(READY)
    while True:
        try:
            text, state = _receive(channel)
        except EOFError:
            return
        fields = text.decode().split("\n")
        after = Chain()
        after.move_to(state)
        lines = after.next_lines([*zip(fields[::3], fields[1::3], fields[2::3], strict=True)])
        _send(channel, after.state, b"\n".join([*lines, b""]))


def _send(channel: socket.socket, state: ChainState, text: bytes) -> None:
    peaks = [peak.hex() for peak in state.peaks]
    header = json.dumps([state.size, state.prev_hash, peaks]).encode()
    channel.sendall(_LENGTHS.pack(len(header), len(text)) + header)
    channel.sendall(text)


def _receive(channel: socket.socket) -> tuple[bytes, ChainState]:
    header_bytes, text_bytes = _LENGTHS.unpack(_exactly(channel, _LENGTHS.size))
    raw: Any = json.loads(_exactly(channel, header_bytes))
    size, prev_hash, peaks = raw
    state = ChainState(size, prev_hash, tuple(map(bytes.fromhex, peaks)))
    return _exactly(channel, text_bytes), state


def _exactly(channel: socket.socket, size_bytes: int) -> bytes:
    """Read so many bytes; EOFError if the other side closes before."""
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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the coordinator's to handle
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        try:
            serve(channel)
        except ConnectionError:
            return  # the coordinator is gone


if __name__ == "__main__":
    main()
