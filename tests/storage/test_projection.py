"""The ledger projected from a manifest as it grows, and its single writer."""

from __future__ import annotations

import json

import pytest

from tests.support.sessions import Sessions
from weft.errors import ManifestDamaged
from weft.ledger.chain import Chain, check_lines
from weft.model.keys import record_key, sha256_hex
from weft.model.results import TaskError
from weft.storage import projection as projection_module
from weft.storage.disk import Disk
from weft.storage.ledgerfile import read_checkpoint, read_lines
from weft.storage.ledgerwriter import CHECKPOINT_EVERY_S, LedgerWriter
from weft.storage.manifest import ROOT_LANE, Manifest
from weft.storage.projection import Projection
from weft.storage.rows import TaskRow
from weft.storage.schema import READABLE_VERSIONS, SCHEMA_VERSION


@pytest.fixture
def manifest(tmp_path):
    manifest = Manifest.create(tmp_path / "m.sqlite", Disk(), "id1", '{"search":"m:s"}')
    yield manifest
    manifest.close()


def finish(manifest, row, index, value="1"):
    key = f"{row.first + index:064x}"
    named = manifest.digests.of("completed", key, "m:f", "{}", value, None)
    end = ("completed", key, "m:f", "{}", value, None, named, 1, 1.0, 1.0, 1.0, 0.0)
    manifest.finish_tasks([(row.first + index, *end, None, None, None, None, None)])


def queued_round(manifest, lane_id, number, size):
    row = manifest.add_round(lane_id, number, "tasks", size)
    manifest.queue(
        [(row.first + i, f"{row.first + i:064x}", "m:f", "{}", 1.0) for i in range(size)]
    )
    return row


def advance(manifest, row, recorded, *, closed=False):
    row.recorded, row.closed = recorded, closed
    manifest.update_round(row)


def kinds(projection):
    return [entry.kind for entry in projection.ready()]


def test_projection_pauses_and_goes_on_where_it_stood(manifest):
    projection = Projection(manifest)
    assert kinds(projection) == ["genesis"]
    assert kinds(projection) == []
    row = queued_round(manifest, ROOT_LANE, 0, 3)
    assert kinds(projection) == []
    for index in (0, 1):
        finish(manifest, row, index)
    advance(manifest, row, 2)
    assert kinds(projection) == ["result", "result"]
    finish(manifest, row, 2)
    advance(manifest, row, 3)
    assert kinds(projection) == ["result"]
    advance(manifest, row, 3, closed=True)
    assert kinds(projection) == ["round"]
    manifest.set_answer(ROOT_LANE, '{"lane":"","status":"answered","value":1}')
    assert kinds(projection) == ["answer"]
    assert projection.ended
    assert kinds(projection) == []
    assert (projection.completed, projection.failed) == (3, 0)


def test_projection_waits_for_a_slow_first_lane_then_gives_the_rest(manifest):
    projection = Projection(manifest)
    manifest.add_round(ROOT_LANE, 0, "lanes", 2)
    manifest.add_lanes(ROOT_LANE, 0, ["/slow", "/fast"])
    slow, fast = (lane_id for lane_id, _ in manifest.lanes_of(ROOT_LANE, 0))
    assert kinds(projection) == ["genesis", "lanes"]
    row = queued_round(manifest, fast, 0, 2)
    for index in range(2):
        finish(manifest, row, index)
    advance(manifest, row, 2, closed=True)
    manifest.set_answer(fast, '{"lane":"/fast"}')
    assert kinds(projection) == []
    manifest.set_answer(slow, '{"lane":"/slow"}')
    bodies = [(entry.kind, json.loads(entry.body)["lane"]) for entry in projection.ready()]
    assert bodies == [
        ("answer", "/slow"), ("result", "/fast"), ("result", "/fast"),
        ("round", "/fast"), ("answer", "/fast"),
    ]  # fmt: skip


def test_projection_large_rounds_are_read_in_pieces(manifest, monkeypatch):
    monkeypatch.setattr(projection_module, "CHUNK_ROWS", 3)
    projection = Projection(manifest)
    row = queued_round(manifest, ROOT_LANE, 0, 8)
    for index in range(8):
        finish(manifest, row, index)
    advance(manifest, row, 7)
    assert kinds(projection) == ["genesis"] + ["result"] * 7
    advance(manifest, row, 8, closed=True)
    assert kinds(projection) == ["result", "round"]


def test_projection_names_and_writes_records_as_the_format_says(manifest):
    row = queued_round(manifest, ROOT_LANE, 0, 2)
    finish(manifest, row, 0)
    error = TaskError("exit", "run", 7).to_text()
    manifest.restore(
        TaskRow(row.first + 1, "failed", f"{row.first + 1:064x}", "m:f", "{}", None, error, 1)
    )
    advance(manifest, row, 2, closed=True)
    manifest.set_answer(ROOT_LANE, '{"lane":"","status":"answered","value":1}')
    genesis = sha256_hex(manifest.genesis)
    *_, round_, answer = Projection(manifest).ready()
    assert round_ == ("round", record_key(genesis, "round", "", 0),
                      '{"lane":"","recorded":2,"round":0,"stopped":false,"tasks":2}')  # fmt: skip
    assert answer == ("answer", record_key(genesis, "answer", "", 1),
                      '{"completed":1,"failed":1,"lane":"","status":"answered",'
                      '"timing_dependent":false,"value":1}')  # fmt: skip


def test_projection_of_a_round_read_in_two_goes_knows_what_it_read(manifest):
    projection = Projection(manifest)
    row = queued_round(manifest, ROOT_LANE, 0, 3)
    for recorded in (2, 3):
        for index in range(recorded):
            finish(manifest, row, index)
        advance(manifest, row, recorded)
        kinds(projection)
    assert projection.read == [(row.first, row.first + 3)]


def test_projection_goes_on_with_what_replaces_a_round_without_results(manifest):
    """As after `--accept code`, when a search now opens lanes instead of a round."""
    projection = Projection(manifest)
    row = queued_round(manifest, ROOT_LANE, 0, 3)
    assert kinds(projection) == ["genesis"]
    manifest.forget_round(row)
    assert kinds(projection) == [], "nothing has replaced it yet"
    row = queued_round(manifest, ROOT_LANE, 0, 3)
    assert kinds(projection) == []
    manifest.forget_round(row)
    manifest.add_round(ROOT_LANE, 0, "lanes", 1)
    manifest.add_lanes(ROOT_LANE, 0, ["/a"])
    assert kinds(projection) == ["lanes"]


def test_projection_recorded_row_missing_is_damage(manifest):
    row = manifest.add_round(ROOT_LANE, 0, "tasks", 2)
    advance(manifest, row, 2)
    with pytest.raises(ManifestDamaged, match="task 0 of round 0 in lane / is recorded, but its"):
        list(Projection(manifest).ready())


def test_projection_recorded_row_unfinished_is_damage(manifest):
    row = queued_round(manifest, ROOT_LANE, 0, 2)
    advance(manifest, row, 2)
    with pytest.raises(ManifestDamaged, match=r"task 1 is recorded but queued"):
        list(Projection(manifest).ready())


# -- writer -------------------------------------------------------------------------------


def test_scribe_checkpoints_at_most_once_a_second(tmp_path):
    sessions = Sessions(tmp_path)
    opened = sessions.open()
    writer: LedgerWriter = opened.writer
    try:
        written = []
        for now_s in (0.0, 0.5, CHECKPOINT_EVERY_S, 1.5, 2.1):
            before = len(opened.manifest.query("SELECT * FROM heads"))
            writer.extend(now_s, now_s)
            written.append(len(opened.manifest.query("SELECT * FROM heads")) - before)
        assert written == [1, 0, 1, 0, 1]
        heads = writer.heads.binding(opened.run_file.run_id)
        assert [(h.size, h.root) for h in heads] == [writer.head] * 3
    finally:
        opened.writer.ledger.close()
        opened.manifest.close()


def test_scribe_finish_signs_the_last_checkpoint_and_seals(tmp_path):
    sessions = Sessions(tmp_path)
    opened = sessions.open()
    opened.writer.sign = lambda text: text + "signed"
    try:
        opened.writer.extend(0.0, 0.0)
        opened.writer.finish(1.0)
    finally:
        opened.writer.ledger.close()
        opened.manifest.close()
    folder = sessions.folder
    assert folder.signature.read_text() == folder.checkpoint.read_text() + "signed"
    assert folder.is_finished() is False, "the search has no answer: modes do not make it finished"
    for path in (folder.ledger, folder.checkpoint):
        assert path.stat().st_mode & 0o777 == 0o444


@pytest.mark.parametrize(
    ("errors", "depends"),
    [
        (["exception"], False),
        (["timeout", "exception"], True),
        (["exception", "worker-died"], True),
    ],
)
def test_projection_says_whether_any_failure_was_a_matter_of_time(manifest, errors, depends):
    row = queued_round(manifest, ROOT_LANE, 0, len(errors))
    for index, kind in enumerate(errors):
        text = TaskError(kind, "run").to_text()
        key = f"{row.first + index:064x}"
        manifest.restore(TaskRow(row.first + index, "failed", key, "m:f", "{}", None, text, 1))
    advance(manifest, row, len(errors), closed=True)
    projection = Projection(manifest)
    assert len(kinds(projection)) == 2 + len(errors)
    assert (projection.failed, projection.timing_dependent) == (len(errors), depends)


def test_schema_that_is_written_is_the_second_and_both_are_read():
    assert (SCHEMA_VERSION, READABLE_VERSIONS) == (2, (1, 2))


class Helper:
    """Renders lines as the writer does, or loses them."""

    def __init__(self, *, loses: bool) -> None:
        self._loses = loses
        self._chain = Chain()
        self.taken = 0

    def begin(self, state, parts):
        self._chain.move_to(state)
        self._parts = parts
        self.taken += bool(parts)
        return bool(parts)

    def finish(self):
        lines = [line for part in self._parts for line in self._chain.next_lines(part)]
        text = b"".join(line + b"\n" for line in lines)
        return None if self._loses else (text, self._chain.state)


@pytest.mark.parametrize("loses", [False, True])
def test_writer_with_helper_appends_one_call_later_and_before_a_checkpoint(tmp_path, loses):
    opened = Sessions(tmp_path).open()
    writer: LedgerWriter = opened.writer
    writer.helper = helper = Helper(loses=loses)
    try:
        writer.last_checkpoint_s = 0.0
        writer.extend(0.1, 0.1)
        assert (helper.taken, writer.chain.size, writer.folder.ledger.stat().st_size) == (1, 0, 0)
        writer.extend(0.2, 0.2)
        assert (helper.taken, writer.chain.size) == (1, 1)
        opened.manifest.set_answer(ROOT_LANE, '{"lane":"","status":"answered","value":1}')
        opened.manifest.commit()
        writer.extend(0.3, 0.3)
        assert (helper.taken, writer.chain.size) == (2, 1)
        writer.finish(0.4)
        assert writer.chain.size == 2
        lines = [line for line, _ in read_lines(writer.folder.ledger)]
        chain, records = check_lines(lines, read_checkpoint(writer.folder.checkpoint))
        assert [record.kind for record in records] == ["genesis", "answer"]
        assert chain.state == writer.chain.state
    finally:
        opened.writer.ledger.close()
        opened.manifest.close()
