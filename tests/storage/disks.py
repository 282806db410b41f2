"""Disks that record their operations for tests."""

from __future__ import annotations

from weft.storage.disk import Disk


class NamedDisk(Disk):
    """Records the names of its durable operations, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def step(self, name: str) -> None:
        self.names.append(name)
