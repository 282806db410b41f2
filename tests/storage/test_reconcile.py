"""Reconciling ledger and manifest: torn tails, damage, lost and older manifests."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3

import pytest

import weft
from tests.support.sessions import Sessions, double, keep, triple
from tests.support.untraced import untraced
from weft.errors import LedgerDamaged
from weft.ledger.checkpoint import Checkpoint
from weft.ledger.merkle import leaf_hash, root
from weft.storage.disk import Disk
from weft.storage.ledgerfile import read_checkpoint
from weft.storage.manifest import Manifest
from weft.storage.projection import Projection
from weft.storage.reconcile import _Comparison, good_records, reconcile


def lane(tasks, answer=0):
    results = yield tasks
    return [answer, len(results)]


def example():
    """Every kind of record: failures, an early stop, nested lanes, a lazy round, objects."""
    results = yield [double(i) for i in (1, 13, 3)]
    state = sum(r.value for r in results if r.ok)
    yield []
    near = yield weft.round([double(state + i) for i in range(6)], until=lambda r: r.index == 2)
    answers = yield weft.lanes({"a": lane([triple(1), triple(2)], 1), "b": nested()})
    scan = yield weft.lazy(11, lambda i: double(i) if i < 10 else triple(i))
    [stored] = yield keep("some text")
    return [state, len(near), answers, [r.value for r in scan], stored.value]


def nested():
    answers = yield weft.lanes({"x": lane([triple(5)]), "y": lane([])})
    yield weft.lanes({})
    return answers


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished run, its ledger, and the tasks that ran."""
    sessions = Sessions(tmp_path_factory.mktemp("finished"))
    executed = sessions.go(example)
    return sessions, sessions.ledger, executed


def results_in(lines):
    bodies = [json.loads(line)["body"] for line in lines]
    return {(b["lane"], b["round"], b["index"]) for b in bodies if "index" in b}


def copy_of(finished, root):
    """A copy of the finished run as it was before it was sealed."""
    sessions = Sessions(root)
    shutil.copytree(finished.root, root, dirs_exist_ok=True)
    sessions.folder.ledger.chmod(0o644)
    shutil.rmtree(root / "heads")  # without the later heads
    return sessions


def test_ledger_has_the_records_and_fields_that_the_format_describes(finished):
    records = [json.loads(line) for line in finished[1].splitlines()]
    fields: dict[str, set[str]] = {}
    for record in records:
        fields.setdefault(record["kind"], set()).add(" ".join(sorted(record["body"])))
    assert fields == {
        "genesis": {"config format inputs libraries search seed version"},
        "result": {"args error function index lane round", "args function index lane round value"},
        "round": {"lane recorded round stopped tasks"},
        "lanes": {"lane names round"},
        "answer": {"completed failed lane status timing_dependent value", "lane status value"},
    }
    rounds = [record["body"] for record in records if record["kind"] == "round"]
    assert [(r["lane"], r["round"], r["recorded"], r["tasks"], r["stopped"]) for r in rounds] == [
        ("", 0, 3, 3, False), ("", 1, 0, 0, False), ("", 2, 3, 6, True), ("/a", 0, 2, 2, False),
        ("/b/x", 0, 1, 1, False), ("/b/y", 0, 0, 0, False), ("", 4, 11, 11, False),
        ("", 5, 1, 1, False),
    ]  # fmt: skip
    answer = records[-1]["body"]
    assert (answer["completed"], answer["failed"], answer["timing_dependent"]) == (20, 1, False)


# -- rebuild ------------------------------------------------------------------------------


def test_rebuild_lost_manifest_at_every_record_same_ledger_nothing_twice(finished, tmp_path):
    source, ledger, _ = finished
    lines = ledger.splitlines(keepends=True)
    assert len(lines) > 30
    for count in range(1, len(lines) + 1):
        sessions = copy_of(source, tmp_path / str(count))
        sessions.folder.ledger.write_bytes(b"".join(lines[:count]))
        sessions.folder.checkpoint.unlink()
        sessions.folder.manifest.unlink()
        recorded = results_in(lines[:count])
        executed = sessions.go(example)
        assert sessions.ledger == ledger
        assert not recorded & set(executed), "what the ledger records ran again"
        assert results_in(lines) <= recorded | set(executed)
        kinds = [kind for kind, _ in sessions.events]
        assert kinds == ["manifest-lost"] + ["manifest-rebuilt"] * (count > 1)


def test_rebuild_at_every_record_behind_a_checkpoint_same_ledger(finished, tmp_path):
    """The checkpoint is older than the ledger's end, which is torn as well."""
    source, ledger, _ = finished
    lines = ledger.splitlines(keepends=True)
    for count in range(6, len(lines), 5):
        sessions = copy_of(source, tmp_path / str(count))
        sessions.folder.ledger.write_bytes(b"".join(lines[:3]))
        sessions.folder.manifest.unlink()
        sessions.folder.checkpoint.unlink()
        sessions.go(example, stop_after=0)  # writes a checkpoint behind record 2
        sessions.folder.ledger.write_bytes(b"".join(lines[:count]) + lines[count][:20])
        sessions.folder.manifest.unlink()
        executed = sessions.go(example)
        assert sessions.ledger == ledger
        assert not results_in(lines[:count]) & set(executed)


@pytest.mark.parametrize("stop_after", [1, 3, 5, 8, 12, 20])
def test_rebuild_older_manifest_put_back_same_ledger(finished, tmp_path, stop_after):
    _, ledger, _ = finished
    sessions = Sessions(tmp_path)
    sessions.go(example, stop_after=stop_after)
    old = tmp_path / "old.sqlite"
    backup(sessions.folder.manifest, old)
    sessions.go(example, stop_after=3)
    lines = sessions.ledger.splitlines(keepends=True)
    shutil.copy(old, sessions.folder.manifest)
    executed = sessions.go(example)
    assert sessions.ledger == ledger
    assert not results_in(lines) & set(executed)
    assert [kind for kind, _ in sessions.events] == ["manifest-rebuilt"]


def backup(source, target):
    with sqlite3.connect(source) as db, sqlite3.connect(target) as copy:
        db.backup(copy)
    db.close()
    copy.close()


def test_rebuild_reports_how_many_results_it_restored(finished, tmp_path):
    sessions = Sessions(tmp_path)
    sessions.go(example, stop_after=5)
    restored = len(results_in(sessions.ledger.splitlines()))
    sessions.folder.manifest.unlink()
    sessions.go(example)
    assert sessions.events[-1] == (
        "manifest-rebuilt",
        f"{restored} results restored from the ledger",
    )


def rows_of(sessions):
    """Every recorded task and every round, as readers see them."""
    with contextlib.closing(Manifest.open(sessions.folder.manifest, Disk(), read_only=True)) as m:
        columns = "state, key, function, args, value, error"
        tasks = f"SELECT {columns} FROM tasks WHERE state IN ('completed', 'failed') ORDER BY key"
        rounds = (
            "SELECT lane, round, kind, size, recorded, closed, stopped FROM rounds ORDER BY 1, 2"
        )
        return m.query(tasks), m.query(rounds)


def test_rebuild_gives_readers_what_they_saw_before(finished, tmp_path):
    source, _, _ = finished
    sessions = copy_of(source, tmp_path / "copy")
    sessions.folder.manifest.unlink()
    sessions.go(example)
    assert rows_of(sessions) == rows_of(source)


def test_rebuild_drops_what_an_older_manifest_has_beyond_an_early_stop(finished, tmp_path):
    sessions = Sessions(tmp_path, pick=lambda held: -1)  # later tasks end first
    sessions.go(example, stop_after=6)
    old = tmp_path / "old.sqlite"
    backup(sessions.folder.manifest, old)
    with sqlite3.connect(old) as db:
        beyond = db.execute("SELECT count(*) FROM tasks WHERE id > 6 AND state = 'completed'")
        assert beyond.fetchone()[0] > 0
    db.close()
    sessions.go(example, sealed=False)
    shutil.copy(old, sessions.folder.manifest)
    sessions.go(example)
    assert sessions.ledger == finished[1]
    assert rows_of(sessions) == rows_of(finished[0])


def test_rebuild_crash_right_behind_it_is_no_rollback(finished, tmp_path):
    """The rebuilt manifest has few commits, and none of its heads is noted yet."""
    sessions = Sessions(tmp_path)
    sessions.go(example, stop_after=9)
    sessions.folder.manifest.unlink()
    opened = sessions.open()  # and die
    opened.writer.ledger.close()
    opened.manifest.close()
    sessions.go(example)
    assert sessions.ledger == finished[1]


def test_rebuild_crash_between_a_new_manifest_and_its_rows_is_no_rollback(finished, tmp_path):
    sessions = Sessions(tmp_path)
    sessions.go(example, stop_after=0)
    for _ in range(2):
        sessions.folder.manifest.unlink()
        opened = sessions.open()
        opened.writer.ledger.close()
        opened.manifest.close()
    sessions.go(example)
    assert sessions.ledger == finished[1]


# -- torn tails ---------------------------------------------------------------------------


def unsealed(finished, tmp_path, checkpoint_at):
    """The finished run with a checkpoint over its first `checkpoint_at` records."""
    source, ledger, _ = finished
    sessions = copy_of(source, tmp_path)
    lines = ledger.splitlines(keepends=True)
    manifest = Manifest.open(sessions.folder.manifest, Disk(), read_only=True)
    try:
        entries = list(Projection(manifest).ready())[:checkpoint_at]
    finally:
        manifest.close()
    from weft.ledger.chain import Chain
    from weft.ledger.checkpoint import origin_of

    chain = Chain()
    for entry in entries:
        chain.next_line(entry.kind, entry.key, entry.body)
    text = Checkpoint(origin_of(sessions.call.name), checkpoint_at, chain.root()).to_text()
    sessions.folder.checkpoint.unlink()
    sessions.folder.checkpoint.write_text(text)
    return sessions, lines


def look(sessions):
    manifest = Manifest.open(sessions.folder.manifest, Disk(), read_only=True)
    try:
        checkpoint = read_checkpoint(sessions.folder.checkpoint)
        return reconcile(sessions.folder.ledger, Projection(manifest), checkpoint)
    finally:
        manifest.close()


def test_torn_tail_at_every_byte_above_the_checkpoint_is_cut(finished, tmp_path):
    sessions, lines = unsealed(finished, tmp_path, len(finished[1].splitlines()) - 4)
    start = sum(map(len, lines[:-4]))
    whole = b"".join(lines)
    with untraced():
        for end in range(start, len(whole)):
            sessions.folder.ledger.write_bytes(whole[:end])
            reconciled = look(sessions)
            good = whole[:end].rfind(b"\n") + 1
            assert (reconciled.good_bytes, reconciled.torn_bytes, reconciled.behind) == (
                good,
                end - good,
                False,
            )
    sessions.folder.ledger.write_bytes(whole[: start + 30])
    sessions.go(example)
    assert sessions.ledger == whole
    assert sessions.events[0][0] == "tail-cut"


def test_torn_tail_of_garbage_above_the_checkpoint_is_cut(finished, tmp_path):
    sessions, lines = unsealed(finished, tmp_path, len(finished[1].splitlines()) - 4)
    for garbage in (b"\x00" * 500, b"x\n" * 3, lines[3], b"\n"):
        sessions.folder.ledger.write_bytes(b"".join(lines[:-2]) + garbage)
        assert look(sessions).torn_bytes == len(garbage)


def test_difference_below_the_checkpoint_names_the_record(finished, tmp_path):
    sessions, lines = unsealed(finished, tmp_path, 10)
    for seq in range(10):
        line = lines[seq]
        for changed in (line.replace(b"1", b"2", 1), line[:-1] + b" \n", b"\n"):
            assert changed != line
            sessions.folder.ledger.write_bytes(b"".join([*lines[:seq], changed, *lines[seq + 1 :]]))
            with pytest.raises(LedgerDamaged, match=f"record {seq} differs from") as caught:
                look(sessions)
            assert caught.value.seq == seq


def test_cut_below_the_checkpoint_names_the_missing_record(finished, tmp_path):
    sessions, lines = unsealed(finished, tmp_path, 10)
    for count in range(10):
        sessions.folder.ledger.write_bytes(b"".join(lines[:count]))
        with pytest.raises(LedgerDamaged, match=f"record {count} is missing") as caught:
            look(sessions)
        assert caught.value.seq == count
    sessions.folder.ledger.unlink()
    with pytest.raises(LedgerDamaged, match="record 0 is missing"):
        look(sessions)


def test_checkpoint_with_another_root_is_damage(finished, tmp_path):
    sessions, _ = unsealed(finished, tmp_path, 10)
    text = sessions.folder.checkpoint.read_text().splitlines()
    sessions.folder.checkpoint.write_text(f"{text[0]}\n9\n{text[2]}\n")
    with pytest.raises(LedgerDamaged, match="its root is not that of the first 9 records") as bad:
        look(sessions)
    assert bad.value.seq == 8


def test_checkpoint_missing_everything_above_is_compared_with_the_manifest(finished, tmp_path):
    sessions, lines = unsealed(finished, tmp_path, 10)
    sessions.folder.checkpoint.unlink()
    assert look(sessions).good_bytes == len(finished[1])
    sessions.folder.ledger.write_bytes(b"".join(lines[:5]) + b"x\n" + b"".join(lines[6:]))
    assert look(sessions).good_bytes == len(b"".join(lines[:5]))
    sessions.folder.ledger.write_bytes(b"x\n")
    assert (look(sessions).good_bytes, look(sessions).torn_bytes) == (0, 2)
    sessions.folder.ledger.unlink()
    assert (look(sessions).good_bytes, look(sessions).torn_bytes) == (0, 0)


def test_ledger_beyond_the_manifest_is_behind(finished, tmp_path):
    sessions = Sessions(tmp_path)
    sessions.go(example, stop_after=3)
    known = sessions.ledger
    sessions.folder.ledger.write_bytes(finished[1])
    reconciled = look(sessions)
    assert reconciled.behind
    assert reconciled.torn_bytes == 0
    assert reconciled.good_bytes >= len(known)
    sessions.folder.ledger.write_bytes(known + b"torn")
    reconciled = look(sessions)
    assert (reconciled.behind, reconciled.torn_bytes) == (False, 4)


def test_good_records_stop_at_a_torn_tail_and_refuse_damage_below(finished, tmp_path):
    sessions, lines = unsealed(finished, tmp_path, 10)
    checkpoint = read_checkpoint(sessions.folder.checkpoint)
    ledger = sessions.folder.ledger
    ledger.write_bytes(b"".join(lines[:12]) + b"x\n" + b"".join(lines[13:]))
    assert [r.seq for r in good_records(ledger, checkpoint)] == [*range(12)]
    ledger.write_bytes(b"".join(lines[:12]) + lines[12][:-1])
    assert [r.seq for r in good_records(ledger, checkpoint)] == [*range(12)]
    ledger.write_bytes(b"".join(lines[:4]) + b"x\n" + b"".join(lines[5:]))
    with pytest.raises(LedgerDamaged, match="record 4"):
        list(good_records(ledger, checkpoint))
    assert [r.seq for r in good_records(ledger, None)] == [*range(4)]
    ledger.write_bytes(b"x\n")
    assert list(good_records(ledger, None)) == []
    ledger.write_bytes(b"".join(lines[:9]) + b"x\n" + b"".join(lines[10:]))
    with pytest.raises(LedgerDamaged, match="record 9"):
        list(good_records(ledger, checkpoint))


def test_good_records_end_at_damage_behind_the_answer_of_a_lane_only(finished, tmp_path):
    sessions, lines = unsealed(finished, tmp_path, 10)
    ledger = sessions.folder.ledger
    ended = next(n for n, line in enumerate(lines) if b'"kind":"answer"' in line) + 1
    ledger.write_bytes(b"".join(lines[:ended]) + b"x\n")
    assert len(list(good_records(ledger, None))) == ended
    ledger.write_bytes(b"".join(lines) + b"x\n")
    with pytest.raises(LedgerDamaged, match=f"record {len(lines)}"):
        list(good_records(ledger, None))


@pytest.mark.parametrize("tail", [b"torn", b"\n", b"x\n", b"{0}"])
@pytest.mark.parametrize("checkpoint_at", [10, None])
@pytest.mark.parametrize("lost_manifest", [False, True])
def test_anything_after_the_answer_is_damage(
    finished, tmp_path, tail, checkpoint_at, lost_manifest
):
    """No crash leaves this state, since nothing is written after the answer."""
    size = len(finished[1].splitlines())
    sessions, lines = unsealed(finished, tmp_path, checkpoint_at or size)
    sessions.folder.ledger.write_bytes(b"".join(lines) + tail.replace(b"{0}", lines[1]))
    if lost_manifest:
        sessions.folder.manifest.unlink()
    else:
        with pytest.raises(LedgerDamaged, match=f"record {size} comes after the root's answer"):
            look(sessions)
    with pytest.raises(LedgerDamaged, match=f"record {size}"):
        sessions.go(example)


# -- many at a time -------------------------------------------------------------------------


class Seen:
    """An observer that records what it is shown."""

    def __init__(self, stops):
        self.stops, self.lines, self.roots, self.rows = stops, [], {}, 0

    def next_stop(self, size):
        return min((stop for stop in self.stops if stop > size), default=None)

    def accept(self, batch, lines, chain):
        assert len(batch.entries) == len(lines)
        assert len(batch.rows) in (0, len(lines))
        if batch.rows:
            body = json.loads(lines[0])["body"]
            assert batch.place == (body["lane"], body["round"], body["index"])
        self.rows += len(batch.rows)
        self.lines += lines
        self.roots[chain.size] = chain.root()


def test_observer_is_shown_every_record_and_the_chain_at_its_stops(finished, tmp_path):
    source, ledger, _ = finished
    sessions = copy_of(source, tmp_path)
    lines = ledger.splitlines()
    stops = {*range(0, len(lines) + 3, 3)}
    observer = Seen(stops)
    manifest = Manifest.open(sessions.folder.manifest, Disk(), read_only=True)
    try:
        projection = Projection(manifest)
        checkpoint = read_checkpoint(sessions.folder.checkpoint)
        reconcile(sessions.folder.ledger, projection, checkpoint, observer)
        results = sum(b'"kind":"result"' in line for line in lines)
        unread = [manifest.query("SELECT id FROM tasks WHERE id >= ? AND id < ?", *gap)
                  for gap in projection.unread()]  # fmt: skip
        total = manifest.query("SELECT count(*) FROM tasks")[0][0]
    finally:
        manifest.close()
    assert observer.lines == lines
    assert observer.rows == results
    assert results + sum(map(len, unread)) == total
    for size in stops & {*range(1, len(lines) + 1)}:
        assert observer.roots[size] == root([leaf_hash(line) for line in lines[:size]])


def test_unread_ranges_are_what_lies_between_those_read(finished, tmp_path):
    sessions = copy_of(finished[0], tmp_path)
    manifest = Manifest.open(sessions.folder.manifest, Disk(), read_only=True)
    try:
        projection = Projection(manifest)
        projection.read = [(50, 60), (5, 20), (20, 30), (1, 3), (10, 15)]
        assert [*projection.unread()] == [(0, 1), (3, 5), (30, 50), (60, 2**63 - 1)]
    finally:
        manifest.close()


def test_ledger_that_lacks_many_records_gets_them_all_as_pending(finished, tmp_path):
    sessions, lines = unsealed(finished, tmp_path, 1)
    for count in range(1, len(lines)):
        sessions.folder.ledger.write_bytes(b"".join(lines[:count]))
        state = look(sessions)
        pending = b"".join(line + b"\n" for line in state.pending)
        assert b"".join(lines[count:]).startswith(pending)
        assert state.chain.size == count + len(state.pending)
        assert (state.good_bytes, state.torn_bytes) == (sum(map(len, lines[:count])), 0)


def test_ledger_that_grows_while_it_is_compared_is_compared_to_its_end(finished, tmp_path):
    sessions, lines = unsealed(finished, tmp_path, 1)
    whole = b"".join(lines)
    for count in range(1, len(lines)):
        sessions.folder.ledger.write_bytes(b"".join(lines[:count]) + lines[count][:9])
        manifest = Manifest.open(sessions.folder.manifest, Disk(), read_only=True)
        try:
            comparison = _Comparison(sessions.folder.ledger, Projection(manifest), None)
            comparison.take_equal(None)
            sessions.folder.ledger.write_bytes(whole)  # meanwhile, as its coordinator would
            state = comparison.take_rest()
        finally:
            manifest.close()
        assert (state.good_bytes, state.torn_bytes, state.pending) == (len(whole), 0, [])


def test_ledger_that_grows_up_to_a_checkpoint_with_another_root_is_damage(finished, tmp_path):
    sessions, lines = unsealed(finished, tmp_path, 1)
    sessions.folder.ledger.write_bytes(b"".join(lines[:4]))
    manifest = Manifest.open(sessions.folder.manifest, Disk(), read_only=True)
    try:
        checkpoint = Checkpoint("weft.dev/x", 6, bytes(32))
        comparison = _Comparison(sessions.folder.ledger, Projection(manifest), checkpoint)
        comparison.take_equal(None)
        sessions.folder.ledger.write_bytes(b"".join(lines))
        with pytest.raises(LedgerDamaged, match="not that of the first 6 records"):
            comparison.take_rest()
    finally:
        manifest.close()
