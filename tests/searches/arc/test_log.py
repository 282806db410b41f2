"""Search logs: their format, and merging the logs of slices."""

from __future__ import annotations

import pytest

from weft.searches.arc.synthesis.log import SHALLOW, SearchEvent, SearchLog, merge


def log(slice_: int, *times: int) -> SearchLog:
    return SearchLog(tuple(SearchEvent(t, slice_, "best", {"n": i}) for i, t in enumerate(times)))


def test_log_round_trips_with_its_schema_version() -> None:
    first = log(3, 1, 5, 5)
    assert first.to_bytes().startswith(b'{"schema_version":1}\n')
    assert SearchLog.from_bytes(first.to_bytes()) == first
    with pytest.raises(ValueError, match="another format"):
        SearchLog.from_bytes(b'{"schema_version":2}\n')


def test_merged_log_is_ordered_by_time_slice_and_event() -> None:
    merged = merge(log(SHALLOW, 9, 9), [log(0, 2, 7, 7), log(1, 2, 3), log(2)])
    order = [(e.slice, e.time, e.data["n"]) for e in merged.events]
    assert order == [
        (SHALLOW, 9, 0), (SHALLOW, 9, 1), (0, 2, 0), (1, 2, 0), (1, 3, 1), (0, 7, 1), (0, 7, 2),
    ]  # fmt: skip
