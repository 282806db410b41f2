"""A line is what RFC 8785 prescribes; `parse` accepts nothing else and fails in no other way."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import LedgerDamaged
from weft.ledger.records import KINDS, MAX_DEPTH, MAX_INT, Record, line_hash, parse, render
from weft.model.values import canonical

KEY = "ab" * 32
PREV = "01" * 32

# Characters around the points where code point order and UTF-16 order differ.
names = st.text(
    st.sampled_from("a$\u007f\u0080é\ud7ff\ue000\uffff\U00010000\U0010ffff"), max_size=3
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | names
scalars = st.none() | st.booleans() | st.integers(-MAX_INT, MAX_INT) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4)
)
bodies = st.dictionaries(names | texts, values, max_size=5)
hashes = st.binary(min_size=32, max_size=32).map(bytes.hex)


@given(bodies, st.integers(0, 10**15 - 1), hashes, hashes, st.sampled_from(KINDS))
def test_render_any_record_is_rfc8785_and_parses_back(
    body: dict[str, Any], seq: int, prev: str, key: str, kind: str
) -> None:
    line = render(seq, prev, kind, key, canonical(body))
    whole = {"body": body, "key": key, "kind": kind, "prev_hash": prev, "seq": seq, "v": 1}
    assert line == rfc8785.dumps(whole)
    assert parse(line) == Record(seq, prev, kind, key, body)


@given(bodies, st.data())
def test_parse_damaged_line_is_refused_or_means_itself(body: dict[str, Any], data: Any) -> None:
    line = bytearray(render(3, PREV, "result", KEY, canonical(body)))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(line) - 1))
        line[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    check_refused_or_exact(bytes(line))


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda t: t.encode("utf-8", "replace")))
def test_parse_any_bytes_as_body_is_refused_or_means_itself(noise: bytes) -> None:
    head, tail = render(0, PREV, "round", KEY, "{}").split(b"{}")
    check_refused_or_exact(noise)
    check_refused_or_exact(head + noise + tail)


def check_refused_or_exact(line: bytes) -> None:
    """The result is LedgerDamaged, or a record that renders to exactly these bytes."""
    with contextlib.suppress(LedgerDamaged):
        record = parse(line)
        body = rfc8785.dumps(record.body).decode()
        assert render(record.seq, record.prev_hash, record.kind, record.key, body) == line


BODIES_REFUSED = {
    "duplicate key": b'{"a":1,"a":1}',
    "duplicate key deep inside": b'{"a":[{"b":1,"b":2}]}',
    "keys out of order": b'{"b":1,"a":1}',
    "keys in code point order": '{"\uffff":1,"\U00010000":1}'.encode(),
    "white space": b'{"a": 1}',
    "float": b'{"a":1.5}',
    "float without fraction": b'{"a":1.0}',
    "exponent": b'{"a":1e3}',
    "NaN": b'{"a":NaN}',
    "infinity": b'{"a":-Infinity}',
    "minus zero": b'{"a":-0}',
    "leading zero": b'{"a":01}',
    "integer one too large": b'{"a":9007199254740992}',
    "integer one too small": b'{"a":-9007199254740992}',
    "integer of 5000 digits": b'{"a":' + b"9" * 5000 + b"}",
    "needless escape": b'{"a":"\\u0041"}',
    "escaped solidus": b'{"a":"\\/"}',
    "upper-case escape": b'{"a":"\\u001F"}',
    "long form of a short escape": b'{"a":"\\u000a"}',
    "raw control character": b'{"a":"\x01"}',
    "escaped lone surrogate": b'{"a":"\\ud800"}',
    "escaped lone surrogate in a key": b'{"\\udfff":1}',
    "escaped surrogate pair": b'{"a":"\\ud83d\\ude00"}',
    "lone surrogate in UTF-8": b'{"a":"\xed\xa0\x80"}',
    "overlong UTF-8": b'{"a":"\xc0\xaf"}',
    "cut UTF-8": b'{"a":"\xe2\x82"}',
    "byte order mark": b'\xef\xbb\xbf{"a":1}',
    "list": b"[]",
    "string": b'"{}"',
    "number": b"1",
    "null": b"null",
    "nothing": b"",
    "unclosed": b'{"a":1',
    "two bodies": b"{}{}",
    "array bomb": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "object bomb": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "one level too deep": b'{"a":' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"}",
}


@pytest.mark.parametrize("body", BODIES_REFUSED.values(), ids=BODIES_REFUSED)
def test_parse_body_not_canonical_is_refused_in_one_short_line(body: bytes) -> None:
    head, tail = render(0, PREV, "round", KEY, "{}").split(b"{}")
    with pytest.raises(LedgerDamaged) as caught:
        parse(head + body + tail)
    assert len(str(caught.value)) < 120
    assert str(caught.value).isprintable()


def test_parse_body_at_the_limits_is_accepted() -> None:
    inner = MAX_DEPTH - 1
    wide = ",".join(["[]"] * 1000)
    for body in ('{"a":' + "[" * inner + "]" * inner + "}", f'{{"a":[{wide}],"b":{MAX_INT}}}'):
        assert parse(render(0, PREV, "round", KEY, body)).body == json.loads(body)


GOOD = render(17, PREV, "result", KEY, '{"lane":"/é"}')
LINES_REFUSED = {
    "newline at the end": GOOD + b"\n",
    "carriage return": GOOD + b"\r",
    "space in front": b" " + GOOD,
    "second record": GOOD + GOOD,
    "other version": GOOD.replace(b'"v":1', b'"v":2'),
    "version as text": GOOD.replace(b'"v":1', b'"v":"1"'),
    "version true": GOOD.replace(b'"v":1', b'"v":true'),
    "field missing": GOOD.replace(b',"seq":17', b""),
    "field added": GOOD.replace(b'"v":1', b'"v":1,"w":1'),
    "field twice": GOOD.replace(b'"v":1', b'"v":1,"v":1'),
    "fields in other order": GOOD.replace(b'"seq":17,"v":1', b'"v":1,"seq":17'),
    "negative seq": GOOD.replace(b":17,", b":-1,"),
    "seq with leading zero": GOOD.replace(b":17,", b":017,"),
    "seq float": GOOD.replace(b":17,", b":17.0,"),
    "seq huge": GOOD.replace(b":17,", b":" + b"1" * 5000 + b","),
    "unknown kind": GOOD.replace(b'"result"', b'"note"'),
    "upper-case key": GOOD.replace(KEY.encode(), KEY.upper().encode()),
    "short key": GOOD.replace(KEY.encode(), KEY[1:].encode()),
    "prev_hash not hex": GOOD.replace(PREV.encode(), b"xy" * 32),
    "Arabic digits": GOOD.replace(b":17,", ":١٧,".encode()),
    "other encoding": GOOD.decode().encode("utf-16"),
    "empty": b"",
}


@pytest.mark.parametrize("line", LINES_REFUSED.values(), ids=LINES_REFUSED)
def test_parse_line_of_other_form_is_refused(line: bytes) -> None:
    assert parse(GOOD).seq == 17
    with pytest.raises(LedgerDamaged) as caught:
        parse(line)
    assert caught.value.seq is None


@pytest.mark.parametrize(
    ("kind", "key", "prev"),
    [
        ("note", KEY, PREV),
        ("round", KEY[1:], PREV),
        ("round", KEY.upper(), PREV),
        ("round", KEY, ""),
    ],
)
def test_render_record_that_parse_would_refuse_is_our_bug(kind: str, key: str, prev: str) -> None:
    with pytest.raises(AssertionError):
        render(0, prev, kind, key, "{}")


def test_line_hash_known_text_is_its_sha256() -> None:
    # The one-block message of FIPS 180-2, appendix B.1.
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert line_hash(b"abc") == expected


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        ("9007199254740992", "integer 9007199254740992 is outside"),
        ("-9007199254740992", "integer -9007199254740992 is outside"),
        ("123456789012345678901", "integer 12345678901234567890 is outside"),
        ("1.5", "number 1.5 is not an integer"),
        ("1e3", "number 1e3 is not an integer"),
        ("NaN", "number NaN is not an integer"),
    ],
)
def test_number_that_no_record_holds_is_named(number: str, reason: str) -> None:
    head, tail = render(0, PREV, "round", KEY, "{}").split(b"{}")
    with pytest.raises(LedgerDamaged, match=reason):
        parse(head + f'{{"a":{number}}}'.encode() + tail)


def test_limits_of_the_format_are_those_of_its_page() -> None:
    assert (MAX_DEPTH, MAX_INT) == (256, 2**53 - 1)
