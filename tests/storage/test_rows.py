"""Rows written in a block are the rows that would have been written one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.storage.disk import Disk
from weft.storage.manifest import ROOT_LANE, Manifest
from weft.storage.rows import STATEMENT_ROWS, BlockOrigin, ValueBlock

ORIGINS = {
    "plain": BlockOrigin("m:f", 1, 1.5, 4711, 17.25, "here", None),
    "nothing known": BlockOrigin("m:f", 2, 1e-9, None, None, None, None),
    "quotes": BlockOrigin("m:f", 3, 2.0, 1, 1.7e9 + 0.1, "o'brien'; DROP TABLE tasks --", 3),
    "unicode": BlockOrigin("größe:maß", 1, 0.1 + 0.2, 1, 0.5, "knoten-ü", 0),
}


def rows_after(
    path: Path, origin: BlockOrigin, count: int, *, by_block: bool
) -> list[tuple[object, ...]]:
    """The table after some values were written, the first to a row that was queued."""
    manifest = Manifest.create(path, Disk(), "id", "{}")
    manifest.add_round(ROOT_LANE, 0, "tasks", count)
    manifest.queue([(1, "k1", origin.function, "{}", origin.queued_at)])
    ids = range(1, count + 1)
    keys, args = [f"k{id_}" for id_ in ids], [f'{{"x":{id_}}}' for id_ in ids]
    block = ValueBlock(origin, 1, keys, args, [*map(str, ids)], 7.5, [250_000] * count)
    if by_block:
        manifest.finish_block(block)
    else:
        manifest.finish_tasks([
            (id_, "completed", key, origin.function, args, str(id_), None,
             manifest.digests.of("completed", key, origin.function, args, str(id_), None),
             origin.attempt, origin.queued_at, 7.25 + id_ / 4, 7.5 + id_ / 4, 0.25,
             origin.worker_pid, origin.worker_started, origin.node, origin.gpu, None)
            for id_, key, args in zip(ids, keys, args, strict=True)
        ])  # fmt: skip
    recent = list(manifest.recorded(1, count + 1))
    rows = manifest.query("SELECT * FROM tasks ORDER BY id")
    manifest.close()
    return [*rows, *recent[0]]


@pytest.mark.parametrize("count", [2, *STATEMENT_ROWS, sum(STATEMENT_ROWS) + 3])
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
