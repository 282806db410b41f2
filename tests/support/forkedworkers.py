"""Workers that need not import what they run: they fork from a process that has loaded it.

    Popen of a worker ─► server ─► fork, fork ─► the worker, a child of the requesting process

The intermediate process exits at once, and the kernel makes its child a child of the nearest
ancestor that is a subreaper: the requesting process, at that moment. It thus waits for the
worker, kills it and gets its exit code as for a worker it has started. What a cold start loads,
and what /proc shows of a worker, is left to tests that start `python -m weft.worker`.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from tests.support.forked import ROOT, Server, close_all, receive_asked, to_bytes
from weft.backends import process
from weft.backends.orphans import WORKER
from weft.runs import execution
from weft.worker.environment import ONE_THREAD

SET_CHILD_SUBREAPER = 36
FIRST_FREE = 500
"""Descriptors are first moved to numbers from here on, then to their final numbers."""
LOADED = ("weft.worker.__main__", "weft.define.commands", "weft.define.searches")
"""Modules that every worker imports, and those imported by the module of any search."""
STANDARD = (0, 1, 2)
MOST = 8


class WorkerServer(Server):
    """Starts its process with the first worker; `modules` are what the workers will import."""

    def __init__(self, *modules: str, channel: socket.socket | None = None) -> None:
        self._modules = modules
        if channel is not None:
            self._channel = channel

    def start(
        self, argv: Sequence[str], env: Mapping[str, str], files: Sequence[int], kept: Sequence[int]
    ) -> int:
        """Start a worker with `files` as its first three descriptors; return its pid."""
        channel = self._channel or self._begin()
        request = {"argv": list(argv[-2:]), "cwd": str(Path.cwd()), "env": dict(env),
                   "places": [*STANDARD, *kept], "parent": os.getpid()}  # fmt: skip
        body = json.dumps(request).encode()
        with taking_orphans():
            socket.send_fds(channel, [to_bytes(len(body))], [*files, *kept])
            channel.sendall(body)
            return int.from_bytes(channel.recv(8, socket.MSG_WAITALL), "big", signed=True)

    def _begin(self) -> socket.socket:
        self._channel, theirs = socket.socketpair()
        with theirs:
            number = theirs.fileno()
            self._process = subprocess.Popen(
                # this word distinguishes workers from processes they left behind
                [sys.executable, "-u", "-m", __name__, WORKER, str(number), *self._modules],
                cwd=ROOT, env={**os.environ, **dict.fromkeys(ONE_THREAD, "1")},
                stdin=subprocess.DEVNULL, pass_fds=[number],
            )  # fmt: skip
        return self._channel


@contextlib.contextmanager
def taking_orphans() -> Iterator[None]:
    """Within the block, orphans below this process become its children."""
    prctl = ctypes.CDLL(None).prctl
    prctl(SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        prctl(SET_CHILD_SUBREAPER, 0)


@contextlib.contextmanager
def forked_workers(server: WorkerServer) -> Iterator[None]:
    """Within the block, the local backend of this process forks its workers."""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "subprocess", forking(server))
        yield


def fork_workers_of_this_command() -> None:
    """Let the workers of a command fork from a copy of its process in its current state.

    For a process that was itself forked and has loaded what its workers need, before it does
    anything. The copy ends with it.
    """
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        os.setsid()  # Ctrl-C is for the command
        nowhere = os.open(os.devnull, os.O_RDWR)
        for place in STANDARD:
            os.dup2(nowhere, place)
        serve(theirs)
        os._exit(0)
    theirs.close()
    process.subprocess = forking(WorkerServer(channel=ours))  # type: ignore[assignment]
    execution.preloaded = lambda how, _: contextlib.nullcontext(how)  # already loaded here


def forking(server: WorkerServer) -> SimpleNamespace:
    """The parts of `subprocess` that the local backend needs, with workers that fork."""

    class ForkedPopen(subprocess.Popen[bytes]):
        def _execute_child(self, args: Any, *rest: Any) -> None:
            # as in CPython 3.11 to 3.13: executable, preexec_fn, close_fds, pass_fds, cwd, env, …
            _, _, _, inherited_fds, _, env, _, _, _, *pipes = rest
            reads_in, _, _, writes_out, _, writes_err = pipes[:6]
            self.pid = server.start(
                args, env, (reads_in, writes_out, writes_err), sorted(inherited_fds)
            )
            self._child_created = True
            self._close_pipe_fds(*pipes[:6])  # type: ignore[attr-defined]

    return SimpleNamespace(
        Popen=ForkedPopen,
        DEVNULL=subprocess.DEVNULL,
        TimeoutExpired=subprocess.TimeoutExpired,
    )


# -- the server ----------------------------------------------------------------------------------


def serve(channel: socket.socket) -> None:
    """Fork for every requested worker until the channel is closed."""
    while (request := receive_asked(channel, MOST)) is not None:
        body, files = request
        between = os.fork()
        if between == 0:
            if os.fork() == 0:
                become(body, files, channel)
            os._exit(0)
        close_all(files)
        os.waitpid(between, 0)


def become(body: dict[str, Any], files: Sequence[int], channel: socket.socket) -> NoReturn:
    """Become the worker, until its end."""
    from weft.worker.__main__ import main

    os.setsid()
    while os.getppid() != body["parent"]:
        time.sleep(0.0005)
    channel.sendall(to_bytes(os.getpid()))
    channel.close()
    moved = [os.dup2(file, FIRST_FREE + number) for number, file in enumerate(files)]
    os.closerange(3, FIRST_FREE)
    for place, file in zip(body["places"], moved, strict=True):
        os.dup2(file, place, inheritable=place in STANDARD)
        os.close(file)
    os.chdir(body["cwd"])
    os.environ.clear()
    os.environ.update(body["env"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path[0] = body["cwd"]  # as the interpreter does
    sys.argv = [WORKER, *body["argv"]]
    code = 1
    try:
        main()
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    except BaseException:  # ends with its traceback, like any program
        sys.excepthook(*sys.exc_info())
    os._exit(code)


if __name__ == "__main__":
    for name in (*LOADED, *sys.argv[3:]):
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[2])))
