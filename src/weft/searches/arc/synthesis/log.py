"""What a search did, as events with logical time: programs charged so far. No clock.

Logs of slices merge by (time, slice, order within the slice), so the merged log and its hash are
the same however the slices were run.
"""

from __future__ import annotations

import hashlib
import heapq
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from weft.model.values import canonical

SCHEMA_VERSION = 1
SHALLOW = -1
"""The slice number of the shallow phase, which comes before all others."""
VIEWED = 1000
"""The slice number of the first view; they come behind all slices."""


class EventRecord(TypedDict):
    """A line of a log."""

    time: int
    slice: int
    kind: str
    data: dict[str, int | str | bool]


@dataclass(frozen=True, slots=True)
class SearchEvent:
    """Something that happened: `best`, `found` or `end`."""

    time: int
    slice: int
    kind: str
    data: Mapping[str, int | str | bool] = field(default_factory=dict)

    def to_dict(self) -> EventRecord:
        """JSON form."""
        return {"time": self.time, "slice": self.slice, "kind": self.kind, "data": dict(self.data)}

    @staticmethod
    def from_dict(raw: EventRecord) -> SearchEvent:
        """Read what `to_dict` wrote."""
        return SearchEvent(raw["time"], raw["slice"], raw["kind"], raw["data"])


@dataclass(frozen=True, slots=True)
class SearchLog:
    """Events in order."""

    events: tuple[SearchEvent, ...] = ()

    def to_bytes(self) -> bytes:
        """One canonical JSON object per line, the first one naming the format."""
        lines = [canonical({"schema_version": SCHEMA_VERSION})]
        lines += [canonical(event.to_dict()) for event in self.events]
        return "".join(line + "\n" for line in lines).encode()

    @staticmethod
    def from_bytes(data: bytes) -> SearchLog:
        """Read what `to_bytes` wrote."""
        first, *rest = data.decode().splitlines()
        if json.loads(first) != {"schema_version": SCHEMA_VERSION}:
            raise ValueError(f"a search log of another format: {first[:60]}")
        return SearchLog(tuple(SearchEvent.from_dict(json.loads(line)) for line in rest))

    def chain(self) -> list[str]:
        """Return a hash per line, each over the one before it: it shows where two logs part."""
        hashes, last = [], b""
        for line in self.to_bytes().splitlines():
            last = hashlib.sha256(last + line).digest()
            hashes.append(last.hex())
        return hashes

    def digest(self) -> str:
        """SHA-256 of the bytes."""
        return hashlib.sha256(self.to_bytes()).hexdigest()


def merge(shallow: SearchLog, slices: Sequence[SearchLog]) -> SearchLog:
    """Assemble logs: the shallow phase, then the slices by (time, slice, order)."""
    merged: Iterable[SearchEvent] = heapq.merge(
        *(log.events for log in slices), key=lambda event: (event.time, event.slice)
    )
    return SearchLog((*shallow.events, *merged))
