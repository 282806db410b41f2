"""Typed values: a value is restored as it was, and equal contents have equal texts.

Every law is checked through the text, as a ledger contains it. `test_forged` covers values that
were never encoded.
"""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from weft.errors import InputError, ValueInvalid
from weft.model import natives
from weft.model.leaves import INLINE_BYTES, GatheredBytes, Typed
from weft.model.natives import restore
from weft.model.values import decode, decode_trusted, encode, objects_in

DTYPES = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.floating_dtypes(sizes=(16, 32, 64)),
    hnp.complex_number_dtypes(sizes=(64, 128)),
    hnp.byte_string_dtypes(min_len=1),
    hnp.unicode_string_dtypes(min_len=1),
    hnp.datetime64_dtypes(),
    hnp.timedelta64_dtypes(),
)
ARRAYS = hnp.arrays(DTYPES, hnp.array_shapes(min_dims=0, min_side=0, max_side=4))


def round_trip(value):
    """Encode, read back strictly, and restore; the text must not depend on the store."""
    store = GatheredBytes()
    text = encode(value, store)
    recorded = decode(text)
    assert encode(recorded) == text
    assert encode(value) == text, "the text is the same without a store"
    assert sorted(objects_in(text)) == sorted(store.objects)
    return restore(recorded, store.read) if isinstance(recorded, Typed) else recorded


# -- NumPy --------------------------------------------------------------------------------------


@given(ARRAYS, st.sampled_from("CFA"))
@settings(max_examples=60)
def test_array_comes_back_with_dtype_shape_order_and_bits(array, order):
    array = array.copy(order) if order != "A" else array[::-1] if array.ndim else array
    back = round_trip(array)
    assert type(back) is np.ndarray
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert back.dtype.str == array.dtype.str, "byte order too"
    assert back.tobytes() == array.tobytes(), "NaNs bit by bit"
    assert back.flags.writeable
    if array.flags.c_contiguous or array.flags.f_contiguous:
        assert back.flags.f_contiguous == array.flags.f_contiguous
        assert back.flags.c_contiguous == array.flags.c_contiguous


@given(hnp.arrays(st.sampled_from([np.float64, np.int16]), st.integers(0, 1200)))
@settings(max_examples=30)
def test_array_bytes_are_what_numpy_itself_can_read(array):
    _, data = natives.arrays.write_array(array)
    assert (np.load(io.BytesIO(data), allow_pickle=False) == array).all() or np.isnan(array).any()


def test_equal_arrays_have_one_text_whatever_their_memory():
    plain = np.arange(12.0).reshape(3, 4)
    padded = np.zeros((3, 9))[:, 1:5]
    padded[:] = plain
    assert encode(padded) == encode(plain) == encode(np.ascontiguousarray(padded))
    assert encode(np.asfortranarray(plain)) != encode(plain), "order is part of the value"


def test_array_of_columns_comes_back_in_their_order():
    array = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    back = round_trip(array)
    assert back.flags.f_contiguous
    assert back.tolist() == array.tolist()


def test_header_is_padded_to_the_next_multiple_and_no_further():
    shapes = [(0, 10**digits, *[1] * more) for digits in range(4) for more in range(22)]
    headers = [natives.arrays.write_array(np.zeros(shape, "i1"))[1] for shape in shapes]
    assert {len(header) % 64 for header in headers} == {0}
    assert {len(header) - len(header.rstrip(b" \n")) for header in headers} == {*range(1, 65)}


@pytest.mark.parametrize(
    ("scalar", "expected"),
    [
        (np.int64(-(2**63)), -(2**63)),
        (np.uint64(2**64 - 1), 2**64 - 1),
        (np.int8(3), 3),
        (np.bool_(True), True),
        (np.float64(0.1), 0.1),
        (np.float32(0.1), 0.10000000149011612),
        (np.float16(0.1), 0.0999755859375),
        (np.float64(-0.0), -0.0),
        (np.str_("é"), "é"),
        (np.bytes_(b"ab"), b"ab"),
    ],
)
def test_numpy_scalar_is_the_python_value_it_equals(scalar, expected):
    back = round_trip(scalar)
    assert type(back) is type(expected)
    assert repr(back) == repr(expected)
    assert encode({"x": [scalar]}) == encode({"x": [expected]})


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.array([1, "a", None], dtype=object), "dtype object) is not stored; give it a numeric"),
        (np.zeros(2, dtype=[("a", "i4"), ("b", "O")]), "dtype object) is not stored"),
        (np.zeros(2, dtype=[("a", "i4")]), "is not stored; split a structured array"),
        (np.zeros(2, np.longdouble), "is not stored"),
        (np.zeros(2, "V3"), "is not stored"),
        (np.ma.masked_array([1, 2]), "numpy.MaskedArray would come back as a plain array"),
        (np.longdouble(1), "numpy.longdouble scalar has no exact Python number; pass float(x)"),
        (np.complex128(1j), "[z.real, z.imag]"),
        (np.timedelta64(1, "s"), "str(date)"),
        (np.float32("nan"), "nan is not a JSON number; return None or a str in its place; inside"),
        (float("inf"), "inf is not a JSON number; return None or a str in its place"),
        (np.random.default_rng(1), "type numpy.random._generator.Generator is not a JSON value"),
        (1j, "type complex is not a JSON value; pass [z.real, z.imag]"),
        (pd.Timestamp("2020"), "Timestamp is not a JSON value"),
        (pl.LazyFrame({"a": [1]}), "LazyFrame is not a JSON value"),
        (pa.array([1]), "Int64Array is not a JSON value"),
    ],
)
def test_value_without_a_form_is_refused_in_one_line_with_its_place(value, words):
    with pytest.raises(ValueInvalid) as caught:
        encode({"a": [value]})
    assert words in str(caught.value)
    assert str(caught.value).startswith("value at $.a[0]: ")
    assert "\n" not in str(caught.value)


def test_encode_refuses_a_type_by_its_own_hint():
    """The engine's dataclasses (results, calls) give a hint what to pass; others are values."""

    @dataclass(frozen=True)
    class Answer:
        json_hint = "pass its .value"
        value: int

    with pytest.raises(ValueInvalid, match="Answer is not a JSON value") as caught:
        encode({"x": Answer(3)})
    assert caught.value.hint == "pass its .value"


# -- bytes --------------------------------------------------------------------------------------


@given(st.binary(max_size=20) | st.just(bytes(INLINE_BYTES)) | st.just(bytes(INLINE_BYTES + 1)))
def test_bytes_come_back_as_bytes_and_bytearray_as_bytearray(data):
    for value in (data, bytearray(data)):
        back = round_trip(value)
        assert (type(back), back) == (type(value), value)


def test_content_is_inline_up_to_the_limit_and_an_object_beyond_it():
    assert objects_in(encode(bytes(INLINE_BYTES))) == []
    assert round_trip(bytes(INLINE_BYTES)) == bytes(INLINE_BYTES)
    large = bytes(INLINE_BYTES + 1)
    assert objects_in(encode([large])) == [hashlib.sha256(large).hexdigest()]


# -- tables -------------------------------------------------------------------------------------

COLUMNS = {
    "i": st.integers(-(2**63), 2**63 - 1),
    "f": st.floats(width=64),
    "t": st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    "b": st.booleans(),
    "d": st.datetimes(),
    "l": st.lists(st.integers(-5, 5), max_size=3),
}
TYPES = {
    "i": pa.int64(), "f": pa.float64(), "t": pa.string(), "b": pa.bool_(),
    "d": pa.timestamp("us"), "l": pa.list_(pa.int64()),
}  # fmt: skip


@st.composite
def arrow_tables(draw):
    rows = draw(st.integers(0, 6))
    names = draw(st.lists(st.sampled_from(sorted(COLUMNS)), unique=True, max_size=6))
    column = {
        n: draw(st.lists(st.none() | COLUMNS[n], min_size=rows, max_size=rows)) for n in names
    }
    return pa.table({n: pa.array(column[n], TYPES[n]) for n in names})


@given(arrow_tables(), st.integers(0, 6))
@settings(deadline=None, max_examples=40)
def test_arrow_table_comes_back_equal_and_its_text_ignores_slices_and_chunks(table, cut):
    table = table.replace_schema_metadata({"k": "v"})
    back = round_trip(table)
    assert type(back) is pa.Table
    assert back.schema.equals(table.schema, check_metadata=True)
    assert repr(back.to_pylist()) == repr(table.to_pylist())
    chunked = pa.concat_tables([table.slice(0, cut), table.slice(cut)])
    assert encode(chunked) == encode(table)


@given(arrow_tables())
@settings(deadline=None, max_examples=40)
def test_polars_frame_and_series_come_back_equal(table):
    frame = pl.DataFrame(table)
    back = round_trip(frame)
    assert type(back) is pl.DataFrame
    assert back.schema == frame.schema
    assert back.equals(frame, null_equal=True) or "f" in frame.columns
    for column in frame.columns:
        series = round_trip(frame[column])
        assert type(series) is pl.Series
        assert (series.name, series.dtype) == (column, frame[column].dtype)
        assert series.to_list().__repr__() == frame[column].to_list().__repr__()


@given(arrow_tables(), st.sampled_from(["range", "text", "dates"]))
@settings(deadline=None, max_examples=40)
def test_pandas_frame_and_series_come_back_equal(table, index):
    frame = table.drop_columns([n for n in ("l",) if n in table.column_names]).to_pandas()
    rows = len(frame)
    if index == "text":
        frame.index = pd.Index([f"r{n}" for n in range(rows)], name="row")
    if index == "dates":
        frame.index = pd.DatetimeIndex(pd.Timestamp("2020") + pd.to_timedelta(range(rows), "D"))
    stored = [n for n in frame.columns if frame[n].dtype != object or n != "b"]
    if rows and not stored:
        return  # Arrow refuses rows without columns
    back = round_trip(frame[stored])
    pd.testing.assert_frame_equal(back, frame[stored], check_freq=False)
    for column in stored:
        series = round_trip(frame[column])
        assert type(series) is pd.Series
        pd.testing.assert_series_equal(series, frame[column], check_freq=False)


def test_pandas_dtypes_and_indexes_come_back():
    frame = pd.DataFrame(
        {
            "i": pd.array([1, None], "Int64"),
            "c": pd.Categorical(["b", "a"], categories=["b", "a", "z"], ordered=True),
            "f": np.array([1.5, np.nan], "f4"),
            "z": pd.to_datetime(["2020", None], utc=True),
            "t": ["x", None],
        },
        index=pd.MultiIndex.from_tuples([(1, "u"), (2, "v")], names=["n", None]),
    )
    pd.testing.assert_frame_equal(round_trip(frame), frame)
    named = pd.Series([1, 2], name=0)
    unnamed = pd.Series([1, 2])
    assert round_trip(named).name == 0
    assert round_trip(unnamed).name is None


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pd.DataFrame({"a": [[1], [2]]}), "column 'a' holds Python objects, list"),
        (pd.DataFrame({"a": [object()]}), "object"),
        (
            pd.DataFrame({"a": np.array([1, None], object)}),
            "stored: column 'a' of dtype",
        ),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "Duplicate column names"),
        (pd.DataFrame({"p": pd.period_range("2020", periods=2)}), "column 'p' is of type"),
        (
            pd.DataFrame({"a": [1], 3: [2]}),
            "stored: its columns would not survive",
        ),
        (pd.DataFrame(index=range(2)), "stored: its columns would not survive"),
        (pd.Series([1], name=("a", 1)), "names are text or integers"),
        (pd.DataFrame({"a": [1]}, index=pd.Index([1.5], dtype=object)), "stored: its index would"),
        (pd.Series([1], index=pd.Index([1.5], dtype=object)), "stored: its index would not"),
        (pd.Series(np.array([1, None], object)), "stored: dtype object would come back as float64"),
        (pl.DataFrame({"o": [object()]}), "is not stored"),
        (
            pl.DataFrame({"o": pl.Series([["a"]], dtype=pl.List(pl.Categorical))}),
            "categories inside",
        ),
        (pa.table({"n": pa.nulls(100_000)}), "100,000 rows in"),
        (pa.table({"n": pa.array([[None]], pa.list_(pa.null()))}), "'n' is of type null"),
    ],
)
def test_table_that_would_not_come_back_is_refused_in_one_line(table, words):
    with pytest.raises(ValueInvalid) as caught:
        encode(table)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


POLARS = pl.DataFrame({"a": [1]})
ARROW = pa.table({"a": [1]})


@pytest.mark.parametrize(
    ("kind", "value", "back", "words"),
    [
        ("polars.DataFrame", POLARS, POLARS.cast(pl.Int8), "column 'a' of type Int64 would come"),
        ("polars.Series", POLARS["a"], POLARS["a"].cast(pl.Int8), "column 'a' of type Int64 would"),
        ("pyarrow.Table", ARROW, ARROW.replace_schema_metadata({"k": "v"}), "its schema would not"),
    ],
)
def test_table_that_its_library_reads_otherwise_is_refused(monkeypatch, kind, value, back, words):
    """No type of the tested versions does so, but types of a later version may."""
    encode(value)
    monkeypatch.setitem(natives.tables._FROM_ARROW, kind, lambda _: back)
    with pytest.raises(ValueInvalid, match=f"a {kind} is not stored: {words}"):
        encode(value)


def test_table_bytes_do_not_show_what_lies_under_nulls_or_in_a_process():
    values = [np.array([1, junk, 3], "i8") for junk in (99, -7)]
    bits = [bytes([0b00000101]), bytes([0b11111101])]
    arrays = [
        pa.Array.from_buffers(pa.int64(), 3, [pa.py_buffer(b), pa.py_buffer(v)])
        for b, v in zip(bits, values, strict=True)
    ]
    assert arrays[0].equals(arrays[1])
    assert len({encode(pa.table({"x": array})) for array in arrays}) == 1

    text = encode(pl.DataFrame({"c": pl.Series(["u", "v", "u"], dtype=pl.Categorical)}))
    pl.Series(["w", "v"], dtype=pl.Categorical)
    pl.Series(["v", "u"], dtype=pl.Categorical)
    assert encode(pl.DataFrame({"c": pl.Series(["u", "v", "u"], dtype=pl.Categorical)})) == text


def test_pandas_table_does_not_hold_the_versions_that_wrote_it():
    _, data = natives.tables.write_table(pd.DataFrame({"a": [1]}), "pandas.DataFrame")
    assert pd.__version__.encode() not in data
    assert pa.__version__.encode() not in data


def test_pandas_table_is_stored_under_the_names_that_recorded_runs_hold():
    _, data = natives.tables.write_table(pd.Series([1], name="x"), "pandas.Series")
    schema = natives.tables.arrowcheck.read_stream(data).schema
    notes = json.loads(schema.metadata[b"pandas"])
    assert schema.names == ["value"]
    assert schema.metadata == {
        b"pandas": json.dumps(notes, sort_keys=True).encode(), b"weft.name": b'"x"'
    }  # fmt: skip


VECTORS = Path(__file__).resolve().parents[2] / "docs" / "ledger-format.md"


@pytest.mark.parametrize(
    "value",
    [
        b"weft",
        bytearray(b"weft"),
        np.array([[1.5, -2.0]]),
        pa.table({"x": pa.array([1, None], pa.int64())}),
        bytes(INLINE_BYTES + 1),
    ],
    ids=["bytes", "bytearray", "array", "table", "object"],
)
def test_recorded_bytes_are_those_of_the_documented_vectors(value):
    """A library that writes different bytes would change heads: it is noticed here."""
    assert f"`{encode(value)}`" in VECTORS.read_text("utf-8")


@pytest.mark.parametrize("value", [{"$t": 1}, {"$t": ["bytes", "1 byte", "eA=="]}, {"$$t": 2}])
def test_user_dict_that_looks_like_a_typed_value_is_escaped(value):
    assert round_trip(value) == value
    assert '"$$' in encode(value)


# -- libraries that are not installed -----------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "package"),
    [(np.zeros(2), "numpy"), (pl.DataFrame({"a": [1]}), "polars"), (pa.table({}), "pyarrow")],
)
def test_stored_value_without_its_library_is_one_line_that_names_it(monkeypatch, value, package):
    recorded = decode_trusted(encode(value))

    def missing(*_):
        raise ModuleNotFoundError(f"No module named {package!r}", name=package)

    monkeypatch.setattr(natives, "_unpacked", missing)
    with pytest.raises(InputError) as caught:
        restore(recorded, None)
    words = f"a stored {recorded.kind} needs {package}, which is not installed; pip install"
    assert str(caught.value) == f"{words} {package}"


@pytest.mark.parametrize(("name", "package"), [(None, "pyarrow"), ("pyarrow.lib", "pyarrow")])
def test_missing_part_of_a_library_is_named_by_its_package(name, package):
    error = ModuleNotFoundError("missing", name=name)
    assert natives._missing("x", error).endswith(f"pip install {package}")


def test_table_that_cannot_be_written_for_want_of_a_library_is_one_line(monkeypatch):
    def missing(*_):
        raise ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow")

    monkeypatch.setattr(natives.tables, "write_table", missing)
    with pytest.raises(ValueInvalid, match=r"pandas\.DataFrame needs pyarrow, which is not inst"):
        encode({"t": pd.DataFrame({"a": [1]})})
