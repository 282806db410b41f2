"""The position of a task: lane, round and index, computed from the rounds' ranges of task ids."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from weft.storage.manifest import Manifest


@dataclass(frozen=True, slots=True)
class Block:
    """One round's range of task ids."""

    first: int
    end: int
    lane: str
    round: int
    recorded: int
    closed: int


@dataclass(frozen=True, slots=True)
class Places:
    """All rounds of a manifest, by their first task."""

    blocks: tuple[Block, ...]
    _firsts: tuple[int, ...]

    @staticmethod
    def read(manifest: Manifest) -> Places:
        """Read the rounds that have tasks."""
        rows = manifest.query(
            "SELECT r.first, r.first + coalesce(r.size, r.recorded), l.path, r.round, r.recorded,"
            " r.closed FROM rounds r JOIN lanes l ON l.id = r.lane"
            " WHERE r.kind = 'tasks' AND coalesce(r.size, r.recorded) > 0 ORDER BY r.first"
        )
        return Places(tuple(Block(*row) for row in rows), tuple(row[0] for row in rows))

    def of(self, task: int) -> Block:
        """Return the round that a task id belongs to."""
        at = bisect_right(self._firsts, task) - 1
        if at < 0 or task >= self.blocks[at].end:
            raise ValueError(f"task {task} is in no round")
        return self.blocks[at]

    def name(self, task: int) -> str:
        """Return a task's position as `weft explain` takes it: LANE:ROUND:INDEX."""
        block = self.of(task)
        return f"{block.lane}:{block.round}:{task - block.first}"
