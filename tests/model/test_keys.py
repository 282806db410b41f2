"""Keys and seeds: fixed values, so that any change of format is noticed, and their definition."""

import hashlib

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import ValueInvalid
from weft.model.keys import record_key, sha256_hex, task_key, task_seed
from weft.model.values import encode, to_wire

GENESIS = "ab" * 32
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
counts = st.integers(0, 2**53 - 1)
arguments = st.dictionaries(names, st.integers() | st.floats(-1, 1) | names, max_size=3)


def test_keys_are_golden():
    key = task_key(GENESIS, "main", 3, 17, "climb:score", '{"x":1}')
    assert key == "1234f610ecdfdf8e08749cdeb4db5b673c7f7fe2da6879f07be7de8938418cd6"
    key = task_key(GENESIS, 'a/"é😀"', 0, 0, "m:f", "{}")
    assert key == "5f0ac1530b3583d987855a57f1d72d6895f14ce8a30e072536eeedd86068e5a8"
    key = record_key(GENESIS, "round", "main", 3)
    assert key == "31bd57f2a48ce3cb43003adef6752203bc4a964dd87dca5bce3398d21a655515"


def test_seeds_are_golden():
    assert task_seed(0, "main", 3, 17, "climb:score", '{"x":1}') == 12070982965864979734
    assert task_seed(2**64, "main", 3, 17, "climb:score", '{"x":1}') == 13302506493282044221
    assert task_seed(-5, "", 0, 0, "m:f", "{}") == 4370082753266864913


def test_sha256_hex_of_text_is_of_its_utf8():
    assert sha256_hex(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert sha256_hex("é") == sha256_hex(b"\xc3\xa9") == hashlib.sha256(b"\xc3\xa9").hexdigest()


@given(names, counts, counts, names, arguments)
def test_task_key_is_hash_of_canonical_list(lane, round_, index, function, args):
    listed = ["task", GENESIS, lane, round_, index, function, to_wire(args)]
    expected = hashlib.sha256(rfc8785.dumps(listed)).hexdigest()
    assert task_key(GENESIS, lane, round_, index, function, encode(args)) == expected


@given(st.integers(), st.tuples(names, counts, counts, names), arguments)
def test_task_seed_is_head_of_hash_of_canonical_list(run_seed, place, args):
    listed = ["seed", to_wire(run_seed), *place, to_wire(args)]
    digest = hashlib.sha256(rfc8785.dumps(listed)).digest()
    seed = task_seed(run_seed, *place, encode(args))
    assert seed == int.from_bytes(digest[:8], "big")
    assert 0 <= seed < 2**64


@given(names, names, counts)
def test_record_key_is_hash_of_canonical_list(kind, lane, round_):
    expected = hashlib.sha256(rfc8785.dumps([GENESIS, kind, lane, round_])).hexdigest()
    assert record_key(GENESIS, kind, lane, round_) == expected


@given(st.tuples(names, counts, counts, names), st.tuples(names, counts, counts, names))
def test_task_keys_of_different_places_differ(one, other):
    assert (task_key(GENESIS, *one, "{}") == task_key(GENESIS, *other, "{}")) is (one == other)
    assert (task_seed(0, *one, "{}") == task_seed(0, *other, "{}")) is (one == other)


def test_cached_heads_do_not_mix_equal_seeds_of_other_type():
    as_bool = task_seed(True, "cache", 0, 0, "m:f", "{}")
    assert task_seed(1, "cache", 0, 0, "m:f", "{}") != as_bool


def test_names_with_lone_surrogates_are_refused():
    with pytest.raises(ValueInvalid):
        task_key(GENESIS, "\ud800", 0, 0, "m:f", "{}")
    with pytest.raises(ValueInvalid):
        task_seed(0, "main", 0, 0, "m:\ud800", "{}")
