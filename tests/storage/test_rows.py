"""Rows written by the block are the rows that would have been written one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.storage.disk import Disk
from weft.storage.manifest import FEW_ROWS, ROOT_LANE, Manifest
from weft.storage.rows import BlockOrigin

ORIGINS = {
    "plain": BlockOrigin("m:f", 1, 1.5, 4711, 17.25, "here", None),
    "nothing known": BlockOrigin("m:f", 2, 1e-9, None, None, None, None),
    "quotes": BlockOrigin("m:f", 3, 2.0, 1, 1.7e9 + 0.1, "o'brien'; DROP TABLE tasks --", 3),
    "unicode": BlockOrigin("größe:maß", 1, 0.1 + 0.2, 1, 0.5, "knoten-ü", 0),
}


def rows_after(
    path: Path, origin: BlockOrigin, count: int, *, by_block: bool
) -> list[tuple[object, ...]]:
    """The table after some values were written, the first into a row that was queued."""
    manifest = Manifest.create(path, Disk(), "id", "{}")
    manifest.add_round(ROOT_LANE, 0, "tasks", count)
    manifest.queue([(1, "k1", origin.function, "{}", origin.queued_at)])
    values = [
        (id_, f"k{id_}", "{}", str(id_), f"d{id_}", 1.0 + id_, 2.0 + id_, 1.0)
        for id_ in range(1, count + 1)
    ]
    if by_block:
        manifest.finish_block(origin, values)
    else:
        manifest.finish_tasks([
            (id_, "completed", key, origin.function, args, value, None, digest, origin.attempt,
             origin.queued_at, start, end, run_s, origin.worker_pid, origin.worker_started,
             origin.node, origin.gpu, None)
            for id_, key, args, value, digest, start, end, run_s in values
        ])  # fmt: skip
    recent = list(manifest.recorded(1, count + 1))
    rows = manifest.query("SELECT * FROM tasks ORDER BY id")
    manifest.close()
    return [*rows, *recent[0]]


@pytest.mark.parametrize("count", [2, FEW_ROWS])
@pytest.mark.parametrize("case", ORIGINS)
def test_block_is_written_as_its_rows_would_be(tmp_path: Path, case: str, count: int) -> None:
    by_block = rows_after(tmp_path / "a", ORIGINS[case], count, by_block=True)
    assert by_block == rows_after(tmp_path / "b", ORIGINS[case], count, by_block=False)
    assert len(by_block) == 2 * count


def test_rounds_are_read_up_to_the_first_that_is_missing(tmp_path: Path) -> None:
    manifest = Manifest.create(tmp_path / "m", Disk(), "id", "{}")
    written = [manifest.add_round(ROOT_LANE, number, "tasks", 1) for number in (0, 1, 2, 4)]
    assert manifest.rounds(ROOT_LANE, 0) == written[:3]
    assert manifest.rounds(ROOT_LANE, 1, most=1) == [written[1]]
    assert manifest.rounds(ROOT_LANE, 3) == []
    manifest.close()
