"""Recorded values in words: no tag remains, equal words mean equal values, damage is shown."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest

from weft.model.leaves import Object, Typed
from weft.model.values import canonical, to_wire
from weft.model.wording import fields_of, readable, tag_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (2**70, str(2**70)),
        (Object("ab" * 32), "object abababababab…"),
        (np.zeros((2, 3)), "array float64 (2, 3) of SHA-256 "),
        (b"abc", "3 bytes of SHA-256 ba7816bf8f01…"),
    ],
)
def test_tagged_value_is_written_by_what_it_is(value, text):
    assert tag_text(to_wire(value)).startswith(text)


def test_arrays_of_one_shape_differ_in_words_where_they_differ():
    zeros, ones = (tag_text(to_wire(make(3))) for make in (np.zeros, np.ones))
    assert zeros != ones
    assert zeros == tag_text(to_wire(np.zeros(3)))


@pytest.mark.parametrize("value", [None, 3, "a", [0.5], {"a": 0.5}, {"$f": 1.0, "b": 2}])
def test_value_without_a_tag_of_its_own_has_no_such_text(value):
    assert tag_text(to_wire(value)) is None
    assert fields_of(to_wire(value)) is None


@pytest.mark.parametrize(
    "wire", ['{"$f":"x"}', '{"$i":3}', '{"$o":"short"}', '{"$t":[1,2]}', '{"$t":["a","b","!"]}']
)
def test_damaged_tag_is_shown_as_it_is(wire):
    assert "$" in readable(f'{{"x":{wire}}}')
    assert "$" in tag_text(json.loads(wire))


@dataclass(frozen=True)
class Point:
    x: int
    y: float


def test_value_of_another_library_is_called_by_its_kind():
    assert Typed("a.Kind", "of 3 rows", b"").label == "a.Kind of 3 rows"


def test_letters_of_any_language_stay_as_they_are():
    assert readable(canonical(to_wire({"größe": 0.5}))) == '{"größe": 0.5}'


def test_tag_beside_another_key_is_no_dataclass():
    assert fields_of({**to_wire(Point(1, 0.5)), "b": 1}) is None


def test_fields_of_a_dataclass_are_compared_one_by_one():
    assert fields_of(to_wire(Point(1, 0.5))) == {"x": 1, "y": {"$f": "0.5"}}
