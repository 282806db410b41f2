"""Checked access to parsed JSON: one type per field, and a refusal that names the place."""

from __future__ import annotations

import pytest

from weft.errors import FileInvalid
from weft.model import jsonfields

VALUES = {
    "an object": {"a": 1},
    "an array": [1],
    "a text": "x",
    "true or false": True,
    "null": None,
}
ACCESSORS = {
    "an array": jsonfields.as_array,
    "a text": jsonfields.as_text,
    "an integer": jsonfields.as_integer,
}


@pytest.mark.parametrize("expected", ACCESSORS)
@pytest.mark.parametrize("kind", [*VALUES, "an integer", "a number"])
def test_accessor_takes_its_own_type_and_refuses_every_other(expected: str, kind: str) -> None:
    value = {**VALUES, "an integer": 7, "a number": 1.5}[kind]
    if kind == expected:
        assert ACCESSORS[expected](value, "f.json") == value
        return
    name = "a number" if kind == "an integer" else kind
    with pytest.raises(FileInvalid) as refusal:
        ACCESSORS[expected](value, "f.json: place")
    assert str(refusal.value) == f"f.json: place: {name} where {expected} should be"
