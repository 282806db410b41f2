"""A command's result channel: one result, sent by the command itself and by nobody else.

    command ── descriptor 3: hello, then one line ──► socket ──► supervisor ──► report

It is a socket, which unlike a pipe cannot be opened again through /proc, and the kernel tells the
sender of every byte. The first to send is the command, which says hello before it starts any code
that it does not trust; what another process sends, a second line, or anything after the command's
end is refused. A command gets a channel when its environment has `WEFT_RESULT_FD`.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Mapping
from typing import TypedDict

VARIABLE = "WEFT_RESULT_FD"
DESCRIPTOR = 3
"""The same for every command: shells can only redirect to descriptors below 10."""
HELLO = b"weft-result 1\n"
MAX_BYTES = 1 << 20
"""Of a result."""
_CREDENTIALS = struct.Struct("=iII")
"""Process, user and group of a sender, as unix(7) has them."""


class ChannelReport(TypedDict):
    """What came through a command's channel."""

    result: str | None
    """The line that it sent; None without one."""
    refused: str
    """Why what was sent cannot be its result; empty when nothing is wrong."""


class ResultChannel:
    """The supervisor's end; for a command without a channel, nothing happens."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._ours: socket.socket | None = None
        self._theirs: socket.socket | None = None
        self._sender: int | None = None
        self._received = bytearray()
        self._refused = ""
        self._has_ended = False
        if VARIABLE in env:
            self._ours, self._theirs = socket.socketpair()
            self._ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            self._ours.setblocking(False)

    def hand_over(self) -> list[int]:
        """In the command's process: give it its end; return the descriptors to leave open."""
        if self._theirs is None:
            return []
        os.dup2(self._theirs.fileno(), DESCRIPTOR)
        return [DESCRIPTOR]

    def started(self) -> None:
        """Forget the command's end, which the command alone has from now on."""
        if self._theirs is not None:
            self._theirs.close()

    def readable(self) -> list[int]:
        """Return what to wait for, beside the ends of processes."""
        is_waiting = self._ours is not None and self._ours.fileno() >= 0
        return [self._ours.fileno()] if self._ours is not None and is_waiting else []

    def receive(self) -> None:
        """Take in all that has been sent."""
        while self._ours is not None and self._ours.fileno() >= 0:
            try:
                size = socket.CMSG_SPACE(_CREDENTIALS.size)
                data, ancillary, _, _ = self._ours.recvmsg(1 << 16, size)
            except BlockingIOError:
                return
            except OSError:  # the other end is gone, with something of ours unread
                data, ancillary = b"", []
            if not data:
                self._ours.close()
                return
            self._take(_sender(ancillary), data)

    def end(self) -> None:
        """Note that the command has ended: what comes from now on is not from it."""
        self.receive()
        self._has_ended = True

    def report(self) -> ChannelReport | None:
        """Return what came, once no process of the command is left; None without a channel."""
        if self._ours is None:
            return None
        self.receive()
        self._ours.close()
        data = bytes(self._received)
        if not self._refused and not HELLO.startswith(data[: len(HELLO)]):
            self._refused = "what was sent does not begin with the hello of a result"
        lines = data[len(HELLO) :].splitlines()
        if not self._refused and len(lines) > 1:
            self._refused = "a second result was sent"
        sound = bool(lines) and not self._refused
        return {"result": lines[0].decode("utf-8", "replace") if sound else None,
                "refused": self._refused}  # fmt: skip

    def _take(self, sender: int | None, data: bytes) -> None:
        self._sender = self._sender or sender
        if self._has_ended:
            self._refuse("a result was sent after the command had ended")
        elif sender is None or sender != self._sender:
            self._refuse("another process than the command sent a result")
        elif len(self._received) + len(data) > MAX_BYTES:
            self._refuse(f"more than {MAX_BYTES:,} bytes were sent")
        else:
            self._received += data

    def _refuse(self, why: str) -> None:
        """Take no more: who goes on sending gets an error."""
        self._refused = self._refused or why
        if self._ours is not None:
            self._ours.close()


def _sender(ancillary: list[tuple[int, int, bytes]]) -> int | None:
    """Return the process that the kernel names as the sender."""
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
            return int(_CREDENTIALS.unpack(data)[0])
    return None
