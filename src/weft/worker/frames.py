"""Messages between coordinator and worker: a length, then one JSON array.

`ToWorker` and `FromWorker` list the messages. They are typed as tuples because each position has
its own type; a received message is a list.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator
from json.scanner import make_scanner
from typing import Any, Generic, Literal, NotRequired, TypeAlias, TypedDict, TypeVar

from weft.model.attempts import LossCause
from weft.model.tasks import Code
from weft.model.values import C_ENCODER, compact_json

_LENGTH = struct.Struct(">I")
RECEIVE_BYTES = 1 << 18
"""More than a socket buffer holds."""
MAX_FRAME_BYTES = 1 << 30
"""Far more than a block of the largest values; a longer frame is rejected as an error."""
_encode = compact_json(C_ENCODER, sort_keys=False)
_scan = make_scanner(json.JSONDecoder())  # type: ignore[arg-type] # typeshed
"""Decodes the value at a position; for short messages at a third of the cost of `json.loads`."""


class Hello(TypedDict):
    """What a worker receives at its start."""

    seed: int
    path: list[str]
    objects: str
    staging: str
    logs: str
    attempts: str
    slot: str
    folder: str
    python: str
    run_id: str
    kept_folder: str | None
    allow_paths: list[str]
    genesis: str
    page: int
    """Descriptor of the page where starts are marked."""
    sandbox: str | None
    """The program that confines commands; empty if there is none, None if not checked yet."""
    secrets: dict[str, str]
    """Variables for commands that request them by name; no worker has them in its environment."""
    outcome_token: str
    """Authenticates the run's outcome files; empty if none are written."""


class ResultBody(TypedDict):
    """A result on its way to the coordinator, with only the fields that are set."""

    run_s: float
    value: NotRequired[str | None]
    error: NotRequired[tuple[str, str, int | None]]
    detail: NotRequired[str]
    retriable: NotRequired[bool]
    staged: NotRequired[list[tuple[str, str]]]
    notes: NotRequired[str]
    log: NotRequired[str]
    """Where the worker saved the task's output, relative to the folder of logs."""


AssignmentRow: TypeAlias = tuple[
    int, str, str, str, int, int, str, int, int, float | None, int | None, Code
]
"""The fields of an `Assignment`, in order; the arguments of all its tasks are the text of one
JSON array."""
ToWorker: TypeAlias = (
    tuple[Literal["hello"], Hello]
    | tuple[Literal["run"], list[AssignmentRow]]
    | tuple[Literal["drop"], list[int]]
    | tuple[Literal["return"]]
    | tuple[Literal["flush"]]
)
"""`drop` names tickets whose results are no longer needed, `return` requests all unstarted tasks,
`flush` the waiting results."""
EndMessage: TypeAlias = (
    tuple[Literal["finished"], int, ResultBody] | tuple[Literal["lost"], int, str, str, LossCause]
)
TaskMessage: TypeAlias = (
    tuple[Literal["started"], int]
    | tuple[Literal["entered"], int]
    | tuple[Literal["completed"], int, list[str], list[int]]
    | EndMessage
)
"""What happened to the attempt with this ticket; `completed` covers one ticket per value."""
FromWorker: TypeAlias = tuple[Literal["ready"]] | TaskMessage | tuple[Literal["dropped"], list[int]]
Message = TypeVar("Message", ToWorker, FromWorker)


def pack(message: ToWorker | FromWorker) -> bytes:
    """Encode one message as a frame."""
    data = _encode(message).encode()
    return _LENGTH.pack(len(data)) + data


class ProtocolError(Exception):
    """Bytes or messages that no intact process sends."""


class Unpacker(Generic[Message]):
    """Collects received bytes and returns the complete messages in them."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._received = memoryview(bytearray(RECEIVE_BYTES))

    def receive(self, channel: socket.socket) -> list[Message] | None:
        """Return the messages completed by what a socket has received; None at its end.

        The bytes are read into a preallocated buffer: `recv` would allocate a new one for a few
        bytes, which takes longer than a tiny task.
        """
        size_bytes = channel.recv_into(self._received)
        return list(self.feed(self._received[:size_bytes])) if size_bytes else None

    def feed(self, data: bytes | memoryview) -> Iterator[Message]:
        """Yield each message that more bytes complete; raises ProtocolError for anything else."""
        buffer = self._buffer
        buffer += data
        start = 0
        while len(buffer) - start >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(buffer, start)
            end = start + _LENGTH.size + length
            if length > MAX_FRAME_BYTES:
                raise ProtocolError(f"a frame of {length} bytes")
            if len(buffer) < end:
                break
            yield _message(buffer[start + _LENGTH.size : end])
            start = end
        del buffer[:start]


def _message(data: bytes | bytearray) -> Any:
    """Decode one JSON text; raises ProtocolError for anything else."""
    try:
        text = data.decode()
        message, end = _scan(text, 0)
    except StopIteration:
        raise ProtocolError("not JSON") from None
    except ValueError as error:
        raise ProtocolError(str(error)) from None
    if end != len(text):
        raise ProtocolError(f"more than one JSON text: {text[end:]!r:.40}")
    return message
