"""The events of a search, with logical time: the number of programs charged so far, not a clock.

Logs of slices are merged by (time, slice, order within the slice), so the merged log does not
depend on how the slices were run.
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
"""The slice number of the first view; views come after all slices."""

GROUNDED = 10_000
"""Offset of the slice numbers of the search on another background."""


@dataclass(frozen=True, slots=True)
class SearchEvent:
    """An event of kind `best`, `found` or `end`."""

    time: int
    slice: int
    kind: str
    data: Mapping[str, int | str | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SearchLog:
    """Events in order."""

    events: tuple[SearchEvent, ...] = ()

    def to_bytes(self) -> bytes:
        """Return one canonical JSON object per line; the first one names the format."""
        lines = [canonical({"schema_version": SCHEMA_VERSION})]
        lines += [canonical(to_json(event)) for event in self.events]
        return "".join(line + "\n" for line in lines).encode()

    @staticmethod
    def from_bytes(data: bytes) -> SearchLog:
        """Undo `to_bytes`; raises ValueError for another format."""
        first, *rest = data.decode().splitlines()
        if json.loads(first) != {"schema_version": SCHEMA_VERSION}:
            raise ValueError(f"a search log of another format: {first[:60]}")
        return SearchLog(tuple(from_json(SearchEvent, json.loads(line)) for line in rest))


def merge(shallow: SearchLog, slices: Sequence[SearchLog]) -> SearchLog:
    """Merge logs: the shallow phase, then the slices by (time, slice, order)."""
    merged: Iterable[SearchEvent] = heapq.merge(
        *(log.events for log in slices), key=lambda event: (event.time, event.slice)
    )
    return SearchLog((*shallow.events, *merged))


def append(log: SearchLog, grounded: SearchLog, view: str) -> SearchLog:
    """Append the log of the search on another background: slices renumbered, programs viewed."""
    own = viewed(grounded, view).events
    return SearchLog((*log.events, *(replace(e, slice=e.slice + GROUNDED) for e in own)))


def viewed(log: SearchLog, view: str) -> SearchLog:
    """Return the log of the search of a viewed task, with the view added to its programs."""

    def event(own: SearchEvent) -> SearchEvent:
        if "program" not in own.data:
            return own
        return replace(own, data={**own.data, "program": f"{view}\n{own.data['program']}"})

    return SearchLog(tuple(map(event, log.events)))
