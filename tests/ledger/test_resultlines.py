"""Result lines checked in bulk are those that the plain checker accepts one by one."""

from __future__ import annotations

import hashlib
import json
import random
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import LedgerDamaged
from weft.ledger.chain import Chain, LineChecker
from weft.ledger.merkle import Frontier, leaf_hash
from weft.ledger.records import parse
from weft.ledger.resultlines import RoundPlace, accept_results, are_canonical, are_results
from weft.model.keys import sha256_hex, task_key
from weft.model.values import canonical, encode

SEED = 20
GENESIS = sha256_hex("genesis")
HASH = sha256_hex("the last line")
HOSTILE = [
    "", " ", "1 ", " 1", "01", "-0", "+1", "1.0", "1e5", "1E5", "0.1", "NaN", "Infinity", "-",
    "nul", "true ", "[1, 2]", "[1,2", "1]", "2]}", '{"a":[1', "{},{}", "1,2", '"a', 'b"',
    '"\\', "\\",
    '{"b":1,"a":2}', '{"a":1,"a":1}', '{"a":1,"a":2}', '{"a" :1}', '{"a": 1}', '{"a":1,}', "{,}",
    '"\\u0061"', '"\\/"', '"\\ud800"', '"\\ud83d\\ude00"',
    '"\x01"', '"\\u0001"', '"\\b"', '"\\u0008"',
    "9007199254740992", "-9007199254740992", "99999999999999999999", '{"a":9007199254740992}',
    '{"\U0001f600":1,"\ufffd":2}', '{"\ufffd":1,"\U0001f600":2}', "[" * 300 + "]" * 300,
    "[" * 3000 + "]" * 3000, f'"{HASH[:32]}"', f'1,"{HASH[:32]}",2',
    "'a'", "{a:1}", "1\n", "\ufeff1",
]  # fmt: skip
PLAIN = ["0", "1", "-1", "999999999999999", "9007199254740991", '{"x":1}', "null", "true", '"é"',
         '{"a":1,"b":[1,2,{}]}', '{"$f":"0.12345678901234567"}', '"1234567890123456"', "[]", "{}",
         '"\U0001f600"', '"\\n\\"\\\\"', '{"":0}']  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


def is_canonical(text: str) -> bool:
    """The plain twin: RFC 8785 reproduces the text that was read; integers within ±(2^53−1)."""

    def number(text: str) -> int:
        if abs(int(text)) > 2**53 - 1:
            raise ValueError(text)
        return int(text)

    def refuse(text: str) -> float:
        raise ValueError(text)

    try:
        value = json.loads(text, parse_int=number, parse_float=refuse, parse_constant=refuse)
        return rfc8785.dumps(value).decode() == text
    except (ValueError, RecursionError, rfc8785.CanonicalizationError):
        return False


# -- texts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("text", PLAIN)
def test_are_canonical_accepts_the_usual_texts(text: str) -> None:
    assert is_canonical(text)
    assert are_canonical([text], HASH)
    assert are_canonical([text, "1", text], HASH)


def test_are_canonical_of_nothing_holds() -> None:
    assert are_canonical([], HASH)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_are_canonical_hostile_text_is_accepted_only_as_the_library_does(text: str) -> None:
    for texts in ([text], ["1", text], [text, "1"], ['"', text, '"'], ["[", text, "]"]):
        accepted = are_canonical(texts, sha256_hex("".join(texts)))
        assert not accepted or all(map(is_canonical, texts))


def test_are_canonical_texts_that_are_whole_only_together_are_refused() -> None:
    for texts in (['{"a":[1', "2]}", "{},{}"], ["1,2", "[", "]"], ['"', '"'], ["[1", "2]"]):
        assert not are_canonical(texts, HASH)


def test_are_canonical_random_pieces_are_accepted_only_as_the_library_does() -> None:
    rng = random.Random(SEED)
    pieces = [*'{}[]",:', "1", "0", '"a"', '"b"', "null", " ", "\\", "-", ".", f'"{HASH[:32]}"']
    accepted = 0
    for _ in range(20_000):
        texts = [
            "".join(rng.choices(pieces, k=rng.randint(1, 6))) for _ in range(rng.randint(1, 3))
        ]
        if are_canonical(texts, sha256_hex("\n".join(texts))):
            accepted += 1
            assert all(map(is_canonical, texts)), texts
    assert accepted > 20


@given(st.lists(JSON, min_size=1, max_size=5))
def test_are_canonical_accepts_whatever_the_library_writes(values: list[Any]) -> None:
    texts = [rfc8785.dumps(value).decode() for value in values]
    beyond = any(any(c.isdigit() for c in text) and len(text) > 16 for text in texts)
    assert are_canonical(texts, HASH) or beyond


# -- lines ---------------------------------------------------------------------------------


def results(values: list[tuple[str, object, object]], place: RoundPlace) -> list[bytes]:
    """The lines of results of (function, args, value), after a first line of another kind."""
    chain = Chain()
    chain.next_line("genesis", GENESIS, "{}")
    lines = []
    for index, (function, args, value) in enumerate(values, place.recorded):
        text = encode(args)
        key = task_key(GENESIS, place.lane, place.round, index, function, text)
        body = {"args": json.loads(text), "function": function, "index": index}
        body |= {"lane": place.lane, "round": place.round, "value": json.loads(encode(value))}
        lines.append(chain.next_line("result", key, canonical(body)))
    return lines


def begun() -> Chain:
    chain = Chain()
    chain.next_line("genesis", GENESIS, "{}")
    return chain


PLACE = RoundPlace(GENESIS, "/lane é", 3, 7)
VALUES: list[tuple[str, object, object]] = [
    ("m:f", {"x": 1}, 2), ("m:f", {"x": 2, "y": [1, {"a": 0.5}]}, {"b": None, "a": "é\n"}),
    ("m:g", {}, [1.5, 2**70, "\U0001f600"]), ("m:f", {"text": ',"function":"m:f","index":9'}, 0),
    ("name with space", {"x": -5}, "a" * 700),
]  # fmt: skip


def test_accept_results_advances_the_chain_over_good_lines() -> None:
    lines, chain, twin = results(VALUES * 3, PLACE), begun(), begun()
    assert accept_results(lines, chain, PLACE) == (15, 0)
    twin.accept_all(lines)
    assert (chain.prev_hash, chain.size, chain.root()) == (twin.prev_hash, 16, twin.root())


def test_accept_results_stops_before_a_line_of_another_kind() -> None:
    lines, chain = results(VALUES, PLACE), begun()
    other = lines[3].replace(b'"kind":"result"', b'"kind":"answer"')
    assert accept_results([*lines[:3], other], chain, PLACE) == (3, 1)
    assert chain.size == 4
    assert accept_results([other], chain, PLACE) == (0, 1)
    assert accept_results([], chain, PLACE) == (0, 0)


def test_accept_results_function_name_with_escapes_is_left_to_the_twin() -> None:
    lines = results([('a"b', {}, 1), ("m:f", {}, 1)], PLACE)
    assert accept_results(lines, begun(), PLACE) == (0, 1)


def test_accept_results_args_that_look_like_the_rest_of_a_line_are_left_to_the_twin() -> None:
    inner = {"a": 1, "function": "m:f", "index": 7, "lane": PLACE.lane, "round": 3, "value": 1}
    lines = results([("m:f", inner, 1)], PLACE)
    assert accept_results(lines, begun(), PLACE) == (0, 1)


def test_accept_results_texts_that_are_not_utf8_or_canonical_are_left_to_the_twin() -> None:
    for old, new in ((b'"\xc3\xa9\\n"', b'"\xff"'), (b'"\xc3\xa9\\n"', b'"\\u0061"')):
        lines = results(VALUES[:2], PLACE)
        lines[1] = lines[1].replace(old, new)
        assert accept_results(lines, begun(), PLACE) == (0, 2)


def test_accept_results_mutated_lines_are_accepted_only_as_the_plain_checker_does() -> None:
    rng, refusals = random.Random(SEED), 0
    good = results(VALUES, PLACE)
    for _ in range(4000):
        place, number = rng.randrange(len(good)), rng.randrange(1 << 30)
        line = bytearray(good[place])
        at = number % len(line)
        line[at : at + rng.randint(0, 2)] = rng.choice(
            [b"", b" ", b"0", b"\\", b'"', b",", b"}", b"\xff", bytes([line[at] ^ 1])]
        )
        lines = [*good[:place], bytes(line), *good[place + 1 :]]
        count, plain = accept_results(lines, chain := begun(), PLACE)
        assert chain.size == 1 + count
        assert count + plain <= len(lines)
        accepted = plain_count(lines)
        assert count <= accepted
        refusals += count <= place
    assert refusals > 3000


def plain_count(lines: list[bytes]) -> int:
    """The number of leading lines that the plain checker accepts and whose keys match."""
    checker, count = LineChecker(None), 0
    checker.chain = begun()
    for index, line in enumerate(lines, PLACE.recorded):
        try:
            record = checker.take(line)
        except LedgerDamaged:
            break
        body = record.body
        place = (body.get("lane"), body.get("round"), body.get("index"))
        args = canonical(body.get("args"))
        key = task_key(GENESIS, PLACE.lane, PLACE.round, index, str(body.get("function")), args)
        if place != (PLACE.lane, PLACE.round, index) or record.key != key:
            break
        count += 1
    return count


# -- texts of rows ---------------------------------------------------------------------------


def rows() -> list[tuple[str, str, str, str]]:
    records = [parse(line) for line in results(VALUES, PLACE)]
    return [
        (r.key, r.body["function"], canonical(r.body["args"]), canonical(r.body["value"]))
        for r in records
    ]


def test_are_results_holds_for_the_texts_of_good_lines() -> None:
    assert are_results(rows(), PLACE, HASH)


@pytest.mark.parametrize("field", range(4))
def test_are_results_any_other_text_is_refused(field: int) -> None:
    for other in ("1.0", "é", '{"x":01}', HASH):
        texts = [list(row) for row in rows()]
        texts[2][field] = other
        assert not are_results([tuple(row) for row in texts], PLACE, HASH)  # type: ignore[misc]


@pytest.mark.parametrize("args", ['{"x": 1}', '{"b":1,"a":2}', '{"x":1.0}', '{"a":1,"b":2}'])
def test_are_results_arguments_that_fit_their_key_must_be_canonical_too(args: str) -> None:
    key = hashlib.sha256(f'["task","{GENESIS}","/lane é",3,7,"f",{args}]'.encode()).hexdigest()
    is_canonical = args == '{"a":1,"b":2}'
    assert are_results([(key, "f", args, "1")], PLACE, HASH) is is_canonical


def test_are_results_function_that_needs_escapes_is_refused() -> None:
    key = hashlib.sha256(f'["task","{GENESIS}","/lane é",3,7,"a"b",{{}}]'.encode()).hexdigest()
    assert not are_results([(key, 'a"b', "{}", "1")], PLACE, HASH)


# -- tree and chain --------------------------------------------------------------------------


def test_extend_grows_the_tree_as_append_does() -> None:
    leaves = [leaf_hash(bytes([i])) for i in range(70)]
    for first in range(35):
        for count in range(35):
            fast, slow = Frontier(), Frontier()
            fast.extend(leaves[:first])
            fast.extend(leaves[first : first + count])
            for leaf in leaves[: first + count]:
                slow.append(leaf)
            assert (fast.size, fast.root()) == (slow.size, slow.root())
            fast.append(leaves[-1])
            slow.append(leaves[-1])
            assert fast.root() == slow.root()


def test_next_lines_are_those_of_next_line() -> None:
    entries = [("result", sha256_hex(str(i)), canonical({"i": i})) for i in range(9)]
    fast, slow = begun(), begun()
    assert fast.next_lines(entries) == [slow.next_line(*entry) for entry in entries]
    assert (fast.prev_hash, fast.root()) == (slow.prev_hash, slow.root())
    fast.accept_all([])
    assert fast.size == 10


@pytest.mark.parametrize("key", ["", "A" * 64, "g" * 64, "a" * 63, "a" * 65])
def test_next_lines_refuse_what_next_line_refuses(key: str) -> None:
    entries = [("result", "a" * 64, "{}"), ("result", key, "{}")]
    with pytest.raises(AssertionError, match="a record cannot hold"):
        Chain().next_lines(entries)
