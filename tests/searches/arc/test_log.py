"""Search logs: their form, and how slices' logs merge."""

from __future__ import annotations

import hashlib

import pytest

from weft.searches.arc.synthesis.log import SHALLOW, SearchEvent, SearchLog, merge


def log(slice_: int, *times: int) -> SearchLog:
    return SearchLog(tuple(SearchEvent(t, slice_, "best", {"n": i}) for i, t in enumerate(times)))


def test_log_round_trips_with_its_schema_version() -> None:
    one = log(3, 1, 5, 5)
    assert one.to_bytes().startswith(b'{"schema_version":1}\n')
    assert SearchLog.from_bytes(one.to_bytes()) == one
    with pytest.raises(ValueError, match="another format"):
        SearchLog.from_bytes(b'{"schema_version":2}\n')


def test_merged_log_is_ordered_by_time_slice_and_event() -> None:
    merged = merge(log(SHALLOW, 9, 9), [log(0, 2, 7, 7), log(1, 2, 3), log(2)])
    order = [(e.slice, e.time, e.data["n"]) for e in merged.events]
    assert order == [
        (SHALLOW, 9, 0), (SHALLOW, 9, 1), (0, 2, 0), (1, 2, 0), (1, 3, 1), (0, 7, 1), (0, 7, 2),
    ]  # fmt: skip


def test_hash_of_a_log_is_that_of_its_bytes_and_tells_orders_apart() -> None:
    one, two = merge(log(-1), [log(0, 1), log(1, 1)]), merge(log(-1), [log(0, 1), log(1, 2)])
    assert one.digest() == hashlib.sha256(one.to_bytes()).hexdigest()
    assert one.digest() != two.digest()


def test_chain_hashes_part_where_two_logs_part_and_never_meet_again() -> None:
    one, two = log(0, 1, 2, 3, 4), log(0, 1, 2, 9, 4)
    same = [a == b for a, b in zip(one.chain(), two.chain(), strict=True)]
    assert same == [True, True, True, False, False]
    first = hashlib.sha256(b'{"schema_version":1}').digest()
    assert one.chain()[0] == first.hex()
    line = one.to_bytes().splitlines()[1]
    assert one.chain()[1] == hashlib.sha256(first + line).hexdigest()
