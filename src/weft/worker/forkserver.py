"""`python -u -m weft.worker.forkserver weft.worker FD PARENT MODULE:FUNCTION`: fork workers.

    coordinator ── request, descriptors ──► server, loaded once ─► fork, fork ─► worker

The intermediate process ends at once, and the kernel reparents its child to the nearest
subreaper: the coordinator, for the duration of its request. A forked worker is thus a child of
the coordinator like any other. The server has one thread and ends with the coordinator. It is a
separate program, or a copy of a coordinator that has loaded what workers need (`serve_as_copy`).
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import io
import json
import os
import signal
import socket
import sys
from collections.abc import Sequence
from typing import NoReturn, TypedDict

from weft.worker import __main__ as worker
from weft.worker.environment import set_environment
from weft.worker.processtree import set_name

REQUEST_BYTES = 128 * 1024
"""Maximum size of a request, which is mostly an environment."""
STANDARD = (0, 1, 2)
DESCRIPTORS = 8
"""More than a worker receives."""
NONE = 0
"""Sent instead of a pid if no process could be forked."""


class ForkRequest(TypedDict):
    """What a worker is started with, besides its descriptors."""

    arguments: list[str]
    environment: dict[str, str]
    places: list[int]
    """The numbers of its descriptors in the worker, the three standard ones first."""


def serve(channel: socket.socket) -> None:
    """Fork a worker for each request until the channel is closed."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(channel, REQUEST_BYTES, DESCRIPTORS)
        if not message:
            return
        pid = fork_worker(json.loads(message), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        channel.send(str(pid).encode())


def fork_worker(request: ForkRequest, descriptors: Sequence[int]) -> int:
    """Fork a worker that is not a child of this process; return its pid, or NONE."""
    pids, pid_written = os.pipe()
    adopted, adopt = os.pipe()
    try:
        between = os.fork()
        if between == 0:
            _fork_again(request, descriptors, (pid_written, adopted, adopt))
        os.waitpid(between, 0)
        os.close(pid_written)
        pid_written = -1
        return int(os.read(pids, 20) or NONE)
    except OSError:
        return NONE
    finally:
        for descriptor in (pids, pid_written, adopted, adopt):
            if descriptor >= 0:
                os.close(descriptor)


def _fork_again(
    request: ForkRequest, descriptors: Sequence[int], pipes: tuple[int, int, int]
) -> NoReturn:
    """Fork the worker from the intermediate process and send its pid; end, also if that fails."""
    pid_written, adopted, adopt = pipes
    try:
        os.close(adopt)
        pid = os.fork()
        if pid == 0:
            os.read(adopted, 1)  # until its parent has ended and the coordinator has adopted it
            become_worker(request, descriptors)
        os.write(pid_written, str(pid).encode())
    finally:
        os._exit(0)


def become_worker(request: ForkRequest, descriptors: Sequence[int]) -> NoReturn:
    """Run as the worker until it ends; never returns."""
    code = 1
    try:
        os.setsid()
        put_in_place(descriptors, request["places"])
        set_environment(request["environment"])
        sys.argv[1:] = request["arguments"]
        worker.main()
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    except BaseException:  # end with a traceback, as any program does
        sys.excepthook(*sys.exc_info())
    os._exit(code)


def put_in_place(descriptors: Sequence[int], places: Sequence[int]) -> None:
    """Move descriptors to the requested numbers; close all others."""
    free = max((*descriptors, *places)) + 1
    moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, free) for descriptor in descriptors]
    os.closerange(STANDARD[-1] + 1, free)
    for descriptor, place in zip(moved, places, strict=True):
        os.dup2(descriptor, place, inheritable=place in STANDARD)
        os.close(descriptor)


def serve_as_copy(channel: socket.socket, parent: int, name: str) -> NoReturn:
    """Serve as a process that was just forked from the coordinator; never returns.

    The process has the coordinator's memory and nothing else: no terminal, files or handlers. Its
    workers inherit `name`, since their command line is the coordinator's.
    """
    try:
        os.setsid()
        worker.die_with_parent(parent)
        set_name(name)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        _close_files(channel.fileno())
        serve(channel)
    finally:
        os._exit(0)


def _close_files(kept: int) -> None:
    """Close all files but one; replace the standard streams by /dev/null.

    The new streams are unbuffered, as with `python -u`. Objects that owned a file are kept:
    freeing them would close a descriptor number that another file may have by then.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    for place in STANDARD:
        os.dup2(nothing, place)
    os.closerange(STANDARD[-1] + 1, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))
    sys.stdin = _text_stream(0, "rb")
    sys.stdout, sys.stderr = _text_stream(1, "wb"), _text_stream(2, "wb")
    gc.freeze()


def _text_stream(descriptor: int, mode: str) -> io.TextIOWrapper:
    raw = io.FileIO(descriptor, mode, closefd=False)
    return io.TextIOWrapper(raw, "utf-8", "backslashreplace", write_through=True)


def main() -> None:
    """Load what workers need, then serve."""
    channel = socket.socket(fileno=int(sys.argv[2]))
    worker.die_with_parent(int(sys.argv[3]))
    module, _, function = sys.argv[4].partition(":")
    gc.disable()  # loaded objects stay: scanning them takes a tenth of the time
    getattr(importlib.import_module(module), function)()
    gc.freeze()  # keeps the workers' collectors from writing to shared memory
    gc.enable()
    serve(channel)
    os._exit(0)


if __name__ == "__main__":
    main()
