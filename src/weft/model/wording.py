"""Recorded values in readable form, without the tags of their encoding (see `values`).

Numbers are written as such; arrays, tables and bytes are described, or, where two are compared,
described with the beginning of a hash of their content.
"""

from __future__ import annotations

import json
from typing import Any

from weft.errors import WeftError
from weft.model.keys import sha256_hex
from weft.model.leaves import DATACLASS, Object, Typed
from weft.model.records import shown
from weft.model.values import JsonValue, canonical, from_wire, parse_trusted

TAGS = {"$f", "$i", "$o", "$t"}
SHOWN_DIGITS = 12


def readable(recorded: str) -> str:
    """Return the text of a recorded value in readable form.

    >>> readable('{"x":{"$f":"0.5"}}')
    '{"x": 0.5}'
    """
    if '"$' not in recorded:
        return recorded
    try:
        value = shown(from_wire(parse_trusted(recorded)))
    except WeftError:  # from a damaged ledger: return it unchanged
        return recorded
    return json.dumps(value, ensure_ascii=False, default=repr)


def tag_text(wire: JsonValue) -> str | None:
    """Describe a tagged value so that different values read differently; None without a tag.

    >>> tag_text({"$f": "0.5"}), tag_text({"$i": "0x40000000000000"}), tag_text([1])
    ('0.5', '18014398509481984', None)
    """
    if not isinstance(wire, dict) or len(wire) != 1 or not wire.keys() <= TAGS:
        return None
    try:
        value: Any = from_wire(wire)
    except WeftError:
        return canonical(wire)
    if isinstance(value, Object):
        return f"object {value.digest[:SHOWN_DIGITS]}…"
    if not isinstance(value, Typed):
        return str(value)
    payload = value.payload
    data = payload if isinstance(payload, bytes) else repr(payload).encode()
    digest = payload.digest if isinstance(payload, Object) else sha256_hex(data)
    return f"{value.label} of SHA-256 {digest[:SHOWN_DIGITS]}…"


def fields_of(wire: JsonValue) -> dict[str, JsonValue] | None:
    """Return the fields of a recorded dataclass; None for any other value."""
    match wire:
        case {"$t": [kind, _, dict() as content], **more} if kind == DATACLASS and not more:
            return content
    return None
