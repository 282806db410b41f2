"""The laws of values: one text per value, one value per text, a path for each refusal."""

import enum
import json
import random
import time
from collections import OrderedDict, namedtuple
from dataclasses import dataclass

import numpy
import pytest
import rfc8785
from hypothesis import example, given, settings
from hypothesis import strategies as st

from weft.errors import ValueInvalid
from weft.model import values
from weft.model.values import (
    MAX_DEPTH,
    Object,
    canonical,
    compact_json,
    decode,
    decode_trusted,
    encode,
    encode_args,
    from_wire,
    objects_in,
    parse_trusted,
    to_wire,
)

MAX_INT = 2**53 - 1
DIGEST = "0123456789abcdef" * 4

# All of Unicode that UTF-8 can encode, biased to characters whose sort orders differ.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.text(
    st.sampled_from('$oif"\\/a\x00\x1f\x7f\u2028\ud7ff\ue000\uffff\U00010000\U0010ffff'), max_size=5
)
objects = st.binary(min_size=32, max_size=32).map(lambda raw: Object(raw.hex()))
integers = st.integers() | st.sampled_from(
    [0, MAX_INT, MAX_INT + 1, -MAX_INT, -MAX_INT - 1, 2**64, -(2**4000)]
)
floats = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(
    [0.0, -0.0, 5e-324, -2.2250738585072e-308, 1e22, 1e16, 1e-7, 0.1, 1.7976931348623157e308]
)
leaves = st.none() | st.booleans() | integers | floats | texts | objects
trees = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


def typed(value):
    """Make the types visible to ==, where 1 == 1.0 == True and 0.0 == -0.0."""
    if isinstance(value, list | tuple):
        return ("list", [typed(item) for item in value])
    if isinstance(value, dict):
        return ("dict", {key: typed(item) for key, item in value.items()})
    return (type(value), repr(value))


def nested(depth, leaf=None):
    value = leaf
    for _ in range(depth):
        value = [value]
    return value


@given(trees)
def test_decode_of_encode_is_identity_with_types(value):
    text = encode(value)
    assert typed(decode(text)) == typed(value)
    assert typed(decode_trusted(text)) == typed(value)
    assert typed(from_wire(to_wire(value))) == typed(value)


@pytest.mark.parametrize("text", ["", "x", "]"])
def test_text_that_is_no_value_does_not_end_a_generator(text):
    with pytest.raises(ValueError, match="not JSON"):
        parse_trusted(text)


@given(trees)
@example({"\uffff": 1, "\U00010000": 2})
@example([{"\ue000b": [], "\U0010ffff": {}, "a": 1}])
def test_encode_equals_independent_rfc8785_of_wire(value):
    text = encode(value)
    assert text.encode() == rfc8785.dumps(to_wire(value))
    assert text == canonical(to_wire(value))


@given(trees)
def test_encode_of_tuples_equals_lists(value):
    def as_tuples(item):
        if isinstance(item, list):
            return tuple(as_tuples(x) for x in item)
        if isinstance(item, dict):
            return {key: as_tuples(x) for key, x in item.items()}
        return item

    assert encode(as_tuples(value)) == encode(value)
    assert typed(to_wire(as_tuples(value))) == typed(to_wire(value))


@given(st.dictionaries(texts, st.integers(0, 9), max_size=6), st.randoms(use_true_random=False))
def test_encode_does_not_see_insertion_order(value, shuffler):
    pairs = list(value.items())
    shuffler.shuffle(pairs)
    assert encode(dict(pairs)) == encode(value)


@settings(max_examples=400)
@given(trees, st.data())
def test_decode_of_mutated_text_refuses_or_reads_another_value(value, data):
    text = encode(value)
    place = data.draw(st.integers(0, len(text)))
    char = data.draw(st.sampled_from('$"{}[]:,\\ 0159aefinoxtu-+.\n\u00e9\ud800') | st.characters())
    tail = data.draw(st.sampled_from([text[place:], text[place + 1 :]]))
    mutated = text[:place] + data.draw(st.sampled_from([char, ""])) + tail
    try:
        result = decode(mutated)
    except ValueInvalid:
        return
    assert encode(result) == mutated
    assert mutated == text or typed(result) != typed(value)


@given(trees)
def test_objects_in_finds_what_a_walk_finds(value):
    def walk(wire):
        if isinstance(wire, dict):
            if wire.keys() == {"$o"}:
                return [wire["$o"]]
            return [part for item in wire.values() for part in walk(item)]
        return [part for item in wire for part in walk(item)] if isinstance(wire, list) else []

    text = encode(value)
    assert objects_in(text) == walk(json.loads(text))


def test_objects_in_is_not_fooled_by_strings_and_escaped_keys():
    reference = f'{{"$o":"{DIGEST}"}}'
    decoys = [
        reference,
        "{" + reference,
        {"$o": DIGEST},
        {"$$o": DIGEST},
        {"x": "$o"},
        "\\" + reference,
    ]
    assert objects_in(encode(decoys)) == []
    other = Object("f" * 64)
    assert objects_in(encode([*decoys, other, {"a": Object(DIGEST)}, other])) == [
        "f" * 64,
        DIGEST,
        "f" * 64,
    ]
    assert objects_in(encode([1, 2])) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        ((1, "é"), '[1,"é"]'),
        (MAX_INT, "9007199254740991"),
        (MAX_INT + 1, '{"$i":"0x20000000000000"}'),
        (-MAX_INT - 1, '{"$i":"-0x20000000000000"}'),
        (0.1, '{"$f":"0.1"}'),
        (-0.0, '{"$f":"-0.0"}'),
        (1e22, '{"$f":"1e+22"}'),
        (3.0, '{"$f":"3.0"}'),
        (Object(DIGEST), f'{{"$o":"{DIGEST}"}}'),
        (
            {"b": 1, "a": [], "$": 2, "$f": "0.1", "$$": 3},
            '{"$$":2,"$$$":3,"$$f":"0.1","a":[],"b":1}',
        ),
        ({"\uffff": 1, "\U00010000": 2}, '{"\U00010000":2,"\uffff":1}'),
        ({"\uffff": 1, "z": ["\U00010000"]}, '{"z":["\U00010000"],"\uffff":1}'),
        ('\x00\x1f\x7f\b\f\n\r\t"\\/\u2028', '"\\u0000\\u001f\x7f\\b\\f\\n\\r\\t\\"\\\\/\u2028"'),
    ],
)
def test_encode_writes_golden_text(value, text):
    assert encode(value) == text
    assert encode(decode(text)) == text


class Colour(enum.IntEnum):
    RED = 1


class Word(str):
    __slots__ = ()


class Real(float):
    """Stands for numpy.float64, which subclasses float too."""


Point = namedtuple("Point", "x y")


class Record:
    x = 1


@pytest.mark.parametrize(
    ("value", "path", "words"),
    [
        (float("nan"), "$", "nan is not a JSON number"),
        ({"a": [0, 1, 2, float("inf")]}, "$.a[3]", "inf is not a JSON number"),
        ({"a": {1: 2}}, "$.a", "a key of type int, keys must be str"),
        ({"a": {Word("k"): 2}}, "$.a", "Word, keys must be str"),
        ([memoryview(b"x")], "$[0]", "type memoryview is not a JSON value; pass bytes(view)"),
        ({"s": {1, 2}}, "$.s", "type set is not a JSON value; pass a sorted list"),
        ({"c": Colour.RED}, "$.c", "Colour is a subclass of int and would lose its type; pass int"),
        ((Word("x"),), "$[0]", "Word is a subclass of str"),
        ([[Real(1)]], "$[0][0]", "Real is a subclass of float and would lose its type; pass float"),
        ({"p": Point(1, 2)}, "$.p", "Point is a subclass of tuple"),
        (OrderedDict(a=1), "$", "collections.OrderedDict is a subclass of dict"),
        ({"we ird": {"$a": Record()}}, '$["we ird"]["$a"]', "Record is not a JSON value"),
        ({"\u202e": 1j}, '$["\\u202e"]', "type complex"),
        ([object()], "$[0]", "type object"),
        ([int], "$[0]", "type type"),
        ({"a": ["é", "\ud800"]}, "$.a[1]", "lone surrogate"),
        ({"$\udfff": 1}, '$["$\\udfff"]', "lone surrogate"),
        ({"a": (1, {"b": "\ud83d\ude00"})}, "$.a[1].b", "lone surrogate"),
    ],
)
def test_encode_refuses_bad_value_with_its_path(value, path, words):
    with pytest.raises(ValueInvalid) as caught:
        encode(value)
    assert caught.value.path == path
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_encode_refuses_numpy_scalars_naming_them():
    for scalar in (numpy.longdouble(1), numpy.complex64(1), numpy.datetime64("2020")):
        with pytest.raises(ValueInvalid, match="numpy"):
            encode({"x": scalar})


@pytest.mark.parametrize("leaf", [None, 1, 0.5, 2**99, Object(DIGEST)])
def test_encode_at_depth_limit_is_kept_and_past_it_refused(leaf):
    deepest = nested(MAX_DEPTH, leaf)
    assert typed(decode(encode(deepest))) == typed(deepest)
    keyed = {"k": nested(MAX_DEPTH - 1, leaf)}
    assert typed(decode(encode(keyed))) == typed(keyed)
    too_deep = "[" * (MAX_DEPTH + 1) + encode(leaf) + "]" * (MAX_DEPTH + 1)
    for call in (
        lambda: encode([deepest]),
        lambda: encode({"k": deepest}),
        lambda: decode(too_deep),
    ):
        with pytest.raises(ValueInvalid, match="nested deeper than 100"):
            call()


def test_encode_of_cycle_is_refused():
    ring = []
    ring.extend([ring, ring])
    loop = {}
    loop["me"] = loop
    for value in (ring, loop):
        with pytest.raises(ValueInvalid, match="contains itself"):
            encode(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " 1",
        "1 ",
        "1 2",
        "01",
        "-0",
        "1.0",
        "1e5",
        "NaN",
        "Infinity",
        "9007199254740992",
        "[1, 2]",
        '{"b":1,"a":2}',
        '{"a":1,"a":1}',
        '{"a":1,"a":2}',
        '"\\u00e9"',
        '"\\/"',
        '"\\ud800"',
        '"\ud800"',
        '"\\ud83d\\ude00"',
        '{"\uffff":1,"\U00010000":2}',
        "\ufeff1",
        '{"$x":1}',
        '{"$":1}',
        '{"$f":"0.1","$i":"0x1"}',
        '{"$f":"0.1","a":1}',
        '{"\\u0024f":"0.1"}',
        '{"$f":0.1}',
        '{"$f":1}',
        '{"$f":' + "9" * 400 + "}",
        '{"$f":true}',
        '{"$f":null}',
        '{"$f":"0.10"}',
        '{"$f":"1"}',
        '{"$f":"1e22"}',
        '{"$f":" 0.1"}',
        '{"$f":"1_0.0"}',
        '{"$f":"0.30000000000000004441"}',
        '{"$f":"nan"}',
        '{"$f":"inf"}',
        '{"$f":"1e999"}',
        '{"$f":"x"}',
        '{"$i":"0x1"}',
        '{"$i":1}',
        '{"$i":null}',
        '{"$i":"0x020000000000000"}',
        '{"$i":"20000000000000"}',
        '{"$i":"0X20000000000000"}',
        '{"$i":"0x2000000000000A"}',
        '{"$i":"0x1fffffffffffff"}',
        '{"$o":"' + "A" * 64 + '"}',
        '{"$o":"' + "a" * 63 + '"}',
        '{"$o":"' + "a" * 64 + '\\n"}',
        '{"$o":["' + "a" * 64 + '"]}',
    ],
)
def test_decode_of_text_encode_never_writes_is_refused(text):
    with pytest.raises(ValueInvalid):
        decode(text)


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 100_000, "1" * 5000, "-" + "7" * 5000],
)
def test_decode_of_hostile_text_is_refused_quickly(text):
    started = time.perf_counter()
    with pytest.raises(ValueInvalid) as caught:
        decode(text)
    assert time.perf_counter() - started < 20
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ({"a": [1.5]}, "$.a[0]"),
        ([2**53], "$[0]"),
        ((1,), "$"),
        ({"a": {1: 2}}, "$.a"),
        ({"a": {"$x": 2}}, "$.a"),
        ([{"$f": "1"}], "$[0]"),
        ({"a": "\ud800"}, "$.a"),
    ],
)
def test_from_wire_of_other_structures_is_refused_with_path(raw, path):
    with pytest.raises(ValueInvalid) as caught:
        from_wire(raw)
    assert caught.value.path == path


def test_to_wire_result_shares_nothing_mutable():
    value = {"a": [1]}
    wire = to_wire(value)
    value["a"].append(2)
    assert wire == {"a": [1]}


@pytest.mark.parametrize(
    "digest", ["", "a" * 63, "a" * 65, "A" * 64, "a" * 64 + "\n", "é" * 64, None, b"a" * 64]
)
def test_object_with_bad_digest_is_refused(digest):
    with pytest.raises(ValueInvalid, match="64 lower-case hex digits"):
        Object(digest)


def test_object_orders_and_hashes_by_digest():
    low, high = Object("0" * 64), Object("f" * 64)
    assert sorted([high, low]) == [low, high]
    assert {low: 1}[Object("0" * 64)] == 1


def test_shortcut_agrees_with_plain_twin_near_limits():
    draw = random.Random(7)
    for _ in range(2000):
        leaf = draw.choice(
            [1, MAX_INT, MAX_INT + 1, -MAX_INT - 1, 0.5, True, None, "$", Colour.RED]
        )
        box = draw.choice([[leaf, 1], (leaf,), {"a": leaf}, {"$a": leaf}, [[], {}, leaf], leaf])
        try:
            expected = canonical(to_wire(box))
        except ValueInvalid as error:
            with pytest.raises(ValueInvalid, match=error.reason):
                encode(box)
            assert not values._is_wire(box, 0)
            continue
        assert encode(box) == expected
        plain = typed(to_wire(box)) == typed(box)
        assert values._is_wire(box, 0) is plain


# -- arguments ----------------------------------------------------------------------------------


def test_encode_args_within_the_limit_is_encode():
    args = {"x": 1, "text": "a" * 80, "rows": [1.5, "b"]}
    size = len(encode(args))
    assert encode_args(args, size) == encode(args)
    with pytest.raises(
        ValueInvalid, match=f"value at \\$: {size} characters, the limit .* {size - 1}"
    ):
        encode_args(args, size - 1)


@given(texts, st.integers())
def test_one_integer_argument_is_encoded_as_ever(name, number):
    assert encode_args({name: number}) == encode({name: number})


def test_one_integer_argument_is_refused_as_ever():
    with pytest.raises(ValueInvalid, match="a key of type int"):
        encode_args({7: 1})
    with pytest.raises(ValueInvalid, match="lone surrogate"):
        encode_args({"\ud800": 1})
    with pytest.raises(ValueInvalid, match="7 characters, the limit for arguments is 6"):
        encode_args({"x": 1}, 6)
    assert encode_args({"x": True}) == '{"x":true}'


def test_encode_args_refuses_a_long_text_by_name_before_it_is_copied(monkeypatch):
    monkeypatch.setattr(values, "encode", None)  # nothing is encoded
    with pytest.raises(ValueInvalid, match=r"value at \$.text: 17,000,000 characters") as caught:
        encode_args({"x": 1, "text": "a" * 17_000_000})
    assert "weft.put" in caught.value.hint


@pytest.mark.parametrize("sort_keys", [False, True])
def test_compact_json_writes_what_the_standard_encoder_writes(sort_keys):
    make = getattr(json.encoder, "c_make_encoder", None)
    wires = [None, True, 0, -5, 2**60, "", 'é\n\x00"\\\U0001f600', [], {}, [1, [{"b": 1, "a": []}]]]
    for wire in (*wires, {"z": wires, "a": {"c": None, "b": "x"}}):
        plain = json.dumps(wire, ensure_ascii=False, sort_keys=sort_keys, separators=(",", ":"))
        assert compact_json(make, sort_keys=sort_keys)(wire) == plain
        assert compact_json(None, sort_keys=sort_keys)(wire) == plain
    for write in (compact_json(make, sort_keys=sort_keys), compact_json(None, sort_keys=sort_keys)):
        with pytest.raises(TypeError):
            write({1})


@dataclass
class Point:
    x: int


def test_dataclass_takes_two_levels_and_its_fields_those_below():
    deepest = nested(MAX_DEPTH - 2, Point(1))
    assert from_wire(json.loads(encode(deepest))) is not None
    with pytest.raises(ValueInvalid, match="nested deeper than 100"):
        encode([deepest])
    with pytest.raises(ValueInvalid, match="nested deeper than 100"):
        from_wire([to_wire(deepest)])


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1])
def test_objects_of_the_wire_form_count_as_levels(depth):
    value = "leaf"
    for _ in range(depth):
        value = {"$$k": value}
    if depth == MAX_DEPTH:
        assert to_wire(from_wire(value)) == value
    else:
        with pytest.raises(ValueInvalid, match="nested deeper than 100"):
            from_wire(value)


def test_largest_integers_stand_as_they_are_and_others_in_hexadecimal():
    for limit in (2**53 - 1, -(2**53 - 1)):
        beyond = limit + (1 if limit > 0 else -1)
        assert to_wire([limit, beyond]) == [limit, {"$i": hex(beyond)}]
        assert from_wire([limit]) == [limit]
        with pytest.raises(ValueInvalid, match="a bare int is not in wire form"):
            from_wire([beyond])
        assert encode_args({"a": limit}) == encode({"a": limit})
        assert encode_args({"a": beyond, "b": limit}) == encode({"a": beyond, "b": limit})
