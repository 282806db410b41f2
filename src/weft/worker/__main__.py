"""`python -m weft.worker FD`: read assignments from the socket FD, run them, stream results.

Dies with its coordinator: the kernel kills it when the parent ends, and so does end of file.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import select
import signal
import socket
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from weft.model.attempts import Assignment, Finished, Lost
from weft.worker.execute import Executor
from weft.worker.frames import Unpacker, pack

RECEIVE_BYTES = 1 << 18
MAX_LOG_BYTES = 1 << 24


class WorkerLoop:
    """One connection to the coordinator and the assignments not yet started."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._unpacker = Unpacker()
        self._queue: deque[Assignment] = deque()
        self._executor: Executor | None = None
        self._output = OwnOutput(Path())

    def serve(self) -> None:
        """Run assignments until the coordinator closes the socket."""
        while True:
            self._receive(wait=not self._queue)
            if self._queue:
                self._run(self._queue.popleft())

    def _receive(self, *, wait: bool) -> None:
        """Take in what has arrived; wait for something when there is nothing to do."""
        while wait or select.select([self._channel], [], [], 0)[0]:
            data = self._channel.recv(RECEIVE_BYTES)
            if not data:
                os._exit(0)
            for message in self._unpacker.feed(data):
                self._take(message)
            wait = not self._queue

    def _take(self, message: list[Any]) -> None:
        kind, body = message
        if kind == "hello":
            sys.path[:] = body["path"]
            folders = Path(body["objects"]), Path(body["staging"])
            self._executor = Executor(body["seed"], *folders)
            self._output = OwnOutput(Path(body["logs"]))
            self._channel.sendall(pack(["ready"]))
        elif kind == "run":
            self._queue.extend(Assignment(*row) for row in body)
        elif kind == "drop":
            kept = [a for a in self._queue if a.ticket not in body]
            dropped = [a.ticket for a in self._queue if a.ticket in body]
            self._queue = deque(kept)
            self._channel.sendall(pack(["dropped", dropped]))

    def _run(self, assignment: Assignment) -> None:
        assert self._executor is not None
        prepared = self._executor.prepare(assignment)
        if isinstance(prepared, Lost):
            self._send_lost(prepared)
            return
        self._channel.sendall(pack(["started", assignment.ticket]))
        with self._output.of(assignment):
            end = self._executor.run(assignment, *prepared)
        if isinstance(end, Lost):
            self._send_lost(end)
        else:
            self._channel.sendall(pack(["finished", end.ticket, _to_dict(end)]))

    def _send_lost(self, lost: Lost) -> None:
        self._channel.sendall(pack(["lost", lost.ticket, lost.reason, lost.detail]))


class OwnOutput:
    """What a task printed, cut out of the worker's log into a log of its own.

    Looking at the file's size costs little; most tasks print nothing and get no file.
    """

    def __init__(self, logs: Path) -> None:
        self._logs = logs

    @contextlib.contextmanager
    def of(self, assignment: Assignment) -> Iterator[None]:
        """Save what is printed while the task runs as logs/<key>/<attempt>.log."""
        start = os.fstat(1).st_size
        try:
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            end = os.fstat(1).st_size
            if end > start:
                self._save(assignment, start, end)

    def _save(self, assignment: Assignment, start: int, end: int) -> None:
        folder = self._logs / assignment.key
        folder.mkdir(parents=True, exist_ok=True)
        with Path("/dev/fd/1").open("rb") as log:
            log.seek(start)
            text = log.read(min(end - start, MAX_LOG_BYTES))
        (folder / f"{assignment.attempt}.log").write_bytes(text)


def _to_dict(end: Finished) -> dict[str, Any]:
    """Only the fields that are set: most results are one short value."""
    body: dict[str, Any] = {"run_s": end.run_s}
    if end.error is None:
        body["value"] = end.value
    else:
        body["error"] = [end.error.type, end.error.stage, end.error.exit_code]
        body["detail"], body["retriable"] = end.detail, end.retriable
    if end.staged:
        body["staged"] = [[s.digest, s.name] for s in end.staged]
    if end.notes is not None:
        body["notes"] = end.notes
    return body


def die_with_parent(parent: int) -> None:
    """Ask the kernel (Linux) to kill us when the coordinator ends, however it ends."""
    with contextlib.suppress(OSError, AttributeError):
        import ctypes  # noqa: PLC0415 - only here, and only where it exists

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(0)


def main() -> None:
    """Serve the socket whose number is the first argument; the second is the parent's pid."""
    die_with_parent(int(sys.argv[2]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the coordinator's to handle
    faulthandler.enable()
    WorkerLoop(socket.socket(fileno=int(sys.argv[1]))).serve()


if __name__ == "__main__":
    main()
