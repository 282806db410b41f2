"""A worker that sends an invalid message before its first results, as WEFT_FAULTS_LIE asks.

`NAME:COUNT` gives the lie and the number of workers of the run that tell it. Files beside the
executions count them.
"""

import os
import struct
from pathlib import Path

from weft.worker import loop
from weft.worker.frames import pack

_name, _, _count = os.environ["WEFT_FAULTS_LIE"].partition(":")
_told = Path(os.environ["WEFT_FAULTS_EXECUTIONS"]).with_name("lies")


def _may_lie() -> bool:
    """Whether this worker is one of the liars; each counts once."""
    _told.mkdir(exist_ok=True)
    if (_told / str(os.getpid())).exists() or len(list(_told.iterdir())) >= int(_count):
        return False
    (_told / str(os.getpid())).touch()
    return True


def _frame(text: bytes) -> bytes:
    return struct.pack(">I", len(text)) + text


def _lies(ticket: int) -> bytes:
    far = ticket + 1_000_000
    return {
        "foreign-ticket": pack(("completed", far, ["1"], [1])),
        "negative-ticket": pack(("finished", -1, {"run_s": 0.1, "value": "1"})),
        "too-many-values": pack(("completed", ticket, ["1"] * 5000, [1] * 5000)),
        "fewer-times": pack(("completed", ticket, ["1"], [])),
        "value-no-text": pack(("completed", ticket, [1], [1])),
        "unknown-kind": pack(("trust-me", ticket)),
        "no-list": _frame(b'{"completed":1}'),
        "no-json": _frame(b"\xff\x00 not json"),
        "huge-frame": struct.pack(">I", 0xFFFF_FFFF) + b"x",
        "lost-of-nobody": pack(("lost", far, "gone", "", "worker")),
        "dropped-twice": pack(("dropped", [ticket, ticket])),
        "wrong-body": pack(("finished", ticket, {"run_s": "soon", "value": 7})),
    }[_name]


def _lying_pack(message):
    honest = pack(message)
    if message[0] not in ("completed", "finished") or not _may_lie():
        return honest
    return honest * 2 if _name == "repeated" else _lies(message[1]) + honest


loop.pack = _lying_pack
