"""Rounds and tasks of a manifest: blocks of ids, digests, rows read together."""

from __future__ import annotations

import contextlib

import pytest

from tests.storage.manifests import GENESIS, block_of, digest_of, queue, states
from weft.errors import ManifestDamaged
from weft.storage import manifest as manifest_module
from weft.storage.disk import Disk
from weft.storage.manifest import ROOT_LANE, Manifest
from weft.storage.rows import TaskRow


def test_rounds_own_blocks_of_ids_without_overlap(manifest, path):
    sizes = [("tasks", 3), ("lanes", 50), ("tasks", 0), ("tasks", 2), ("tasks", 1)]
    rows = [manifest.add_round(ROOT_LANE, i, *kind_size) for i, kind_size in enumerate(sizes)]
    assert [row.first for row in rows] == [1, 4, 4, 4, 6]
    manifest.commit()
    reopened = Manifest.open(path, Disk())  # a later session continues after them
    assert reopened.add_round(ROOT_LANE, 9, "tasks", 1).first in (7, 54)
    reopened.close()


def test_find_round_gives_what_update_wrote(manifest):
    row = manifest.add_round(ROOT_LANE, 0, "tasks", 3)
    row.recorded, row.closed, row.stopped = 2, True, True
    manifest.update_round(row)
    assert manifest.find_round(ROOT_LANE, 0) == row
    assert manifest.find_round(ROOT_LANE, 1) is None


def test_lanes_are_listed_in_the_order_opened(manifest):
    manifest.add_lanes(ROOT_LANE, 2, ["/b", "/a"])
    lanes = manifest.lanes_of(ROOT_LANE, 2)
    assert [path for _, path in lanes] == ["/b", "/a"]
    manifest.set_answer(lanes[1][0], "{}")
    assert [manifest.lane_answer(lane) for lane, _ in lanes] == [None, "{}"]


def test_tasks_live_from_queued_to_completed(manifest):
    row = manifest.add_round(ROOT_LANE, 0, "tasks", 3)
    queue(manifest, row, 3)
    manifest.running([(row.first + 1, "k1", "m:f", "{}", 2.0, 1, 77, 0.5, "n", None)])
    assert states(manifest) == ["queued", "running", "queued"]
    manifest.requeue((row.first + 1, "k1", "m:f", "{}", 1))
    assert states(manifest) == ["queued"] * 3
    named = manifest.digests.of("completed", "k0", "m:f", "{}", "5", None)
    times, worker = (1.0, 2.0, 3.0, 1.0), (77, 0.5, "n", None)
    end = ("completed", "k0", "m:f", "{}", "5", None, named, 2)
    manifest.finish_tasks([(row.first, *end, *times, *worker, None)])
    [first, *_] = manifest.tasks(row.first, row.first + 3)
    assert first == TaskRow(row.first, "completed", "k0", "m:f", "{}", "5", None, 2)
    view = manifest.query("SELECT lane, round, idx, state FROM task_view ORDER BY idx")
    assert view == [("", 0, 0, "completed"), ("", 0, 1, "queued"), ("", 0, 2, "queued")]


def test_tasks_altered_row_is_damage(manifest):
    row = manifest.add_round(ROOT_LANE, 0, "tasks", 1)
    manifest.restore(TaskRow(row.first, "completed", "k0", "m:f", "{}", "5", None, 1))
    changes = [("value", "6"), ("args", "[]"), ("key", "k1"), ("function", "m:g")]
    states = [("state", state) for state in ("failed", "queued", "dropped", "lost")]
    for column, value in (*changes, *states):
        manifest.query("SAVEPOINT before")
        manifest.query(f"UPDATE tasks SET {column} = ?", value)
        with pytest.raises(ManifestDamaged, match="was altered"):
            manifest.check()
        manifest.query("ROLLBACK TO before")
    manifest.check()


def test_drop_finished_are_dropped_and_others_cancelled(manifest):
    row = manifest.add_round(ROOT_LANE, 0, "tasks", 5)
    queue(manifest, row, 5)
    ends = [("completed", "1", None), ("completed", "1", None), ("failed", None, "{}")]
    rest = (1, 1.0, 1.0, 1.0, 0.0, None, None, None, None, None)
    manifest.finish_tasks([
        (row.first + i, state, f"k{i}", "m:f", "{}", value, error,
         digest_of(manifest, i, state, value, error), *rest)
        for i, (state, value, error) in enumerate(ends)
    ])  # fmt: skip
    manifest.running([(row.first + 3, "k3", "m:f", "{}", 2.0, 1, 77, 0.5, "n", None)])
    manifest.drop(row.first + 1, row.first + 5)
    assert states(manifest) == ["completed", "dropped", "dropped", "cancelled", "cancelled"]
    manifest.check()
    for task, state in ((1, "completed"), (2, "failed"), (3, "queued"), (4, "running")):
        manifest.query("SAVEPOINT before")
        manifest.query("UPDATE tasks SET state=? WHERE id=?", state, row.first + task)
        with pytest.raises(ManifestDamaged, match=f"task {row.first + task} was altered"):
            manifest.check()
        manifest.query("ROLLBACK TO before")


def test_manifest_of_schema_1_is_continued_with_digests_that_leave_the_state_out(path):
    new = Manifest.create(path, Disk(), "id1", GENESIS)
    new.set_meta("schema_version", "1")
    new.commit()
    new.close()
    with contextlib.closing(Manifest.open(path, Disk())) as old:
        row = old.add_round(ROOT_LANE, 0, "tasks", 3)
        queue(old, row, 3)
        assert old.digests.of("failed", "k", "f", "{}", "5", None) == "5a5e4087dcefac1b"
        old.restore(TaskRow(row.first, "completed", "k0", "m:f", "{}", "5", None, 1))
        old.finish_block(block_of("m:f", row.first + 1, [("k1", "{}", "5")]))
        old.check()
        old.drop(row.first + 1, row.first + 3)
        assert states(old) == ["completed", "dropped", "cancelled"]
        old.check()
        old.query("UPDATE tasks SET value='6' WHERE id=?", row.first)
        with pytest.raises(ManifestDamaged, match="was altered"):
            old.check()


def test_restore_new_task_and_over_an_older_row(manifest):
    row = manifest.add_round(ROOT_LANE, 0, "tasks", None)
    task = TaskRow(row.first, "completed", "k0", "m:f", "{}", "5", None, 0)
    manifest.restore(task)
    manifest.restore(TaskRow(row.first, "failed", "k0", "m:f", "{}", None, "{}", 0))
    [restored] = manifest.tasks(0, 100)
    assert (restored.state, restored.value, restored.error) == ("failed", None, "{}")
    assert manifest.add_round(ROOT_LANE, 1, "tasks", 1).first == row.first + 1


def test_learn_size_of_the_last_block_grows_in_place(manifest):
    row = manifest.add_round(ROOT_LANE, 0, "tasks", None)
    manifest.restore(TaskRow(row.first, "completed", "k0", "m:f", "{}", "5", None, 0))
    row.recorded = 1
    manifest.learn_size(row, 10)
    assert (row.first, row.size) == (1, 10)
    assert manifest.add_round(ROOT_LANE, 1, "tasks", 1).first == 11


def test_learn_size_of_an_earlier_block_moves_it_with_all_that_names_it(manifest):
    row = manifest.add_round(ROOT_LANE, 0, "tasks", None)
    for i in range(2):
        manifest.restore(TaskRow(row.first + i, "completed", f"k{i}", "m:f", "{}", "5", None, 0))
    row.recorded = 2
    later = manifest.add_round(ROOT_LANE, 1, "tasks", 4)
    queue(manifest, later, 4)
    manifest.attempt((1, 1, "requeued", "lost", "", None, 1.0, None, None, None, None))
    manifest.event(1.0, 1.0, "strange", 2, "")
    manifest.learn_size(row, 5)
    assert row.first == 7
    assert [t.key for t in manifest.tasks(7, 12)] == ["k0", "k1"]
    assert [t.id for t in manifest.tasks(0, 7)] == [3, 4, 5, 6]
    assert manifest.query("SELECT task FROM attempts") == [(7,)]
    assert manifest.query("SELECT task FROM events") == [(8,)]
    assert manifest.add_round(ROOT_LANE, 2, "tasks", 1).first == 12


def test_note_head_remembers_size_root_and_commits(manifest):
    manifest.commit()
    manifest.note_head(3, "ab", 9.0)
    assert manifest.query("SELECT * FROM heads") == [(3, "ab", 1, 9.0)]


def test_digests_of_a_block_are_those_of_its_rows(manifest):
    rows = [("k", "{}", "5"), ("l", '{"x":1}', '"ä"')]
    expected = [manifest.digests.of("completed", k, "m:f", a, v, None) for k, a, v in rows]
    assert manifest.digests.of_block(block_of("m:f", 1, rows)) == expected


def test_blocks_written_a_moment_ago_are_given_from_memory_among_other_rows(manifest, monkeypatch):
    """Blocks arrive in any order, between rows that are written one by one."""
    monkeypatch.setattr("weft.storage.recent.GENERATION_BYTES", 500)  # two blocks exceed it
    monkeypatch.setattr("weft.storage.recent.PACKED_BYTES", 2500)
    row = manifest.add_round(ROOT_LANE, 0, "tasks", 9)
    expected = [(row.first + i, "completed", f"k{i}", "m:f", "{}", str(i), None) for i in range(9)]
    for start, end in ((5, 7), (0, 3), (7, 9)):
        rows = [(key, args, value) for _, _, key, _, args, value, _ in expected[start:end]]
        manifest.finish_block(block_of("m:f", row.first + start, rows))
    rest = (1, 1.0, 1.0, 1.0, 0.0, None, None, None, None, None)
    manifest.finish_tasks([
        (*expected[i], digest_of(manifest, i, "completed", str(i), None), *rest) for i in (3, 4)
    ])  # fmt: skip
    for start, end in ((0, 9), (1, 2), (2, 6), (6, 8), (3, 5)):
        part = [*manifest.recorded(row.first + start, row.first + end)]
        assert part == [expected[start:end]]
    manifest.query("DELETE FROM tasks")
    assert [*manifest.recorded(row.first, row.first + 9)] == [expected]  # all in memory
    for first in (100, 200, 300):
        manifest.finish_block(block_of("m:f", first, [("k", "{}", '"' + 900 * "a" + '"')]))
    assert [*manifest.recorded(row.first, row.first + 9)] == []  # the oldest are forgotten
    assert [*manifest.recorded(row.first + 9, row.first + 10)] == []


@pytest.mark.parametrize("text", ['"a"', '["a",\n1]', "\n", ""])
def test_rows_of_packed_blocks_are_those_that_were_written(manifest, monkeypatch, text):
    """Texts with line breaks are not canonical JSON; a packed block could not restore them."""
    rows = [("k0", "{}", "0"), ("k1", "{}", text), ("k2", "{}", "2")]
    monkeypatch.setattr("weft.storage.recent.GENERATION_BYTES", 0)
    manifest.finish_block(block_of("m:f", 1, rows))
    manifest.finish_block(block_of("m:f", 4, [("k3", "{}", "3")]))
    manifest.query("DELETE FROM tasks")
    [recorded] = manifest.recorded(1, 5)
    assert [row[2:6:3] for row in recorded[:3]] == [(key, value) for key, _, value in rows]


def test_rows_written_a_moment_ago_are_given_from_memory_as_they_are_stored(manifest, monkeypatch):
    monkeypatch.setattr("weft.storage.recent.GENERATION_BYTES", 500)  # two rows exceed it
    monkeypatch.setattr("weft.storage.recent.PACKED_BYTES", 1000)
    row = manifest.add_round(ROOT_LANE, 0, "tasks", 9)
    rest = (1, 1.0, 1.0, 1.0, 0.0, None, None, None, None, None)
    for start in (0, 2, 4):
        manifest.finish_tasks([
            (row.first + i, "completed", f"k{i}", "m:f", "{}", str(i), None,
             digest_of(manifest, i, "completed", str(i), None), *rest)
            for i in range(start, start + 2)
        ])  # fmt: skip
    expected = [(row.first + i, "completed", f"k{i}", "m:f", "{}", str(i), None) for i in range(6)]
    manifest.query("DELETE FROM tasks WHERE id >= ?", row.first + 2)  # remembered rows only
    assert [*manifest.recorded(row.first + 4, row.first + 4)] == []
    assert [*manifest.recorded(row.first + 2, row.first + 6)] == [expected[2:]]  # remembered
    assert [*manifest.recorded(row.first, row.first + 6)] == [expected[:2]]  # the stored part
    manifest.drop(row.first + 8, row.first + 9)
    assert [*manifest.recorded(row.first + 2, row.first + 6)] == []  # all forgotten


def test_final_calls_are_those_before_the_first_task_that_is_not_over(manifest):
    row = manifest.add_round(ROOT_LANE, 0, "tasks", 9)
    rest = (1, 1.0, 1.0, 1.0, 0.0, None, None, None, None, None)
    ends = [("completed", "5", None), ("failed", None, "{}")]
    manifest.finish_tasks([
        (row.first + i, state, f"k{i}", "m:f", "{}", value, error, "d", *rest)
        for i, (state, value, error) in zip((0, 1, 3), [*ends, ends[0]], strict=True)
    ])  # fmt: skip
    manifest.queue([(row.first + 2, "k2", "m:f", "{}", 1.0)])
    expected = [("k0", "m:f", "{}", False), ("k1", "m:f", "{}", True)]
    assert manifest.final_calls(row.first, row.first + 9) == expected
    assert manifest.final_calls(row.first, row.first + 1) == expected[:1]
    assert manifest.final_calls(row.first + 2, row.first + 9) == []
    assert manifest.final_calls(row.first + 4, row.first + 9) == []


def test_recorded_gives_the_rows_of_tasks_in_lists_of_bounded_size(manifest):
    row = manifest.add_round(ROOT_LANE, 0, "tasks", 40)
    text = f'"{"x" * (manifest_module.BATCH_CHARS // 10)}"'
    for i in range(40):
        manifest.restore(TaskRow(row.first + i, "completed", f"k{i}", "m:f", "{}", text, None, 0))
    batches = [*manifest.recorded(row.first, row.first + 39)]
    assert [len(batch) for batch in batches] == [10, 10, 10, 9]
    rows = [(t.id, t.state, t.key, t.function, t.args, t.value, t.error)
            for t in manifest.tasks(row.first, row.first + 39)]  # fmt: skip
    assert [row for batch in batches for row in batch] == rows
    assert [*manifest.recorded(10**6, 10**7)] == []


def test_check_rows_looks_only_where_it_is_told(manifest):
    row = manifest.add_round(ROOT_LANE, 0, "tasks", 3)
    for i in range(3):
        manifest.restore(TaskRow(row.first + i, "completed", f"k{i}", "m:f", "{}", "5", None, 0))
    manifest.query("UPDATE tasks SET value='6' WHERE id=?", row.first + 1)
    manifest.check_rows(0, row.first + 1)
    manifest.check_rows(row.first + 2, 2**63 - 1)
    with pytest.raises(ManifestDamaged, match=f"task {row.first + 1} was altered"):
        manifest.check_rows(0, row.first + 2)


def test_round_of_no_kind_is_damage(tmp_path):
    path = tmp_path / "manifest.sqlite"
    manifest = Manifest.create(path, Disk(), "run", "{}")
    manifest.add_round(ROOT_LANE, 0, "tasks", 0)
    manifest.check_file()
    manifest._db.execute("UPDATE rounds SET kind='ta3ks'")
    for check in (manifest.check_file, manifest.check_rounds):
        with pytest.raises(ManifestDamaged, match="round 0 is of kind 'ta3ks'"):
            check()
    manifest.close()


def test_check_looks_at_every_row_however_many(manifest):
    row = manifest.add_round(ROOT_LANE, 0, "tasks", 200)
    for i in range(200):
        manifest.restore(TaskRow(row.first + i, "completed", f"k{i}", "m:f", "{}", "5", None, 0))
    manifest.check()
    manifest.query("UPDATE tasks SET value='6' WHERE id=?", row.first + 199)
    with pytest.raises(ManifestDamaged, match=f"task {row.first + 199} was altered"):
        manifest.check()
    with pytest.raises(ManifestDamaged, match=f"task {row.first + 199} was altered"):
        list(manifest.tasks(row.first, row.first + 200))


def test_digest_of_a_row_exists_for_any_text(tmp_path):
    manifest = Manifest.create(tmp_path / "manifest.sqlite", Disk(), "r", "{}")
    try:
        assert len(manifest.digests.of("failed", "k", "m:f", "{}", None, "\ud800")) == 16
    finally:
        manifest.close()
