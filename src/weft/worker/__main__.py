"""`python -m weft.worker FD`: read assignments from the socket FD, run them, stream results.

Dies with its coordinator: the kernel kills it when the parent ends, and so does end of file.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import select
import signal
import socket
import sys
import threading
from collections import deque
from pathlib import Path

from weft.model.attempts import Assignment, Finished, Lost
from weft.worker.execute import Executor
from weft.worker.frames import FromWorker, ResultBody, ToWorker, Unpacker, pack
from weft.worker.supervisor import become_subreaper

RECEIVE_BYTES = 1 << 18
MAX_LOG_BYTES = 1 << 24


class WorkerLoop:
    """One connection to the coordinator and the assignments not yet started.

    A second thread reads the socket, so that assignments can be taken back, and the end of the
    coordinator be noticed, while a task runs.
    """

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._unpacker = Unpacker[ToWorker]()
        self._queue: deque[Assignment] = deque()
        self._arrived = threading.Condition()
        self._sending = threading.Lock()
        self._outgoing = b""

    def serve(self) -> None:
        """Run assignments until the coordinator closes the socket."""
        messages = self._receive()
        while not messages:
            messages = self._receive()
        first, *rest = messages
        assert first[0] == "hello", "the coordinator introduces the run first"
        hello = first[1]
        sys.path[:] = hello["path"]
        executor = Executor.from_hello(hello, self._enter)
        output = OwnOutput(Path(hello["logs"]))
        self._send(("ready",))
        for message in rest:
            self._take(message)
        threading.Thread(target=self._listen, daemon=True).start()
        while True:
            self._run(self._next(), executor, output)

    def _next(self) -> Assignment:
        with self._arrived:
            while not self._queue:
                self._arrived.wait()
            return self._queue.popleft()

    def _listen(self) -> None:
        # A blocked recv also wakes when the other side reads, once per result; poll does not.
        arrivals = select.poll()
        arrivals.register(self._channel, select.POLLIN)
        while True:
            arrivals.poll()
            for message in self._receive():
                self._take(message)

    def _receive(self) -> list[ToWorker]:
        try:
            data = self._channel.recv(RECEIVE_BYTES)
        except OSError:
            data = b""
        if not data:
            os._exit(0)
        return list(self._unpacker.feed(data))

    def _take(self, message: ToWorker) -> None:
        with self._arrived:
            if message[0] == "run":
                self._queue.extend(Assignment(*row) for row in message[1])
                self._arrived.notify()
                return
            tickets = message[1]
            dropped = [a.ticket for a in self._queue if a.ticket in tickets]
            self._queue = deque(a for a in self._queue if a.ticket not in tickets)
        self._send(("dropped", dropped))

    def _run(self, assignment: Assignment, executor: Executor, output: OwnOutput) -> None:
        prepared = executor.prepare(assignment)
        if isinstance(prepared, Lost):
            self._send(_lost(prepared))
            return
        self._send(("started", assignment.ticket))
        end = executor.run(assignment, *prepared)
        output.cut(assignment)
        if isinstance(end, Lost):
            self._send(_lost(end))
        else:
            follows = self._follows(assignment.function)
            self._send(("finished", end.ticket, _result_body(end)), hold=follows)

    def _enter(self, assignment: Assignment) -> None:
        self._send(("entered", assignment.ticket))

    def _follows(self, function: str) -> bool:
        """Whether the next task starts in a moment: then both messages go out as one."""
        with self._arrived:
            return bool(self._queue) and self._queue[0].function == function

    def _send(self, message: FromWorker, *, hold: bool = False) -> None:
        with self._sending:
            self._outgoing += pack(message)
            if not hold:
                self._channel.sendall(self._outgoing)
                self._outgoing = b""


class OwnOutput:
    """What a task printed, cut out of the worker's log into a log of its own.

    Looking at the file's size costs little; most tasks print nothing and get no file.
    """

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._seen_bytes = os.fstat(1).st_size

    def cut(self, assignment: Assignment) -> None:
        """Save what was printed since the last task ended as logs/<key>/<attempt>.log.

        A log that a full disk does not take is lost; the result is not.
        """
        with contextlib.suppress(OSError):
            self._cut(assignment)

    def _cut(self, assignment: Assignment) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        start, self._seen_bytes = self._seen_bytes, os.fstat(1).st_size
        if self._seen_bytes > start:
            self._save(assignment, start, self._seen_bytes)

    def _save(self, assignment: Assignment, start: int, end: int) -> None:
        folder = self._logs / assignment.key
        folder.mkdir(parents=True, exist_ok=True)
        with Path("/dev/fd/1").open("rb") as log:
            log.seek(start)
            text = log.read(min(end - start, MAX_LOG_BYTES))
        (folder / f"{assignment.attempt}.log").write_bytes(text)


def _lost(loss: Lost) -> FromWorker:
    return ("lost", loss.ticket, loss.reason, loss.detail, loss.cause)


def _result_body(end: Finished) -> ResultBody:
    """Only the fields that are set: most results are one short value."""
    body: ResultBody = {"run_s": end.run_s}
    if end.error is None:
        body["value"] = end.value
    else:
        body["error"] = (end.error.type, end.error.stage, end.error.exit_code)
        body["detail"], body["retriable"] = end.detail, end.retriable
    if end.staged:
        body["staged"] = [(s.digest, s.name) for s in end.staged]
    if end.notes is not None:
        body["notes"] = end.notes
    return body


def die_with_parent(parent: int) -> None:
    """Ask the kernel (Linux) to kill us when the coordinator ends, however it ends."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(0)


def main() -> None:
    """Serve the socket whose number is the first argument; the second is the parent's pid."""
    die_with_parent(int(sys.argv[2]))
    become_subreaper()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the coordinator's to handle
    faulthandler.enable()
    WorkerLoop(socket.socket(fileno=int(sys.argv[1]))).serve()


if __name__ == "__main__":
    main()
