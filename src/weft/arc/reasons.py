"""Why an answer was believed or refused, in words and numbers, from what a run recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.arc.evidence import Evidence


def weighed(weighing: Mapping[str, Any] | None) -> str:
    """Say what decided about the best answer; empty where there was none to decide about."""
    if weighing is None:
        return ""
    alone, limit = weighing["alone_millibits"], weighing["limit_millibits"]
    price = weighing["price_millibits"] + alone
    lone = f", {_bits(alone)} as few programs agree" if alone else ""
    if price > limit:
        return f"refused: {_bits(price)} bits with doubts{lone}; {_bits(limit)} are believed"
    margin, needed = weighing["margin_millibits"], weighing["needed_millibits"]
    if margin is None:
        return f"believed: {_bits(price)} of {_bits(limit)} bits{lone}; nothing contradicts it"
    bound = "none may be" if needed is None else f"more than {_bits(needed)} needed"
    clear = needed is not None and margin > needed
    word = "believed" if clear else "refused"
    return f"{word}: the strongest competitor is {_bits(margin)} bits dearer, {bound}"


def doubts(raw: Mapping[str, Any] | None) -> str:
    """Say what speaks for and against a program; empty where it was not examined."""
    if raw is None:
        return ""
    found = Evidence.from_dict(raw)
    said = []
    if found.foretold < found.wanted:
        said.append(f"{found.foretold} of {found.wanted} pairs foretold")
    if found.refuted:
        said.append(f"{found.refuted} foretold wrongly")
    if found.turned:
        said.append(f"says otherwise when the task is turned or recoloured ({found.turned} ways)")
    said += [f"breaks the law of {name}" for name in found.broken]
    if not said:
        return ""
    return f"{_bits(found.doubt_millibits)} bits of doubt: {', '.join(said)}"


def _bits(millibits: int) -> str:
    return f"{millibits / 1000:.1f}"
