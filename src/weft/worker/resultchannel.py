"""A command's result channel: one result, sent by the command itself and no other process.

    command ── descriptor 3: hello, then one line ──► socket ──► supervisor ──► report

It is a socket: unlike a pipe it cannot be reopened through /proc, and the kernel identifies the
sender of every byte. The first sender is the command, which sends the hello before it starts any
code that it does not trust. Data from another process, a second line, or anything after the
command's end is refused. A command gets a channel if its environment has `WEFT_RESULT_FD`.
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
"""Limit on what a command may send."""
_CREDENTIALS = struct.Struct("=iII")
"""Process, user and group of a sender; see unix(7)."""


class ChannelReport(TypedDict):
    """What a command sent through its channel."""

    result: str | None
    """The line sent; None if there was none or it was refused."""
    refused: str
    """Why the data sent cannot be the result; empty if nothing is wrong."""


class ResultChannel:
    """The supervisor's end; does nothing for a command without a channel."""

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
        """In the command's process: install its end; return the descriptors to leave open."""
        if self._theirs is None:
            return []
        os.dup2(self._theirs.fileno(), DESCRIPTOR)
        return [DESCRIPTOR]

    def started(self) -> None:
        """Close the command's end, which only the command holds from now on."""
        if self._theirs is not None:
            self._theirs.close()

    def readable(self) -> list[int]:
        """Return the descriptors to wait for."""
        is_waiting = self._ours is not None and self._ours.fileno() >= 0
        return [self._ours.fileno()] if self._ours is not None and is_waiting else []

    def receive(self) -> None:
        """Receive everything sent so far."""
        while self._ours is not None and self._ours.fileno() >= 0:
            try:
                size = socket.CMSG_SPACE(_CREDENTIALS.size)
                data, ancillary, _, _ = self._ours.recvmsg(1 << 16, size)
            except BlockingIOError:
                return
            except OSError:  # the other end closed with data of ours unread
                data, ancillary = b"", []
            if not data:
                self._ours.close()
                return
            self._take(_sender(ancillary), data)

    def end(self) -> None:
        """Note that the command has ended: data received from now on is not from it."""
        self.receive()
        self._has_ended = True

    def report(self) -> ChannelReport | None:
        """Return what was sent, once no process of the command is left; None without a channel."""
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
        """Refuse the result and close the channel, so that further sends fail."""
        self._refused = self._refused or why
        if self._ours is not None:
            self._ours.close()


def _sender(ancillary: list[tuple[int, int, bytes]]) -> int | None:
    """Return the process that the kernel names as the sender."""
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
            return int(_CREDENTIALS.unpack(data)[0])
    return None
