"""Histories in the forms that users have, and refusals that name the row."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import FileInvalid
from weft.searches.prng.history import History, read_history

SAME = (
    b"7\n12\n999\n",
    b"draw\n7\n12\n999\n",
    b"\xef\xbb\xbfdraw\r\n7\r\n12\r\n\r\n999\r\n",
    b"date,draw\n2020-01-01,7\n2020-01-02,12\n2020-01-03,999\n",
    b"7;2020-01-01\n12;2020-01-02\n999;2020-01-03\n",
    b"[7, 12, 999]",
    b'[{"draw": 7, "date": "a"}, {"draw": 12}, {"draw": 999}]',
)


@pytest.mark.parametrize("data", SAME)
def test_history_of_any_form_is_the_same(data: bytes) -> None:
    assert read_history(data, "x") == History((7, 12, 999))


def test_sessions_make_streams_in_order_of_appearance() -> None:
    history = read_history(b"1,d,noon\n2,d,night\n3,d,noon\n", "x")
    assert history.streams() == {"": (1, 2, 3), "noon": (1, 3), "night": (2,)}


def test_one_session_is_one_stream() -> None:
    assert list(read_history(b"1,d,noon\n2,d,noon\n", "x").streams()) == [""]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "x: is empty"),
        (b"  \n\n", "x: is empty"),
        (b"draw\n", "x: has a header but no draws"),
        (b"1\n2.5\n", 'x: row 2: "2.5" is not an integer'),
        (b"1\nNaN\n", 'x: row 2: "NaN" is not an integer'),
        (b"1\n-2\n", 'x: row 2: "-2" is not from 0 to 2^64 - 1'),
        (b"1\n18446744073709551616\n", "x: row 2:"),
        (b"number\n1\n", 'x: row 1 begins with "number"'),
        (b"draw,draw\n1,1\n", "x: row 1 names a column twice"),
        (b"1,a,b,c\n", "x: row 1 has 4 cells"),
        (b"1,d,s\n2\n", "x: row 2 has no session, others have"),
        (b"\xff\xfe1\n", "x: not UTF-8 text at byte 0"),
        (b"1\n\x00\n", "x: contains a NUL character"),
        (b'"1\n2\n', "x: not a table"),
        (b'{"draw": 1}', "x: should be a list of draws, not an object"),
        (b"[1, 2.0]", 'x: row 2: "2.0" is not an integer'),
        (b"[true]", 'x: row 1: "True" is not an integer'),
        (b'[{"date": "2024-01-01"}]', 'x: row 1: the key "draw" is missing'),
        (b'[{"date": 1}]', 'x: row 1: the key "draw" is missing'),
        (b'[{"draw": 1, "session": []}]', "x: row 1: a session is a text or a number"),
        (b"[1,", "x: "),
    ],
)
def test_bad_history_is_refused_with_its_place(data: bytes, said: str) -> None:
    with pytest.raises(FileInvalid) as error:
        read_history(data, "x")
    assert str(error.value).startswith(said)
    assert "\n" not in str(error.value)


@given(st.binary(max_size=200))
def test_history_of_any_bytes_is_read_or_refused(data: bytes) -> None:
    try:
        history = read_history(data, "x")
    except FileInvalid:
        return
    assert History.from_canonical(history.canonical()) == history


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1))
def test_history_written_as_json_reads_back(draws: list[int]) -> None:
    assert read_history(json.dumps(draws).encode(), "x").draws == tuple(draws)


def test_other_keys_of_json_rows_are_left_out() -> None:
    rows = b'[{"draw": 7, "timestamp": 1, "full_state": [1, 2]}, {"draw": 8, "odd": null}]'
    assert read_history(rows, "x").draws == (7, 8)
