"""Score a candidate without executing its code here: `python -I harness.py SCORER [ARGUMENT…]`.

    supervisor ◄─ result ─ this process: SCORER's `score(candidate)` ─ data ─► child: candidate code
                           has the result channel                   ◄─ data ─  has no channel

The scorer is a Python file with a function `score(candidate)` that returns the result as a dict.
`candidate.call("module:function", …)` and `candidate.run([…])` execute the candidate's code in a
process of its own and hand back JSON values and bytes, nothing else. One file, standard library
only: copy it where you like. docs/tree-scores.md has the protocol for scorers in other languages.
"""

from __future__ import annotations

import binascii
import contextlib
import importlib.machinery
import importlib.util
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import CodeType, ModuleType

TYPE_CHECKING = False  # without the module of that name, which takes a process longer to start
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

VARIABLE = "WEFT_RESULT_FD"
HELLO = b"weft-result 1\n"
CHILD = "--child"
MAX_DATA_BYTES = 64 * 2**20
"""Of what a child may hand back."""
MAX_PRINTED_BYTES = 64 * 1024
"""Of what a child prints that reaches the log, from its end."""
POLL_S = 0.01
"""How often to look for the end of a child where the system cannot report it."""
_PR_SET_DUMPABLE = 4


class CandidateFailed(Exception):  # noqa: N818 - an outcome of a candidate
    """The candidate's code raised, crashed, took too long or handed back no data."""


class CandidateOutput:
    """What a program of the candidate left: its exit code and what it printed."""

    def __init__(self, exit_code: int, stdout: bytes, stderr: bytes, seconds: float) -> None:
        self.exit_code = exit_code
        """Minus the number of the signal that ended it."""
        self.stdout = stdout
        self.stderr = stderr
        """Its last 64 KiB."""
        self.seconds = seconds
        """By the clock of this process, the start of the child included."""


class CandidateProcess:
    """The candidate's files, and ways to execute them in processes of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seconds = 0.0
        """What the last call or run took, by the clock of this process."""

    def call(self, function: str, *arguments: Any, timeout_s: float | None = None) -> Any:
        """Call `module:function` in a new process and return what it returned.

        `arguments` and the value consist of None, booleans, numbers, text, bytes, lists and dicts
        with text keys. After `timeout_s` seconds the process is ended. Raises CandidateFailed.
        """
        return self.call_each(function, [arguments], timeout_s=timeout_s)[0]

    def call_each(
        self, function: str, calls: Sequence[Sequence[Any]], *, timeout_s: float | None = None
    ) -> list[Any]:
        """Call `module:function` once for each of `calls`, all in one new process.

        Cheaper than a process for each, but the candidate may remember earlier arguments. Other
        parameters as in `call`.
        """
        request = {"function": function, "calls": [_packed(list(call)) for call in calls]}
        argv = [sys.executable, "-I", "-B", str(Path(__file__).absolute()), CHILD]
        output = self.run(argv, json.dumps(request).encode(), timeout_s=timeout_s)
        sys.stderr.buffer.write(output.stderr)
        sys.stderr.flush()
        if output.exit_code:
            raise CandidateFailed(f"{function} ended with {output.exit_code}")
        return _returned(function, output.stdout, len(calls))

    def run(
        self, argv: Sequence[str], data: bytes = b"", *, timeout_s: float | None = None
    ) -> CandidateOutput:
        """Run a program in the candidate's folder, `data` on its stdin; return what it left.

        `argv` is the program and its arguments. After `timeout_s` seconds it is ended, and so it
        is when it prints more than 64 MiB. Raises CandidateFailed for these, and when it cannot
        be started.
        """
        start_s = time.monotonic()
        try:
            child = subprocess.Popen(
                list(argv), cwd=self.folder, env=_environment(), start_new_session=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
        except OSError as error:
            raise CandidateFailed(f"{argv[0]} cannot be started: {error}") from None
        try:
            stdout, stderr = _talk(child, data, timeout_s)
        finally:
            _end(child)
            self.seconds = time.monotonic() - start_s
        return CandidateOutput(child.returncode, stdout, stderr, self.seconds)


def _environment() -> dict[str, str]:
    """What a child may know: nothing of the run, least of all where results go."""
    return {name: text for name, text in os.environ.items() if not name.startswith("WEFT_")}  # noqa: TID251 - on the slot


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a child with its process group; what has left the group ends with the scorer."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for stream in (child.stdin, child.stdout, child.stderr):
        with contextlib.suppress(OSError):
            stream.close()  # type: ignore[union-attr]


def _talk(
    child: subprocess.Popen[bytes], data: bytes, timeout_s: float | None
) -> tuple[bytes, bytes]:
    """Give a child its input and take its output until it ends, whoever keeps its pipes open."""
    end_s = None if timeout_s is None else time.monotonic() + timeout_s
    with _Pipes(child, data) as pipes:
        while child.poll() is None:
            if end_s is not None and time.monotonic() > end_s:
                raise CandidateFailed(f"it took longer than {timeout_s} s")
            pipes.exchange(None if end_s is None else max(0.0, end_s - time.monotonic()))
        pipes.read_all()
    return bytes(pipes.stdout), bytes(pipes.stderr)


class _Pipes:
    """Stdin, stdout and stderr of a child, none of which may block us."""

    def __init__(self, child: subprocess.Popen[bytes], data: bytes) -> None:
        self.stdout, self.stderr = bytearray(), bytearray()
        self._child, self._unsent = child, memoryview(data)
        self._selector = selectors.DefaultSelector()
        self._pidfd = _pidfd_of(child.pid)

    def __enter__(self) -> _Pipes:
        roles = (
            (self._child.stdin, selectors.EVENT_WRITE, None),
            (self._child.stdout, selectors.EVENT_READ, self.stdout),
            (self._child.stderr, selectors.EVENT_READ, self.stderr),
        )
        for stream, event, buffer in roles:
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, event, buffer)
        if self._pidfd is not None:
            self._selector.register(self._pidfd, selectors.EVENT_READ)
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        if self._pidfd is not None:
            os.close(self._pidfd)

    def exchange(self, wait_s: float | None) -> bool:
        """Wait for the child, then write and read what there is; False when that was nothing."""
        if self._pidfd is None:
            wait_s = min(POLL_S, POLL_S if wait_s is None else wait_s)
        ready = [key for key, _ in self._selector.select(wait_s) if key.fileobj != self._pidfd]
        for key in ready:
            if key.data is None:
                self._write(key.fileobj)
            else:
                self._read(key.fileobj, key.data)
        return any(key.data is not None for key in ready)

    def read_all(self) -> None:
        """Take what an ended child has left in its pipes."""
        while self.exchange(0):
            pass

    def _write(self, stdin: Any) -> None:
        try:
            self._unsent = self._unsent[os.write(stdin.fileno(), self._unsent[: 1 << 16]) :]
        except BlockingIOError:
            return
        except OSError:  # it reads no further
            self._unsent = self._unsent[:0]
        if not self._unsent:
            self._selector.unregister(stdin)
            stdin.close()

    def _read(self, stream: Any, buffer: bytearray) -> None:
        try:
            piece = os.read(stream.fileno(), 1 << 16)
        except BlockingIOError:
            return
        if not piece:
            self._selector.unregister(stream)
        buffer += piece
        if buffer is self.stderr:
            del buffer[:-MAX_PRINTED_BYTES]
        elif len(buffer) > MAX_DATA_BYTES:
            raise CandidateFailed(f"it printed more than {MAX_DATA_BYTES:,} bytes")


def _pidfd_of(pid: int) -> int | None:
    """Return a descriptor that becomes readable when a process ends, where the system has them."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


# -- data ---------------------------------------------------------------------------------------


def _packed(value: Any) -> Any:
    """Return a value as JSON: whatever has parts, or is bytes, as a pair of a tag and the rest."""
    if isinstance(value, bytes | bytearray | memoryview):
        return ["bytes", binascii.b2a_base64(value, newline=False).decode()]
    if isinstance(value, list | tuple):
        return ["list", [_packed(item) for item in value]]
    if isinstance(value, dict):
        return ["dict", {str(name): _packed(item) for name, item in value.items()}]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{type(value).__name__} is neither a JSON value nor bytes")


def _unpacked(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    tag, body = value
    if tag == "bytes":
        return binascii.a2b_base64(body, strict_mode=True)
    if tag == "list":
        return [_unpacked(item) for item in body]
    return {name: _unpacked(item) for name, item in body.items()}


def _returned(function: str, data: bytes, count: int) -> list[Any]:
    """Read what a child handed back: the candidate may have written anything there."""
    try:
        response = json.loads(data)
        values = [_unpacked(value) for value in response["returned"]]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise CandidateFailed(f"{function} handed back no data") from None
    if len(values) != count:
        raise CandidateFailed(f"{function} handed back {len(values)} values for {count} calls")
    return values


# -- the child ----------------------------------------------------------------------------------


def serve() -> None:
    """In the child: make the calls that stdin asks for; what the candidate prints is its log."""
    response = os.dup(1)
    os.dup2(2, 1)
    request = json.load(sys.stdin)
    sys.path.insert(0, str(Path.cwd()))
    module, _, name = request["function"].partition(":")
    function = getattr(importlib.import_module(module), name)
    returned = [_packed(function(*_unpacked(call))) for call in request["calls"]]
    body = json.dumps({"returned": returned}).encode()
    with open(response, "wb") as file:  # noqa: PTH123 - a descriptor
        file.write(body)


# -- the scorer ---------------------------------------------------------------------------------


class HarnessChannel:
    """The result channel: claimed before any candidate code runs, written once."""

    def __init__(self) -> None:
        number = os.environ.pop(VARIABLE, "")  # noqa: TID251 - set by the slot
        if not number.isdigit():
            raise SystemExit(f"{VARIABLE} is not set: this is run as the scorer of `weft tree`")
        self._fd = int(number)
        os.set_inheritable(self._fd, False)
        self._send(HELLO)

    def send(self, result: Mapping[str, Any]) -> None:
        """Send the result and close the channel."""
        self._send(json.dumps(dict(result), allow_nan=False).encode() + b"\n")
        os.close(self._fd)

    def _send(self, data: bytes) -> None:
        unsent = memoryview(data)
        while unsent:
            unsent = unsent[os.write(self._fd, unsent) :]


def hide_from_children() -> None:
    """Deny other processes of this user to trace this one or to read its /proc, if possible."""
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes  # noqa: PLC0415 - not built everywhere

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


class _SourceLoader(importlib.machinery.SourceFileLoader):
    """Loads a file from its source, never from a `__pycache__` that the candidate may have."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def load_scorer(path: Path) -> ModuleType:
    """Execute the scorer's file, which is trusted, and return it as a module."""
    loader = _SourceLoader("scorer", str(path.absolute()))
    spec = importlib.util.spec_from_loader("scorer", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def main(arguments: Sequence[str]) -> None:
    """Score the candidate in the current folder with the scorer's file, or serve as a child."""
    if list(arguments) == [CHILD]:
        serve()
        return
    channel = HarnessChannel()
    hide_from_children()
    scorer = load_scorer(Path(arguments[0]))
    try:
        result = scorer.score(CandidateProcess(Path.cwd()))
    except CandidateFailed as error:
        raise SystemExit(f"the candidate failed: {error}") from None
    channel.send(result)


if __name__ == "__main__":
    main(sys.argv[1:])
