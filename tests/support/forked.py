"""`weft` commands in separate processes that need not import weft first.

A server imports what commands import, then forks once per command: the child has its own folder,
environment, pipes and exit code, like a freshly started one. What a cold start loads is left to
tests that start `python -m weft.main`, such as tests/cli/test_startup.py.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer
from typing import IO, Any, NoReturn

from weft.backends.orphans import WORKER

LIMIT_S = 280.0
ROOT = Path(__file__).resolve().parents[2]
NUMBER_BYTES = 8
FORKED_WORKERS = "tests.support.forkedworkers"
FLUSH_FAILED = 120
"""The exit code of an interpreter that could not flush its output."""
LOADED = (
    "cryptography.hazmat.primitives.serialization",
    "rich.progress",
    "weft.inspect.diff",
    "weft.inspect.explain",
    "weft.inspect.prove",
    "weft.inspect.status",
    "weft.inspect.verify",
    "weft.inspect.report.view",
    "weft.inspect.pack.packing",
    "weft.inspect.products",
    "weft.inspect.replay",
    "weft.runs.resume",
    "weft.runs.run",
    "weft.worker.execute",
)
"""None of them starts a thread, after which the server could no longer fork safely."""
SEARCHES = (
    "weft.searches.arc.check",
    "weft.searches.arc.learn",
    "weft.searches.prng.search",
    "weft.searches.arc.request",
    "weft.searches.jobs.request",
    "weft.searches.prng.pipeline.run",
    "weft.searches.prng.run",
    "weft.searches.tree.run",
    "weft.searches.tree.export",
)
"""Additional modules that the commands of the searches load; this takes a second."""


class Server:
    """A process behind a channel, started by the first request."""

    _channel: socket.socket | None = None
    _process: subprocess.Popen[bytes] | None = None

    def close(self) -> None:
        """Stop the server; its forks end on their own, or with the process that requested them."""
        if self._channel is not None and self._process is not None:
            self._channel.close()
            self._process.wait()
        self._channel = self._process = None


class ForkServer(Server):
    """Starts its process with the first command, and a new one after a command that hung.

    `more` names additional modules that these commands load; with `fork_workers` their workers fork
    too, from the command as it was before it did anything.
    """

    def __init__(self, *more: str, fork_workers: bool = False) -> None:
        self._more = (*more, *([WORKER] if fork_workers else []))

    def run(self, words: Sequence[str], cwd: Path, env: Mapping[str, str]) -> tuple[int, str, str]:
        """Run `weft WORDS`; return its exit code and everything it wrote to stdout and stderr."""
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        channel = self._ask(words, cwd, env, (out_end, err_end))
        os.close(out_end)
        os.close(err_end)
        try:
            return _outcome(channel, out, err)
        except BaseException:
            self.close()
            raise

    def begin_aside(self, words: Sequence[str], cwd: Path, env: Mapping[str, str]) -> BegunCommand:
        """Start `weft WORDS` under a fork of this server, which stays free for other commands."""
        branch = ForkServer()
        branch._channel, theirs = socket.socketpair()
        with theirs:
            self._send({"branch": True}, [theirs.fileno()])
        return branch.begin(words, cwd, env)

    def begin(self, words: Sequence[str], cwd: Path, env: Mapping[str, str]) -> BegunCommand:
        """Start `weft WORDS`; this server runs nothing else until it ends."""
        out, err = TemporaryFile(), TemporaryFile()  # noqa: SIM115 - the command's, to its end
        channel = self._ask(words, cwd, env, (out.fileno(), err.fileno()))
        return BegunCommand(_receive_number(channel), channel, out, err)

    def _ask(
        self, words: Sequence[str], cwd: Path, env: Mapping[str, str], ends: Sequence[int]
    ) -> socket.socket:
        request = {"words": list(words), "cwd": str(cwd), "env": dict(env), "path": str(cwd)}
        with Path(os.devnull).open("rb") as nothing:
            return self._send(request, [nothing.fileno(), *ends])

    def _send(self, asked: Mapping[str, object], ends: Sequence[int]) -> socket.socket:
        channel = self._channel or self._start()
        body = json.dumps(asked).encode()
        socket.send_fds(channel, [to_bytes(len(body))], ends)
        channel.sendall(body)
        return channel

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


class BegunCommand:
    """A command in progress, to be polled, killed and waited for like a `Popen`."""

    def __init__(self, pid: int, channel: socket.socket, out: IO[bytes], err: IO[bytes]) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._channel, self._files = channel, (out, err)

    def __enter__(self) -> BegunCommand:
        return self

    def __exit__(self, *_: object) -> None:
        self.wait()
        for file in self._files:
            file.close()

    def close(self) -> None:
        """Wait for the end of a command that was begun aside, and release its resources."""
        with self:
            self.wait()
            self._channel.close()

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        ended = self.returncode is None and select.select([self._channel], [], [], 0)[0]
        return self.wait() if ended else self.returncode

    def wait(self) -> int:
        """Wait for its end; return the exit code, negative for a signal."""
        if self.returncode is None:
            self.returncode = _receive_number(self._channel)
        return self.returncode

    def communicate(self) -> tuple[str, str]:
        """Wait for its end; return what it wrote to stdout and stderr."""
        self.wait()
        out, err = (os.pread(file.fileno(), 1 << 24, 0).decode() for file in self._files)
        return out, err

    def send_signal(self, number: int) -> None:
        """Send a signal unless the command has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Request its end with SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it with SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def read_line(self) -> str:
        """The first line of its stdout, or all it wrote if it ends without one."""
        out = self._files[0].fileno()
        while not (text := os.pread(out, 1 << 16, 0)).endswith(b"\n"):
            if select.select([self._channel], [], [], 0.02)[0]:
                break
        return text.decode().partition("\n")[0]


def _outcome(channel: socket.socket, out: int, err: int) -> tuple[int, str, str]:
    pid = _receive_number(channel)
    late = Timer(LIMIT_S, os.kill, (pid, signal.SIGKILL))
    late.start()
    try:
        with ThreadPoolExecutor(2) as pool:
            stdout, complained = (data.decode() for data in pool.map(_read_all, (out, err)))
        return _receive_number(channel), stdout, complained
    finally:
        late.cancel()


def _read_all(pipe: int) -> bytes:
    with open(pipe, "rb") as file:
        return file.read()


def to_bytes(number: int) -> bytes:
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
    """Fork for every requested command; send its pid, then its exit code."""
    load(more)
    answer_all(channel, fork_workers=WORKER in more)


def answer_all(channel: socket.socket, *, fork_workers: bool) -> None:
    """Run the commands requested over one channel, or fork a server for another channel."""
    while (request := receive_asked(channel)) is not None:
        body, ends = request
        pid = os.fork()
        if pid == 0 and "branch" in body:
            channel.close()
            answer_all(socket.socket(fileno=ends[0]), fork_workers=fork_workers)
            os._exit(0)
        if "branch" in body:
            close_all(ends)
            continue
        if pid == 0:
            channel.close()
            if fork_workers:
                import_module(FORKED_WORKERS).fork_workers_of_this_command()
            become(body, ends)
        close_all(ends)
        channel.sendall(to_bytes(pid))
        _, status = os.waitpid(pid, 0)
        channel.sendall(to_bytes(os.waitstatus_to_exitcode(status)))


def load(more: Sequence[str]) -> None:
    """Import what commands import."""
    from weft.main import _exit_code, commands

    for name in (*LOADED, *more):
        if find_spec(name.partition(".")[0]):  # extras need not be installed
            import_module(name)
    if WORKER in more:
        import_module(f"{WORKER}.__main__")
        import_module(FORKED_WORKERS)
    with redirect_stderr(StringIO()):
        _exit_code(["status", "/nowhere"])  # modules that the command line loads on first use
    assert commands().commands  # builds all our commands
    assert len(list(Path("/proc/self/task").iterdir())) == 1, (
        "a process with threads cannot fork safely"
    )
    gc.collect()
    gc.freeze()


def receive_asked(channel: socket.socket, most: int = 3) -> tuple[dict[str, Any], list[int]] | None:
    """A request with its stdin, stdout and stderr; None once the channel is closed."""
    head, ends, _, _ = socket.recv_fds(channel, NUMBER_BYTES, most)
    if not head:
        return None
    head += _receive(channel, NUMBER_BYTES - len(head))
    return json.loads(_receive(channel, int.from_bytes(head, "big"))), list(ends)


def close_all(ends: Sequence[int]) -> None:
    """Close the descriptors that belong only to the command."""
    for end in ends:
        os.close(end)


def become(body: dict[str, Any], ends: Sequence[int]) -> NoReturn:
    """Become the process of one command, until its end."""
    from weft.main import main

    for place, end in enumerate(ends):
        os.dup2(end, place)
        os.close(end)
    os.chdir(body["cwd"])
    os.environ.clear()
    os.environ.update(body["env"])
    sys.path[0] = body["path"]  # as the interpreter does
    sys.argv = ["weft", *body["words"]]
    tempfile.tempdir = None
    try:
        main()
    except SystemExit as leaving:
        _leave(leaving.code)
    raise AssertionError("main returned")


def _leave(code: Any) -> NoReturn:
    """Exit as the interpreter does, but without tearing down what the server has loaded.

    That would take longer than most commands do, since every page of memory would be copied first.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = FLUSH_FAILED
    os._exit(code)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
