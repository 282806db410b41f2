"""Dataclasses as JSON objects: written objects are read back, and deviations are named."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import LedgerDamaged
from weft.model import codec
from weft.model.codec import Table, from_json, to_json
from weft.model.values import Object, Value, decode, encode

DIGEST = "ab" * 32


@pytest.fixture(autouse=True)
def fresh_readers() -> None:
    """Readers are cached per class: each test creates new ones."""
    codec._READERS.clear()


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: float = 0.5


@dataclass(frozen=True, slots=True)
class Shape:
    name: str
    points: tuple[Point, ...]
    span: tuple[int, str]
    weights: Mapping[str, float]
    kind: Literal["open", "closed"] = "open"
    schema_version: Literal[1] = 1
    source: Object | None = None
    label: str | int | None = None
    parts: list[Shape] = field(default_factory=list)
    note: Value = None
    flag: bool = False


SHAPES = st.builds(
    Shape,
    name=st.text(max_size=5),
    points=st.lists(st.builds(Point, st.integers(-9, 9), st.floats(-1, 1))).map(tuple),
    span=st.tuples(st.integers(0, 9), st.text(max_size=3)),
    weights=st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=3),
    kind=st.sampled_from(["open", "closed"]),
    source=st.sampled_from([None, Object(DIGEST)]),
    label=st.sampled_from([None, "a", 3]),
    flag=st.booleans(),
)


@given(SHAPES, st.lists(SHAPES, max_size=2))
def test_what_is_written_is_read_again(shape: Shape, parts: list[Shape]) -> None:
    whole = Shape("whole", (), (1, "a"), {}, parts=[shape, *parts], note=[1, {"a": None}])
    assert from_json(Shape, decode(encode(to_json(whole)))) == whole


def test_table_needs_no_import_of_what_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The alias `Table` names `Value`, which the module of a dataclass may not have imported."""
    module = ModuleType("somewhere")
    monkeypatch.setitem(sys.modules, "somewhere", module)
    vars(module).update(dataclass=dataclass, Table=Table)
    exec("@dataclass\nclass Held:\n    table: Table", vars(module))
    held: type[Any] = module.Held
    assert from_json(held, {"table": {"a": [1]}}).table == {"a": [1]}


def test_fields_are_written_in_declared_order() -> None:
    assert list(to_json(Point(1))) == ["x", "y"]
    assert to_json(Shape("s", (Point(1),), (2, "b"), {"w": 1.0}))["points"] == [{"x": 1, "y": 0.5}]


def test_missing_field_takes_its_default_and_an_unknown_key_is_ignored() -> None:
    assert from_json(Point, {"x": 1, "later": True}) == Point(1, 0.5)
    assert from_json(Shape, _raw()).parts == []


def _raw(**changes: Value) -> dict[str, Value]:
    return {"name": "s", "points": [], "span": [1, "a"], "weights": {}} | changes


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ([], "Shape is not an object"),
        ({}, "Shape.name is missing"),
        (_raw(name=1), "Shape.name is not text"),
        (_raw(points={}), "Shape.points is not a list"),
        (_raw(points=[{"x": 1}, {"x": True}]), "Shape.points[1].x is not an integer"),
        (_raw(points=[{"x": 1, "y": "1"}]), "Shape.points[0].y is not a number"),
        (_raw(span=[1]), "Shape.span is not a list of 2"),
        (_raw(span=[1, 2]), "Shape.span[1] is not text"),
        (_raw(weights=[]), "Shape.weights is not an object"),
        (_raw(kind="half"), "Shape.kind is not 'open' or 'closed'"),
        (_raw(schema_version=2), "Shape.schema_version is not 1"),
        (_raw(schema_version=True), "Shape.schema_version is not 1"),
        (_raw(source="x"), "Shape.source is not a reference to an object"),
        (_raw(label=[]), "Shape.label is not an integer"),
        (_raw(parts=[{}]), "Shape.parts[0].name is missing"),
        (_raw(flag=0), "Shape.flag is not true or false"),
    ],
)
def test_field_of_another_type_is_damage_and_named(raw: object, problem: str) -> None:
    with pytest.raises(LedgerDamaged) as error:
        from_json(Shape, raw)
    assert str(error.value) == f"a record's field {problem}"


@dataclass(frozen=True, slots=True)
class Odd:
    one: tuple[int] = (1,)
    maybe: int | None = None


def test_tuple_of_one_and_a_value_that_may_be_missing_are_read():
    assert from_json(Odd, {"one": [5], "maybe": None}) == Odd((5,), None)
    with pytest.raises(LedgerDamaged) as caught:
        from_json(Odd, {"maybe": "x"})
    with pytest.raises(LedgerDamaged) as plain:
        from_json(Point, {"x": "x"})
    expected = str(plain.value).replace("Point.x", "Odd.maybe")
    assert str(caught.value) == expected, "not that it is not null"
