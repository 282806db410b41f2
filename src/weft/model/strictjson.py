"""One strict JSON reader for every file that comes from outside.

Standard `json` accepts repeated keys, NaN, byte order marks and integers of any length; a file
with one of these means different things to different readers, so it is refused with a
FileInvalid: one line with the place, the reason and what to do. Works on bytes and does not know
where they come from.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from weft.errors import FileInvalid
from weft.model.values import JsonValue

MAX_INT_DIGITS = 4000
CORRECT_IT = "correct it there"
SAVE_AS_UTF8 = "save it as UTF-8 without a byte order mark"
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"(\s*:)?|[{}]|[^\s{}\[\],:"]+')


def loads(
    data: bytes | str, *, where: str, max_bytes: int = 64 * 2**20, hint: str = CORRECT_IT
) -> Any:
    """Read one JSON document; an error names its source, `where`, and ends with the advice `hint`.

    Empty documents and documents in another encoding get specific advice instead.
    """
    if len(data) > max_bytes:
        raise FileInvalid(f"{where}: {len(data)} bytes, more than the {max_bytes} allowed")
    text = data if isinstance(data, str) else _text(data, where)
    if not text.strip():
        raise FileInvalid(f"{where}: is empty", hint="it should hold JSON")
    if text.startswith("\ufeff"):
        raise FileInvalid(f"{where}: starts with a byte order mark (BOM)", hint=SAVE_AS_UTF8)
    try:
        return _value(text, may_have_surrogates="\\u" in text or text is data)
    except _RefusedError as error:
        raise FileInvalid(f"{where}: {error.reason}", hint=hint) from None


def _value(text: str, *, may_have_surrogates: bool) -> JsonValue:
    try:
        value: JsonValue = (_CAREFUL if _may_have_long_integers(text) else _QUICK).decode(text)
        if may_have_surrogates:
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise _RefusedError(f"not valid JSON: {error.msg}{_place(text, error.pos)}") from None
    except _TokenRefusedError as error:
        raise _RefusedError(f"{error.reason}{_place(text, _find(text, error.token))}") from None
    except _KeyRepeatedError:
        key, pos = next(_repeated_keys(text))
        raise _RefusedError(f"duplicate key {json.dumps(key[:40])}{_place(text, pos)}") from None
    except RecursionError:
        raise _RefusedError("nested too deeply") from None
    except UnicodeEncodeError:
        raise _RefusedError("a lone surrogate, which is not Unicode text") from None
    return value


class _RefusedError(Exception):
    """Why a document is refused, and where in it."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


class _KeyRepeatedError(Exception):
    pass


class _TokenRefusedError(Exception):
    def __init__(self, reason: str, token: str) -> None:
        self.reason, self.token = reason, token


def _unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise _KeyRepeatedError
    return fields


def _int(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_INT_DIGITS:
        raise _TokenRefusedError(f"an integer of more than {MAX_INT_DIGITS} digits", digits)
    return int(digits)


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _TokenRefusedError("a number too large for a float", digits)
    return number


def _constant(name: str) -> NoReturn:
    raise _TokenRefusedError(f"{name} is not JSON", name)


def _may_have_long_integers(text: str) -> bool:
    """Whether an integer may be too long: such an integer fills at least one block with digits."""
    block = MAX_INT_DIGITS // 2
    return any(text[at : at + block].isdigit() for at in range(0, len(text), block))


_CAREFUL, _QUICK = (
    json.JSONDecoder(
        object_pairs_hook=_unique, parse_int=read, parse_float=_float, parse_constant=_constant
    )
    for read in (_int, int)
)
"""`_QUICK` calls `int` from C, which halves the time for a file of small integers."""


def _text(data: bytes, where: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        place = _place(before, len(before))
        raise FileInvalid(f"{where}: not valid UTF-8{place}", hint=SAVE_AS_UTF8) from None


def _find(text: str, token: str) -> int:
    return next((m.start() for m in _TOKEN.finditer(text) if m[0].startswith(token)), 0)


def _repeated_keys(text: str) -> Iterator[tuple[str, int]]:
    """Yield repeated keys and their positions; the text must be valid up to the first."""
    open_objects: list[set[str]] = []
    for match in _TOKEN.finditer(text):
        if match[0] == "{":
            open_objects.append(set())
        elif match[0] == "}":
            open_objects.pop()
        elif match[1]:
            key = json.loads(match[0].removesuffix(match[1]))
            if key in open_objects[-1]:
                yield key, match.start()
            open_objects[-1].add(key)


def _place(text: str, pos: int) -> str:
    line, column = text.count("\n", 0, pos) + 1, pos - text.rfind("\n", 0, pos)
    return f" (line {line} column {column})"
