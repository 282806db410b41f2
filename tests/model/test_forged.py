"""Typed values that were never encoded: forged tags, arrays and tables fail cheaply in one line.

Hostile bytes are built by hand, with a canary where pickle would execute.
"""

from __future__ import annotations

import base64
import contextlib
import io
import pickle
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import ipc

from weft.errors import ValueInvalid
from weft.model import arrowcheck
from weft.model.leaves import INLINE_BYTES, Object, Typed
from weft.model.natives import KINDS, restore
from weft.model.values import decode_trusted, encode, from_wire, to_wire


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("x", "not the way $t is written"),
        (["bytes", "1 byte"], "not the way $t is written"),
        (["bytes", 1, "eA=="], "not the way $t is written"),
        (["pickle", "1 byte", "eA=="], "values of kind 'pickle' are not known"),
        (["bytes", "1 byte", "eB=="], "not the way inline content is written"),
        (["bytes", "1 byte", "e A="], "not the way inline content is written"),
        pytest.param(
            ["bytes", "", base64.b64encode(bytes(INLINE_BYTES + 1)).decode()],
            "inline content",
            id="too-long",
        ),
        (["bytes", "1 byte", {"a": 1}], "not the content of a bytes"),
        (["bytes", "1 byte", None], "not the content of a bytes"),
        (["dataclass", "P", "eA=="], "not the content of a dataclass"),
        (["dataclass", "P", [1]], "not the content of a dataclass"),
        (["bytes", "\ud800", "eA=="], "lone surrogate"),
    ],
)
def test_forged_tag_is_refused(body, words):
    with pytest.raises(ValueInvalid) as caught:
        from_wire({"$t": body})
    assert words in str(caught.value)


def test_typed_value_is_plain_data_until_it_is_restored():
    recorded = decode_trusted(encode({"a": [np.zeros((3, 4))]}))
    [leaf] = recorded["a"]
    assert leaf.label == "array float64 (3, 4)"
    assert [Typed(kind, "x", b"").label for kind in ("bytes", "dataclass")] == ["x", "x"]
    assert to_wire(recorded) == to_wire({"a": [np.zeros((3, 4))]})
    assert {leaf.kind} <= KINDS


class Canary:
    """Leaves a trace if it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def npy(header: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    text = header.ljust(117).encode() + b"\n"
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text + data


HUGE = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 1000000000000), }"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x93NUMPY\x01\x00\xff\xff{",
        npy(HUGE),
        npy(HUGE, bytes(80)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }", bytes(8)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1.0,), }", bytes(8)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': 1, }", bytes(8)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", bytes(8)),
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", pickle.dumps(None)),
        npy("{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (1,), }", b"x" * 8),
        npy("{'descr': '<f8,<f8', 'fortran_order': False, 'shape': (1,), }", bytes(16)),
        npy("{'descr': 'float64', 'fortran_order': False, 'shape': (1,), }", bytes(8)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'x': 1}", bytes(8)),
        npy("__import__('os').abort()"),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", bytes(8), b"\x02\x00"),
        npy("((" * 40),
    ],
    ids=[f"forged{n}" for n in range(16)],
)
def test_forged_array_is_one_line_and_allocates_nothing(data):
    tracemalloc.start()
    with pytest.raises(ValueInvalid) as caught:
        restore(Typed("numpy.ndarray", "float64 (1,)", data), None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "\n" not in str(caught.value)
    assert peak < 2**20


def test_pickled_array_is_never_loaded(tmp_path):
    trap = tmp_path / "loaded"
    buffer = io.BytesIO()
    np.save(buffer, np.array([Canary(trap)], dtype=object), allow_pickle=True)
    with pytest.raises(ValueInvalid, match="dtype object"):
        restore(Typed("numpy.ndarray", "object (1,)", buffer.getvalue()), None)
    with pytest.raises(ValueInvalid):
        restore(Typed("pyarrow.Table", "(1, 1)", pickle.dumps(Canary(trap))), None)
    assert not trap.exists()


def test_summary_that_lies_is_refused():
    recorded = decode_trusted(encode(np.zeros(3)))
    with pytest.raises(ValueInvalid, match=r"'array float64 \(9,\)' is recorded, its content is"):
        restore(Typed(recorded.kind, "float64 (9,)", recorded.payload), None)


def test_small_content_in_an_object_is_refused_since_it_has_one_text():
    with pytest.raises(ValueInvalid, match="5 bytes of bytes are an object, not inline"):
        restore(Typed("bytes", "5 bytes", Object("0" * 64)), lambda _: b"abcde")
    with pytest.raises(ValueInvalid, match=f"{INLINE_BYTES} bytes of bytes are an object"):
        restore(Typed("bytes", "", Object("0" * 64)), lambda _: bytes(INLINE_BYTES))


def written(table: pa.Table, **options) -> bytes:
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, table.schema, options=ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


WIDE = pa.table({"x": pa.array(range(5000)), "c": pa.array(["a", "b"] * 2500).dictionary_encode()})


def read_or_refused(data: bytes) -> pa.Table | None:
    """Read a stream; return None if it is refused in the way that damage is refused."""
    with contextlib.suppress(ValueInvalid):
        return arrowcheck.read_stream(data)
    return None


def test_every_truncation_of_a_stream_is_refused_or_an_empty_table():
    data = written(WIDE.slice(0, 50).combine_chunks())
    for end in range(0, len(data) - 1, 7):
        table = read_or_refused(data[:end])
        assert table is None or table.num_rows in (0, 50), "cut between two messages"


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_flipped_bytes_of_a_stream_are_refused_or_read_as_a_valid_table(data):
    stream = bytearray(written(WIDE.slice(0, 20).combine_chunks()))
    for _ in range(data.draw(st.integers(1, 4))):
        stream[data.draw(st.integers(0, len(stream) - 1))] = data.draw(st.integers(0, 255))
    table = read_or_refused(bytes(stream))
    if table is not None:
        table.validate(full=True)


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_compressed_stream_is_refused_before_it_is_unpacked(codec):
    for table in (WIDE, WIDE.select(["c"]), WIDE.select(["x"])):
        with pytest.raises(ValueInvalid, match="a compressed batch"):
            arrowcheck.read_stream(written(table, compression=codec))


def test_stream_of_types_that_are_not_stored_is_refused():
    table = pa.table({"v": pa.array(["a"], pa.string_view())})
    with pytest.raises(ValueInvalid, match=r"'v'.*string_view"):
        arrowcheck.read_stream(written(table))


@pytest.mark.parametrize(
    ("make", "item"),
    [
        (pa.binary, lambda size: b"a" * size),
        (lambda size: pa.list_(pa.int8(), size), lambda size: [1] * size),
        (lambda size: pa.struct([("x", pa.int8())][:size]), lambda size: {"x": 1} if size else {}),
    ],
    ids=["binary", "list", "struct"],
)
def test_column_whose_rows_take_no_room_is_refused(make, item):
    empty, full = (written(pa.table({"v": pa.array([item(n)], make(n))})) for n in (0, 1))
    assert arrowcheck.read_stream(full).num_rows == 1
    with pytest.raises(ValueInvalid, match="'v' is of type"):
        arrowcheck.read_stream(empty)


def test_table_has_at_most_a_row_for_each_bit():
    arrowcheck.check_rows(80, 10)
    with pytest.raises(ValueError, match="81 rows in 10 bytes"):
        arrowcheck.check_rows(81, 10)


def test_stream_that_claims_rows_without_data_is_refused():
    with pytest.raises(ValueInvalid, match="10,000,000 rows in"):
        arrowcheck.read_stream(written(pa.table({"n": pa.nulls(10**7)})))
