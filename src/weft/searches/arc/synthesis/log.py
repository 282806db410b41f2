"""What a search did, as events with logical time: programs charged so far. No clock.

Logs of slices merge by (time, slice, order within the slice), so the merged log is the same
however the slices were run.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from weft.model.codec import from_json, to_json
from weft.model.values import canonical

SCHEMA_VERSION = 1
SHALLOW = -1
"""The slice number of the shallow phase, which comes before all others."""
VIEWED = 1000
"""The slice number of the first view; they come behind all slices."""

GROUNDED = 10_000
"""Added to the slice numbers of the search on black ground."""


@dataclass(frozen=True, slots=True)
class SearchEvent:
    """Something that happened: `best`, `found` or `end`."""

    time: int
    slice: int
    kind: str
    data: Mapping[str, int | str | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SearchLog:
    """Events in order."""

    events: tuple[SearchEvent, ...] = ()

    def to_bytes(self) -> bytes:
        """One canonical JSON object per line, the first one naming the format."""
        lines = [canonical({"schema_version": SCHEMA_VERSION})]
        lines += [canonical(to_json(event)) for event in self.events]
        return "".join(line + "\n" for line in lines).encode()

    @staticmethod
    def from_bytes(data: bytes) -> SearchLog:
        """Read what `to_bytes` wrote."""
        first, *rest = data.decode().splitlines()
        if json.loads(first) != {"schema_version": SCHEMA_VERSION}:
            raise ValueError(f"a search log of another format: {first[:60]}")
        return SearchLog(tuple(from_json(SearchEvent, json.loads(line)) for line in rest))


def merge(shallow: SearchLog, slices: Sequence[SearchLog]) -> SearchLog:
    """Assemble logs: the shallow phase, then the slices by (time, slice, order)."""
    merged: Iterable[SearchEvent] = heapq.merge(
        *(log.events for log in slices), key=lambda event: (event.time, event.slice)
    )
    return SearchLog((*shallow.events, *merged))


def append(log: SearchLog, grounded: SearchLog, view: str) -> SearchLog:
    """Append the log of the search on black ground: its own slice numbers, its programs viewed."""
    own = viewed(grounded, view).events
    return SearchLog((*log.events, *(replace(e, slice=e.slice + GROUNDED) for e in own)))


def viewed(log: SearchLog, view: str) -> SearchLog:
    """Return the log of a search of what a view shows, with the view above its programs."""

    def event(own: SearchEvent) -> SearchEvent:
        if "program" not in own.data:
            return own
        return replace(own, data={**own.data, "program": f"{view}\n{own.data['program']}"})

    return SearchLog(tuple(map(event, log.events)))
