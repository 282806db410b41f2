"""Digests of the manifest's task rows: an altered row is detected when it is read.

A short hash of a settled row's content is stored in the row itself. It detects damage and careless
edits, but not forgery: anyone can compute it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from weft.errors import ManifestDamaged
from weft.storage.rows import FINAL, OPEN, SETTLED, TaskRow, ValueBlock


@dataclass(frozen=True, slots=True)
class RowDigests:
    """Computes and checks the digests of a manifest, according to its schema version."""

    with_state: bool
    """Whether a row's state is part of its digest; in version 1 it is not, and only final rows
    have one."""

    def of(
        self, state: str, key: str, function: str, args: str, value: str | None, error: str | None
    ) -> str:
        """Return a short hash of a settled row's content."""
        text = f"{key}\n{function}\n{args}\n{value}\n{error}"
        if self.with_state:
            text = f"{state}\n{text}"
        return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()

    def of_row(self, row: TaskRow) -> str:
        """Return the same hash for a row."""
        return self.of(row.state, row.key, row.function, row.args, row.value, row.error)

    def of_block(self, block: ValueBlock) -> list[str]:
        """Return the digest of each completed task of a block."""
        middle, digests = f"\n{block.origin.function}\n", list[str]()
        state = "completed\n" if self.with_state else ""
        start = hashlib.blake2b(state.encode(), digest_size=8).copy
        for key, args, value in zip(block.keys, block.args, block.values, strict=True):
            digest = start()  # a copy takes half the time of a new one with its options
            digest.update(f"{key}{middle}{args}\n{value}\nNone".encode("utf-8", "replace"))
            digests.append(digest.hexdigest())
        return digests

    def check(self, row: TaskRow, digest: str | None) -> None:
        """Raise `ManifestDamaged` if a row is not what was written."""
        if not self._is_sound(row, digest):
            raise ManifestDamaged(f"manifest.sqlite: the row of task {row.id} was altered")

    def _is_sound(self, row: TaskRow, digest: str | None) -> bool:
        """Whether a row is what was written; one that is not settled has no digest."""
        if row.state in FINAL or (row.state in SETTLED and self.with_state):
            return digest == self.of_row(row)
        return not self.with_state or (row.state in OPEN and digest is None)
