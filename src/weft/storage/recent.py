"""Rows that the manifest wrote lately, kept in memory up to a bound.

The ledger needs each of them once, soon, and a search reads those of a lazy round when it is
over: to read them from the file again would cost more than to write them did. Two generations:
when the younger one is full it takes the place of the older, which is forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.storage.rows import RecordedRow

GENERATION_BYTES = 32 * 2**20
ROW_BYTES = 420
"""Of a row without the texts of its arguments and value, about."""


class RecentRows:
    """Rows by id; what it does not have is in the file."""

    __slots__ = ("_old", "_size_bytes", "_young")

    def __init__(self) -> None:
        self._young: dict[int, RecordedRow] = {}
        self._old: dict[int, RecordedRow] = {}
        self._size_bytes = 0

    def add(self, rows: Sequence[RecordedRow]) -> None:
        """Remember rows, in any order."""
        if self._size_bytes > GENERATION_BYTES:
            self._old, self._young, self._size_bytes = self._young, {}, 0
        self._young.update(zip([row[0] for row in rows], rows, strict=True))
        self._size_bytes += sum([len(row[4]) + len(row[5] or "") for row in rows])
        self._size_bytes += ROW_BYTES * len(rows)

    def rows(self, first: int, end: int) -> list[RecordedRow] | None:
        """Return the rows with first ≤ id < end, by id; None unless all of them are here."""
        young, old = self._young, self._old
        try:
            return [young.get(id_) or old[id_] for id_ in range(first, end)]
        except KeyError:
            return None

    def clear(self) -> None:
        """Forget them: they were changed."""
        self._young, self._old, self._size_bytes = {}, {}, 0
