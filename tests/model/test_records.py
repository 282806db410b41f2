"""Dataclasses are restored by annotation only, unchanged or with a one-line reason why not."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, make_dataclass
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import ValueInvalid
from weft.model import codec
from weft.model.leaves import GatheredBytes, Object, Typed
from weft.model.records import (
    AS_DICT,
    NO_TYPES,
    check_rebuilt,
    rebuild,
    rebuild_args,
    shown,
    types_of,
)
from weft.model.values import decode, encode

T = TypeVar("T")


@pytest.fixture(autouse=True)
def fresh_readers() -> None:
    """Readers are cached per class: each test creates new ones."""
    codec._READERS.clear()


@dataclass(frozen=True)
class Point:
    x: int
    y: float = 0.0
    tags: tuple[str, ...] = ()


@dataclass
class Value:
    """Has the name of one of Weft's own aliases."""

    points: list[Point]
    best: Point | None = None
    more: dict[str, Point] = field(default_factory=dict)
    pair: tuple[int, Point] | None = None


@dataclass
class Loose(Generic[T]):
    item: Any
    rest: tuple = ()


@dataclass
class Data:
    array: npt.NDArray[np.float32]
    frame: pd.DataFrame | None = None
    raw: bytes = b""
    buffer: bytearray = field(default_factory=bytearray)


points = st.builds(
    Point, st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.tuples(st.text("ab"))
)
values = st.builds(
    Value,
    st.lists(points, max_size=3),
    st.none() | points,
    st.dictionaries(st.text("abc", max_size=2), points, max_size=2),
    st.none() | st.tuples(st.integers(), points),
)


def round_trip(value, hint):
    store = GatheredBytes()
    text = encode(value, store)
    assert encode(decode(text)) == text
    after = rebuild(decode(text), hint, store.read)
    check_rebuilt(value, after)
    return after


@given(values | points)
def test_dataclass_comes_back_equal(value):
    assert round_trip(value, Point | Value) == value
    assert round_trip([value], list[Value | Point]) == [value]
    assert round_trip({"k": [value]}, dict[str, list[Value | Point] | None]) == {"k": [value]}


def test_arrays_tables_and_bytes_inside_a_dataclass_come_back():
    data = Data(np.ones(3, "f4"), pd.DataFrame({"a": [1.5, None]}), b"x" * 5000, bytearray(b"y"))
    after = round_trip(data, Data)
    assert (after.array.dtype, after.raw, after.buffer) == ("f4", data.raw, bytearray(b"y"))
    pd.testing.assert_frame_equal(after.frame, data.frame)


def test_numpy_scalars_in_fields_are_the_numbers_they_equal():
    after = round_trip(Point(np.int64(3), np.float32(0.5)), Point)
    assert after == Point(3, 0.5)
    assert (type(after.x), type(after.y)) == (int, float)


@dataclass
class Grid:
    cells: np.ndarray[tuple[int, int], np.dtype[np.float32]]
    table: pa.Table | None = None


def test_array_or_table_of_another_kind_is_named_with_what_it_should_be():
    cells = np.zeros((1, 1), np.float32)
    assert round_trip(Grid(cells), Grid).cells.dtype == np.float32
    for value, hint, words in (
        (Grid(cells.astype(np.float64)), Grid, "is an array of float64, not of float32"),
        (Data(cells[0], frame=cells), Data, "Data.frame is not a pandas.DataFrame"),
        (Grid(cells, table=cells), Grid, "Grid.table is not a pyarrow.Table"),
    ):
        with pytest.raises(ValueInvalid, match=words):
            round_trip(value, hint)


def test_generic_dataclass_and_bare_tuple_come_back():
    assert round_trip(Loose(1, (1, [2])), Loose[int]) == Loose(1, (1, [2]))


@pytest.mark.parametrize(
    ("value", "hint", "words"),
    [
        (Point(1), None, "value at $: a dataclass 'Point', which no annotation names; annotate"),
        (Point(1), int, "which no annotation names"),
        (Point(1), Value | None, "which no annotation names"),
        ([Point(1)], Literal["a"], "which no annotation names"),
        ([Point(1)], list, "which no annotation names"),
        ({"a": Point(1)}, dict[str, int], "which no annotation names"),
        (Point("text"), Point, "value at $: not a Point: field Point.x is not an integer"),
        (Loose(Point(1)), Loose, "value at $.item: a dataclass Point would come back as dict"),
        (Data(np.ones(2)), Data, "field Data.array is an array of float64, not of float32"),
        (Data([1.0]), Data, "field Data.array is not a numpy.ndarray"),
        (Data(np.ones(2, "f4"), raw="text"), Data, "field Data.raw is not bytes"),
        (Data(np.ones(2, "f4"), "text"), Data, "field Data.frame is not a pandas.DataFrame"),
    ],
)
def test_dataclass_that_would_not_come_back_is_one_line(value, hint, words):
    with pytest.raises(ValueInvalid) as caught:
        round_trip(value, hint)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_class_of_the_same_name_is_not_the_class():
    other = make_dataclass("Point", [("x", int), ("y", float), ("tags", list)])
    with pytest.raises(ValueInvalid, match="dataclass Point would come back as Point"):
        round_trip(Point(1), other)


@dataclass
class Strict:
    x: int

    def __post_init__(self):
        if self.x < 0:
            raise KeyError("negative")


@dataclass
class Computed:
    x: int
    y: int = field(init=False, default=0)


def test_error_of_the_class_itself_is_one_line():
    recorded = Typed("dataclass", "Strict", {"x": -1})
    with pytest.raises(ValueInvalid, match=r"value at .*: not a Strict: KeyError: 'negative'"):
        rebuild(recorded, Strict, None)
    with pytest.raises(ValueInvalid, match=r"TypeError: .*unexpected keyword argument 'y'"):
        round_trip(Computed(1), Computed)


def test_unknown_types_give_dicts_and_import_nothing():
    text = encode({"p": Value([Point(1)]), "n": 1})
    loaded = set(sys.modules)
    after = rebuild_args(decode(text), NO_TYPES, None)
    assert after["p"]["points"] == [{"x": 1, "y": 0.0, "tags": []}]
    assert rebuild([decode(encode(Point(1)))], AS_DICT, None) == [{"x": 1, "y": 0.0, "tags": []}]
    assert set(sys.modules) == loaded


def annotated(p: Point, q: Missing, r) -> Missing:  # noqa: F821 - that is what is tested
    pass


def test_annotation_that_cannot_be_resolved_harms_no_other():
    types = types_of(annotated)
    assert types.hint("p") is Point
    assert types.hint("r") is None
    assert rebuild_args({"p": decode(encode(Point(2)))}, types, None) == {"p": Point(2)}
    for hint, value in ((types.hint("q"), Point(1)), (types.returns, [Point(1)])):
        with pytest.raises(ValueInvalid, match="cannot be resolved: NameError: name 'Missing'"):
            rebuild(decode(encode(value)), hint, None)
    with pytest.raises(ValueInvalid, match=r"value at \$\.q: "):
        rebuild_args({"q": decode(encode(Point(1)))}, types, None)


def test_shown_names_what_json_lacks():
    value = {"a": [np.zeros((3, 4)), b"xy", Object("0" * 64), (1, None)], "p": Point(1), "s": {2}}
    assert shown(value) == {
        "a": ["array float64 (3, 4)", "2 bytes", Object("0" * 64), [1, None]],
        "p": {"Point": {"x": 1, "y": 0.0, "tags": []}},
        "s": {2},
    }
    assert shown(np.int64(3)) == 3


@dataclass
class Inner:
    x: int


def test_dataclass_that_does_not_come_back_is_named_by_its_place():
    for before, after, place in (
        ([Inner(1)], [{"x": 1}], "$[0]"),
        ((0, Inner(1)), (0, {"x": 1}), "$[1]"),
        ({"k": Inner(1)}, {"k": {"x": 1}}, "$['k']"),
    ):
        with pytest.raises(ValueInvalid, match="a dataclass Inner would come back as dict") as bad:
            check_rebuilt(before, after)
        assert bad.value.path == place
    check_rebuilt([Inner(1)], [Inner(1)])


def test_class_of_the_same_name_that_is_no_dataclass_is_no_annotation_for_it():
    class Inner:
        def __init__(self, x):
            self.x = x

    with pytest.raises(ValueInvalid, match="a dataclass 'Inner', which no annotation names"):
        rebuild(Typed("dataclass", "Inner", {"x": 1}), Inner, lambda reference: b"")
