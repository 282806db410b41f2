"""Starts and uses the process that renders ledger lines for a long run (`worker.ledgerlines`).

The process is optional: if it fails in any way, the coordinator renders the lines itself, and the
ledger is the same. Its output is checked as far as that is cheap: the number of lines, and the
hash of the last.
"""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from weft.ledger.chain import ChainState
from weft.ledger.records import line_hash
from weft.storage.ledgerwriter import LedgerWriter, Part
from weft.worker.ledgerlines import READY, receive_lines, send_batch

MODULE = "weft.worker.ledgerlines"
START_RECORDS = 4_096
"""A run with fewer is over before the process has paid off its start."""
BUSY_RECORDS = 1_024
"""Only batches of this size count: hashing does not slow down a run with smaller commits."""
LEAST_RECORDS = 256
"""Smaller batches cost less than sending them."""
LIMIT_S = 10.0
"""A batch takes milliseconds; after this long the process is stopped or stuck, and is given up."""
INHERITED = ("LANG", "LD_LIBRARY_PATH", "PATH", "PYTHONHOME", "PYTHONPATH")
"""The variables that it needs; the rest of our environment may hold secrets."""


@contextmanager
def lines_made_elsewhere(writer: LedgerWriter) -> Iterator[None]:
    """Attach a helper to a ledger's writer for one session."""
    helper = writer.helper = LineProcess()
    try:
        yield
    finally:
        helper.close()


class LineProcess:
    """The helper of one session; started when the run turns out to be a long one."""

    def __init__(self) -> None:
        self._records = 0
        """The number of records in busy batches so far."""
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._is_ready = self._is_closed = False
        self._start_size = self._count = 0
        """Where in the ledger the current batch begins, and how many records it has."""

    def begin(self, state: ChainState, parts: Sequence[Part]) -> bool:
        """Send a batch to the process if it is ready; return whether it was sent."""
        count = sum(map(len, parts))
        self._records += count if count >= BUSY_RECORDS else 0
        if self._is_closed or self._records < START_RECORDS or count < LEAST_RECORDS:
            return False
        try:
            if not self._listens():
                return False
            assert self._channel is not None
            send_batch(self._channel, state, parts)
        except OSError:
            self.close()
            return False
        self._start_size, self._count = state.size, count
        return True

    def finish(self) -> tuple[bytes, ChainState] | None:
        """Return the lines of the batch; None if the process failed, which is not used again."""
        assert self._channel is not None
        try:
            lines, state = receive_lines(self._channel)
        except (OSError, EOFError, ValueError):
            self.close()
            return None
        if not self._is_plausible(lines, state):
            self.close()
            return None
        return lines, state

    def close(self) -> None:
        """End the process."""
        self._is_closed = True
        if self._channel is not None:
            self._channel.close()
        if self._process is not None:
            self._process.kill()  # it holds no state that is needed
            self._process.wait()
            self._process = None

    def _is_plausible(self, lines: bytes, state: ChainState) -> bool:
        last = lines[lines.rfind(b"\n", 0, -1) + 1 : -1]
        return (
            state.size == self._start_size + self._count
            and lines.count(b"\n") == self._count
            and line_hash(last) == state.prev_hash
        )

    def _listens(self) -> bool:
        """Whether the process can accept a batch at once; the first call starts it."""
        if self._channel is None:
            self._start()
        assert self._channel is not None
        if not self._is_ready and _is_readable(self._channel):
            if self._channel.recv(1) != READY:
                raise ConnectionError("it ended at once")
            self._is_ready = True
        return self._is_ready

    def _start(self) -> None:
        self._channel, far = socket.socketpair()
        self._channel.settimeout(LIMIT_S)
        with far:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", MODULE, str(far.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[far.fileno()],
                env={name: os.environ[name] for name in INHERITED if name in os.environ},
                start_new_session=True,
            )


def _is_readable(channel: socket.socket) -> bool:
    arrivals = select.poll()  # works for any descriptor number, unlike select
    arrivals.register(channel, select.POLLIN)
    return bool(arrivals.poll(0))
