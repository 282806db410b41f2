"""The strict reader: plain JSON is accepted, and every ambiguity is one line with its place."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import FileInvalid
from weft.model import strictjson
from weft.model.strictjson import SAVE_AS_UTF8, loads

documents = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=10,
)


def refusal(data, **options):
    started = time.perf_counter()
    with pytest.raises(FileInvalid) as caught:
        loads(data, where="tasks/a.json", **options)
    assert time.perf_counter() - started < 20
    message = str(caught.value)
    assert message.startswith("tasks/a.json: ")
    assert "\n" not in message
    assert len(message) < 200
    return message.removeprefix("tasks/a.json: ")


@given(documents, st.booleans(), st.sampled_from([None, 1]))
def test_loads_of_sound_document_equals_json(document, ascii_only, indent):
    text = json.dumps(document, ensure_ascii=ascii_only, indent=indent)
    try:
        data = text.encode()
    except UnicodeEncodeError:
        assert "surrogate" in refusal(text)
        return
    if "\\ud" in text and "surrogate" in str(_error_of(data)):
        with pytest.raises(UnicodeEncodeError):
            json.dumps(document, ensure_ascii=False).encode()
        return
    assert repr(loads(data, where="x")) == repr(loads(text, where="x")) == repr(json.loads(text))


def _error_of(data):
    try:
        loads(data, where="x")
    except FileInvalid as error:
        return error
    return None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty; it should hold JSON"),
        (" \n\t\n", "is empty; it should hold JSON"),
        (b"jobs\n", "not valid JSON: Expecting value (line 1 column 1)"),
        (b'{"a": 1,\n "b" 2}', "not valid JSON: Expecting ':' delimiter (line 2 column 6)"),
        (b"[1] x", "not valid JSON: Extra data (line 1 column 5)"),
        (b"[1]\n\n[2]", "not valid JSON: Extra data (line 3 column 1)"),
        (b"\xef\xbb\xbf[]", f"starts with a byte order mark (BOM); {SAVE_AS_UTF8}"),
        ("\ufeff[]", f"starts with a byte order mark (BOM); {SAVE_AS_UTF8}"),
        (
            '["é",\n "ü\xff"]'.encode("latin-1"),
            f"not valid UTF-8 (line 1 column 3); {SAVE_AS_UTF8}",
        ),
        ('["é",\n "ü'.encode() + b'\xff"]', f"not valid UTF-8 (line 2 column 4); {SAVE_AS_UTF8}"),
        (b"\xff\xfe[\x00", f"not valid UTF-8 (line 1 column 1); {SAVE_AS_UTF8}"),
        (b'"\xed\xa0\x80"', f"not valid UTF-8 (line 1 column 2); {SAVE_AS_UTF8}"),
        (b'{"a": 1, "b": 2, "a": 1}', 'duplicate key "a" (line 1 column 18)'),
        (
            b'{"a": {"x": 1},\n "b": [{"a": 1, "\\u0061" :2}]}',
            'duplicate key "a" (line 2 column 17)',
        ),
        (b'["{\\"a\\":", {"\\"": "}", "\\"":1}]', 'duplicate key "\\"" (line 1 column 25)'),
        ('{"é\u202e":1,"é\u202e":2}', 'duplicate key "\\u00e9\\u202e" (line 1 column 9)'),
        (b'["NaN", NaN]', "NaN is not JSON (line 1 column 9)"),
        (b'{"Infinity":\nInfinity}', "Infinity is not JSON (line 2 column 1)"),
        (b"-Infinity", "-Infinity is not JSON (line 1 column 1)"),
        (b"[1e308, 1e309]", "a number too large for a float (line 1 column 9)"),
        (b"[-1e999]", "a number too large for a float (line 1 column 2)"),
        (b"[1,\n" + b"7" * 5000 + b"]", "an integer of more than 4000 digits (line 2 column 1)"),
        (b"-" + b"7" * 4001, "an integer of more than 4000 digits (line 1 column 1)"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply"),
        (b'["\\ud800"]', "a lone surrogate, which is not Unicode text"),
        ('["\udfff"]', "a lone surrogate, which is not Unicode text"),
        (b'["a\nb"]', "not valid JSON: Invalid control character at (line 1 column 4)"),
        (b'["a', "not valid JSON: Unterminated string starting at (line 1 column 2)"),
    ],
)
def test_loads_of_hostile_file_is_refused_in_one_line(data, message):
    assert refusal(data) == (message if "; " in message else f"{message}; correct it there")


def test_loads_with_advice_of_its_caller_gives_it():
    assert refusal(b"[1", hint="or write numbers").endswith("(line 1 column 3); or write numbers")


def test_loads_past_size_cap_is_refused_before_reading():
    assert refusal(b"\xff" * 11, max_bytes=10) == "11 bytes, more than the 10 allowed"
    assert loads(b"[1,2,3,40]", where="x", max_bytes=10) == [1, 2, 3, 40]


def test_loads_at_digit_limit_is_kept():
    assert loads(b"-" + b"7" * 4000, where="x") == -int("7" * 4000)


def test_loads_of_long_repeated_key_shortens_it():
    key = b'"' + b"k" * 10_000 + b'"'
    assert refusal(b"{" + key + b":1," + key + b":2}").startswith('duplicate key "kkkk')


def test_loads_of_escaped_pairs_and_floats_is_kept():
    assert loads(b'["\\ud83d\\ude00", -0.0, 1e5, "\\\\ud800"]', where="x") == [
        "😀",
        -0.0,
        1e5,
        "\\ud800",
    ]


@given(documents)
def test_repeated_keys_of_sound_document_are_none(document):
    assert list(strictjson._repeated_keys(json.dumps(document))) == []


def test_place_is_counted_from_the_first_character():
    with pytest.raises(FileInvalid, match=r"\(line 2 column 1\); correct it there$"):
        loads(b"\nx", where="f")
    with pytest.raises(FileInvalid, match=r"\(line 1 column 1\); correct it there$"):
        loads(b"x", where="f")
