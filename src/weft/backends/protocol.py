"""Checks messages from workers before they take effect.

A worker runs other people's code in its own process: a native library that overwrites memory, or a
task that finds the socket, can make it send anything. A worker that sends what no intact worker
would send is killed, and its tasks run elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast, get_args

from weft.model.attempts import LossCause
from weft.worker.frames import ProtocolError

Held = Mapping[int, object]
"""The tickets that a worker holds."""
_ROWS = (list, tuple)
"""An array on a socket is a list; delivered by Ray it may be a tuple."""


def check_message(message: object, held: Held) -> None:
    """Raise ProtocolError unless the message has a known form and is about tickets held."""
    if not isinstance(message, _ROWS) or not message or message[0] not in _CHECKS:
        raise ProtocolError(f"no such message: {message!r:.80}")
    if not _CHECKS[message[0]](message[1:], held):
        raise ProtocolError(f"a message that does not fit what it was given: {message!r:.80}")


def _is_about_one(rest: Sequence[Any], _: Held) -> bool:
    """Whether it names one ticket, held or not: a node may report a start after the task's end."""
    return len(rest) == 1 and type(rest[0]) is int


def _is_block(rest: Sequence[Any], held: Held) -> bool:
    if len(rest) != 3:
        return False
    ticket, values, run_us = rest
    return (
        _is_list_of(values, str)
        and _is_list_of(run_us, int)
        and len(values) == len(run_us) > 0
        and type(ticket) is int
        and all(map(held.__contains__, range(ticket, ticket + len(values))))
    )


def _is_end(rest: Sequence[Any], held: Held) -> bool:
    if len(rest) != 2 or not _is_held(rest[0], held) or not isinstance(rest[1], dict):
        return False
    body = rest[1]
    return "run_s" in body and all(
        name in _FIELDS and _FIELDS[name](value) for name, value in body.items()
    )


def _is_loss(rest: Sequence[Any], held: Held) -> bool:
    return (
        len(rest) == 4
        and _is_held(rest[0], held)
        and _is_list_of(rest[1:], str)
        and rest[3] in get_args(LossCause)
    )


def _is_return(rest: Sequence[Any], held: Held) -> bool:
    return (
        len(rest) == 1
        and _is_list_of(rest[0], int)
        and len(dict.fromkeys(rest[0])) == len(rest[0])
        and all(ticket in held for ticket in rest[0])
    )


def _is_held(ticket: object, held: Held) -> bool:
    return type(ticket) is int and ticket in held


def _is_list_of(value: object, kind: type) -> bool:
    return isinstance(value, _ROWS) and {*map(type, value)} <= {kind}


def _is_pair(value: object) -> bool:
    return _is_list_of(value, str) and len(cast(Sequence[object], value)) == 2


def _is_error(value: object) -> bool:
    return (
        isinstance(value, _ROWS)
        and len(value) == 3
        and _is_list_of(value[:2], str)
        and type(value[2]) in (int, type(None))
    )


_CHECKS: dict[object, Callable[[Sequence[Any], Held], bool]] = {
    "ready": lambda rest, _: not rest,
    "started": _is_about_one,
    "entered": _is_about_one,
    "completed": _is_block,
    "finished": _is_end,
    "lost": _is_loss,
    "dropped": _is_return,
}
_FIELDS: dict[object, Callable[[object], bool]] = {
    "run_s": lambda value: type(value) in (int, float),
    "value": lambda value: type(value) in (str, type(None)),
    "error": _is_error,
    "detail": lambda value: type(value) is str,
    "retriable": lambda value: type(value) is bool,
    "staged": lambda value: isinstance(value, _ROWS) and all(map(_is_pair, value)),
    "notes": lambda value: type(value) is str,
    "log": lambda value: type(value) is str,
}
"""The fields of a `ResultBody`."""
