r"""Texts of a report: visible escapes, bounded texts, numbers with their units.

>>> visible("a\u202eb")
'a\\u202eb'
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

from weft.errors import WeftError
from weft.model.results import TaskError
from weft.model.values import JsonValue, Object, Typed, Value, decode

LONG_INT_BITS = 4096
CUT = "… ({:,} characters in all)"
_LONG_DIGEST = re.compile(r"([0-9a-f]{12})[0-9a-f]{28,}")


def visible(text: str, *, lines: bool = False) -> str:
    """Replace control characters, direction marks and lone surrogates by escapes.

    With `lines`, line breaks and tabs are kept.
    """
    if text.isprintable():
        return text
    allowed = "\n\t" if lines else ""
    return "".join(c if c.isprintable() or c in allowed else ascii(c)[1:-1] for c in text)


def clip(text: str, limit_bytes: int, *, lines: bool = False) -> str:
    """Make a text visible and truncate it so that its JSON form stays near `limit_bytes`."""
    printable = visible(text[: limit_bytes + 1], lines=lines)
    if len(text) <= limit_bytes and weight(printable) <= limit_bytes:
        return printable
    low, high = 0, len(printable)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (
            (middle, high) if weight(printable[:middle]) <= limit_bytes else (low, middle - 1)
        )
    return printable[:low] + CUT.format(len(text))


def weight(text: str) -> int:
    """Return the size of a text in a page, in bytes: UTF-8, with quotes and markup escaped."""
    escaped = text.count("<") + text.count(">") + text.count("&")
    return len(text.encode()) + 5 * escaped + text.count('"') + text.count("\\")


def value_text(recorded: str) -> str:
    """Return a recorded value as readable JSON: numbers untagged, an array by its shape."""
    if '"$' not in recorded:
        return recorded
    try:
        return json.dumps(shown_value(decode(recorded)), ensure_ascii=False, separators=(",", ":"))
    except (WeftError, ValueError, RecursionError):
        return recorded


def shown_value(value: Value) -> JsonValue:
    """Return a value as readable JSON: an object by its digest, an array by its shape."""
    if isinstance(value, Object):
        return {"object": value.digest}
    if isinstance(value, Typed):
        fields = value.payload
        return {value.summary: shown_value(fields)} if isinstance(fields, dict) else value.label
    if isinstance(value, int) and value.bit_length() > LONG_INT_BITS:
        return hex(value)
    if isinstance(value, dict):
        return {key: shown_value(item) for key, item in value.items()}
    return [shown_value(item) for item in value] if isinstance(value, list) else value


def failure_text(recorded: str) -> str:
    """Describe a recorded failure in a few words: type, stage unless it is `run`, exit code."""
    try:
        error = TaskError.from_text(recorded)
    except (ValueError, KeyError, TypeError, AttributeError):
        return recorded
    stage = "" if error.stage == "run" else f" in {error.stage}"
    code = "" if error.exit_code is None else f", exit code {error.exit_code}"
    return f"{error.type}{stage}{code}"


def duration(seconds: float | None) -> str:
    """Return a duration in a suitable unit."""
    if seconds is None:
        return "–"
    if not seconds:
        return "0 s"
    for limit, factor, unit in ((0.001, 1e6, "µs"), (1.0, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    if seconds < 100:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


def rate(per_s: float | None) -> str:
    """Return a rate in tasks per second, or per minute or hour if it is low."""
    if not per_s:
        return "–"
    for factor, unit in ((1, "s"), (60, "min")):
        if per_s * factor >= 1:
            return f"{per_s * factor:,.3g} / {unit}" if per_s < 1000 else f"{per_s:,.0f} / s"
    return f"{per_s * 3600:.3g} / h"


def number(value: float) -> str:
    """Return a count with thousands separators."""
    return f"{value:,}"


def short_digests(text: str) -> str:
    """Shorten each digest in a text to its first twelve digits."""
    return _LONG_DIGEST.sub(r"\1…", text)


def percent(share: float | None) -> str:
    """Return a share between 0 and 1 as a percentage."""
    return "–" if share is None else f"{100 * share:.0f} %"


def moment(at: float | None) -> str:
    """Return a wall-clock time in UTC; empty for None, `at NUMBER` if it is out of range."""
    try:
        return "" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return f"at {at!r}"


def counted(count: int, what: str) -> str:
    """Return a count with its noun: `1 task`, `12 tasks`."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def some(shown: int, total: int, what: str) -> str:
    """Return how many of a list are shown: `12 tasks`, `showing 2,000 of 100,000 tasks`."""
    return counted(total, what) if shown == total else f"showing {shown:,} of {total:,} {what}s"
