"""`weft` commands in processes of their own that need not import weft first.

A server imports what commands import, then forks once per command: the child has its own
folder, environment, pipes and exit code, as one that was started has. What a cold start loads
is for tests that start `python -m weft.cli.main`, such as tests/cli/test_startup.py.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr
from importlib import import_module
from io import StringIO
from pathlib import Path
from threading import Timer
from typing import Any, NoReturn

LIMIT_S = 280.0
ROOT = Path(__file__).resolve().parents[2]
NUMBER_BYTES = 8
LOADED = (
    "cryptography.hazmat.primitives.serialization", "rich.progress", "weft.readers.diff",
    "weft.readers.explain", "weft.readers.prove", "weft.readers.status", "weft.readers.verify",
    "weft.report.view", "weft.wiring.packing", "weft.wiring.pages", "weft.wiring.replay",
    "weft.wiring.resume", "weft.wiring.run", "weft.worker.execute",
)  # fmt: skip
"""Nothing that starts a thread: the server could not fork safely any more."""


class ForkServer:
    """Starts its process with the first command, and a new one after a command that hung.

    `more` names modules that these commands load beside the usual ones.
    """

    def __init__(self, *more: str) -> None:
        self._more = more
        self._channel: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, words: Sequence[str], cwd: Path, env: Mapping[str, str]) -> tuple[int, str, str]:
        """Run `weft WORDS`; return its exit code and all it wrote to stdout and stderr."""
        channel = self._channel or self._start()
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        body = json.dumps({"words": list(words), "cwd": str(cwd), "env": dict(env)}).encode()
        socket.send_fds(channel, [_to_bytes(len(body))], [out_end, err_end])
        channel.sendall(body)
        os.close(out_end)
        os.close(err_end)
        try:
            return _outcome(channel, out, err)
        except BaseException:
            self.close()
            raise

    def _start(self) -> socket.socket:
        self._channel, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno()), *self._more],
                cwd=ROOT,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        return self._channel

    def close(self) -> None:
        """End the server; a command that is under way ends by itself or has been killed."""
        if self._channel is not None and self._process is not None:
            self._channel.close()
            self._process.wait()
        self._channel = self._process = None


def _outcome(channel: socket.socket, out: int, err: int) -> tuple[int, str, str]:
    pid = _receive_number(channel)
    late = Timer(LIMIT_S, os.kill, (pid, signal.SIGKILL))
    late.start()
    try:
        with ThreadPoolExecutor(2) as pool:
            said, complained = (data.decode() for data in pool.map(_read_all, (out, err)))
        return _receive_number(channel), said, complained
    finally:
        late.cancel()


def _read_all(pipe: int) -> bytes:
    with open(pipe, "rb") as file:
        return file.read()


def _to_bytes(number: int) -> bytes:
    return number.to_bytes(NUMBER_BYTES, "big", signed=True)


def _receive_number(channel: socket.socket) -> int:
    return int.from_bytes(_receive(channel, NUMBER_BYTES), "big", signed=True)


def _receive(channel: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = channel.recv(count - len(data))
        if not more:
            raise ConnectionResetError("the other side has gone")
        data += more
    return data


# -- the server ----------------------------------------------------------------------------------


def serve(channel: socket.socket, more: Sequence[str]) -> None:
    """Fork for every command that comes; tell its pid, then its exit code."""
    _load(more)
    while True:
        head, pipes, _, _ = socket.recv_fds(channel, NUMBER_BYTES, 2)
        if not head:
            return
        head += _receive(channel, NUMBER_BYTES - len(head))
        body = json.loads(_receive(channel, int.from_bytes(head, "big")))
        pid = os.fork()
        if pid == 0:
            channel.close()
            _become(body, pipes)
        for pipe in pipes:
            os.close(pipe)
        channel.sendall(_to_bytes(pid))
        _, status = os.waitpid(pid, 0)
        channel.sendall(_to_bytes(os.waitstatus_to_exitcode(status)))


def _load(more: Sequence[str]) -> None:
    from weft.cli.main import _exit_code

    for name in (*LOADED, *more):
        import_module(name)
    with redirect_stderr(StringIO()):
        _exit_code(["status", "/nowhere"])  # what the command line loads when it is first used
    gc.collect()
    gc.freeze()


def _become(body: dict[str, Any], pipes: Sequence[int]) -> NoReturn:
    """Be the process of one command; it leaves by SystemExit, through the interpreter's end."""
    from weft.cli.main import main

    for place, pipe in zip((1, 2), pipes, strict=True):
        os.dup2(pipe, place)
        os.close(pipe)
    os.chdir(body["cwd"])
    os.environ.clear()
    os.environ.update(body["env"])
    sys.path[0] = body["cwd"]  # as `python -m` has it
    sys.argv = ["weft", *body["words"]]
    tempfile.tempdir = None
    main()
    raise AssertionError("main returned")


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
