"""The ledger file and the checkpoint beside it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.processes import open_descriptors
from weft.errors import LedgerDamaged
from weft.ledger.chain import Chain
from weft.ledger.checkpoint import Checkpoint
from weft.storage.disk import Disk
from weft.storage.ledgerfile import (
    MAX_CHECKPOINT_BYTES,
    MAX_NOTE_BYTES,
    LedgerFile,
    count_lines,
    is_whole,
    last_line,
    parse_at,
    read_checkpoint,
    read_lines,
    read_note,
    read_signed,
    roots_at,
    whole_lines,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.jsonl"


@pytest.fixture
def ledger(path):
    ledger = LedgerFile(path, Disk())
    yield ledger
    ledger.close()


def test_append_lines_are_read_back_whole(ledger, path):
    ledger.append([b"a", b"b"])
    ledger.append([])
    ledger.append([b"c"])
    assert list(read_lines(path)) == [(b"a", True), (b"b", True), (b"c", True)]
    assert count_lines(path) == 3


def test_read_lines_torn_last_line_is_marked(path):
    path.write_bytes(b"a\nb")
    assert list(read_lines(path)) == [(b"a", True), (b"b", False)]
    assert count_lines(path) == 1


def test_read_lines_of_a_missing_file_are_none(path):
    assert list(read_lines(path)) == []
    assert count_lines(path) == 0


def test_whole_lines_end_before_a_torn_one(path):
    assert list(whole_lines(path)) == []
    path.write_bytes(b"one\ntwo\nthr")
    assert list(whole_lines(path)) == [b"one", b"two"]
    path.write_bytes(b"one\n")
    assert list(whole_lines(path)) == [b"one"]


def test_parse_at_names_the_record_that_is_damaged_or_elsewhere():
    line = Chain().next_line("genesis", "0" * 64, '{"n":1}')
    assert parse_at(line, 0).body == {"n": 1}
    with pytest.raises(LedgerDamaged, match=r"record 7: its seq is 0") as caught:
        parse_at(line, 7)
    assert caught.value.seq == 7
    with pytest.raises(LedgerDamaged, match=r"record 7: ") as caught:
        parse_at(line[:-1], 7)
    assert caught.value.seq == 7


def test_cut_removes_only_what_is_beyond(ledger, path):
    ledger.append([b"abc", b"def"])
    ledger.cut(100)
    assert path.stat().st_size == 8
    ledger.cut(4)
    assert path.read_bytes() == b"abc\n"


def test_sync_only_when_something_was_appended(path):
    class Named(Disk):
        def __init__(self):
            self.names = []

        def step(self, name):
            self.names.append(name)

    disk = Named()
    ledger = LedgerFile(path, disk)
    ledger.sync()  # lines of an earlier session may not be on the disk
    ledger.sync()
    ledger.append([b"a"])
    ledger.sync()
    ledger.close()
    assert disk.names == ["sync-folder", "sync", "append", "sync"]


def test_freeze_makes_the_file_read_only(ledger, path):
    ledger.freeze()
    assert path.stat().st_mode & 0o777 == 0o444


def test_open_gives_the_usual_mode_to_a_new_ledger_and_back_to_a_frozen_one(ledger, path):
    usual = path.parent / "usual"
    usual.touch(0o644)
    assert path.stat().st_mode == usual.stat().st_mode
    ledger.freeze()
    LedgerFile(path, Disk()).close()
    assert path.stat().st_mode & 0o777 == 0o644


def test_close_twice_is_fine(ledger):
    ledger.close()
    ledger.close()


REOPEN = """
import os, sys
from pathlib import Path
from weft.storage.disk import Disk
from weft.storage.ledgerfile import LedgerFile
if os.getuid() == 0:
    os.setuid(65534)  # root may write anything
ledger = LedgerFile(Path(sys.argv[1]), Disk())
ledger.append([b"b"])
"""


def test_open_frozen_but_not_sealed_ledger_goes_on_without_root(ledger, path):
    """Killed between freezing the ledger and sealing the checkpoint: the run is not finished."""
    ledger.append([b"a"])
    ledger.freeze()
    if os.getuid() == 0:
        for owned in (path.parent, path):
            os.chown(owned, 65534, 65534)
    subprocess.run([sys.executable, "-c", REOPEN, str(path)], check=True)
    assert path.read_bytes() == b"a\nb\n"


# -- checkpoint ---------------------------------------------------------------------------


def test_note_of_the_largest_size_is_read_and_a_larger_one_refused(path):
    path.write_bytes(b"n" * MAX_NOTE_BYTES)
    assert read_note(path) == "n" * MAX_NOTE_BYTES
    path.write_bytes(b"n" * (MAX_NOTE_BYTES + 1))
    with pytest.raises(LedgerDamaged, match="larger than any checkpoint"):
        read_note(path)


def test_checkpoint_missing_is_none(path):
    assert read_checkpoint(path) is None


def test_checkpoint_written_is_read_back(path):
    checkpoint = Checkpoint("weft/m:s", 3, b"\x01" * 32)
    path.write_text(checkpoint.to_text())
    assert read_checkpoint(path) == checkpoint


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"x" * (MAX_CHECKPOINT_BYTES + 1), "larger than any"),
        (b"\xff\xfe", "not UTF-8"),
        (b"weft/m:s\n3\n", "not three lines"),
    ],
)
def test_checkpoint_damaged_is_refused(path, data, message):
    path.write_bytes(data)
    with pytest.raises(LedgerDamaged, match=message):
        read_checkpoint(path)


# -- what the files say -----------------------------------------------------------------------


@pytest.fixture
def ended(path):
    """A ledger with its answer, and the checkpoint written there."""
    chain = Chain()
    lines = [
        chain.next_line("genesis", "0" * 64, '{"search":"a:b"}'),
        chain.next_line("answer", "1" * 64, f'{{"lane":"","value":"{"x" * 200_000}"}}'),
    ]
    path.write_bytes(b"\n".join(lines) + b"\n")
    checkpoint = path.with_name("checkpoint")
    checkpoint.write_text(Checkpoint("weft/a:b", 2, chain.root()).to_text())
    return path, checkpoint, lines


def test_ledger_is_whole_with_its_answer_at_the_checkpoint(ended):
    ledger, checkpoint, _ = ended
    assert is_whole(ledger, checkpoint)
    for path in (ledger, checkpoint):
        path.chmod(0o644)
    assert is_whole(ledger, checkpoint)


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"x\n", b"{0}\n{1}", b"{0}\n", b"{0}\n{1}\n\n", b"{0}\n{1}\nx", b"{0}\n{1}\nx\n"],
)
def test_ledger_with_another_end_is_not_whole(ended, data):
    ledger, checkpoint, lines = ended
    ledger.chmod(0o644)
    ledger.write_bytes(data.replace(b"{0}", lines[0]).replace(b"{1}", lines[1]))
    for path in (ledger, checkpoint):
        path.chmod(0o444)
    assert not is_whole(ledger, checkpoint)


def test_ledger_with_the_answer_of_another_lane_is_not_whole(ended):
    ledger, checkpoint, lines = ended
    ledger.write_bytes(lines[0] + b"\n" + lines[1].replace(b'"lane":""', b'"lane":"/a"') + b"\n")
    assert not is_whole(ledger, checkpoint)


def test_ledger_without_its_checkpoint_is_not_whole(ended):
    ledger, checkpoint, _ = ended
    text = checkpoint.read_text()
    for other in (text.replace("\n2\n", "\n1\n"), "x", None):
        checkpoint.unlink()
        if other is not None:
            checkpoint.write_text(other)
        assert not is_whole(ledger, checkpoint)
    ledger.unlink()
    assert not is_whole(ledger, checkpoint)


def test_last_line_is_found_whatever_its_length(ended):
    ledger, _, lines = ended
    assert last_line(ledger) == lines[1] + b"\n"
    assert last_line(ledger.with_name("absent")) == b""
    ledger.write_bytes(lines[0])
    assert last_line(ledger) == lines[0]


def test_roots_at_are_those_of_the_lines_so_far(ended):
    ledger, _, lines = ended
    chain = Chain()
    roots = {0: chain.root()}
    for size, line in enumerate(lines, 1):
        chain.accept(line)
        roots[size] = chain.root()
    assert roots_at(ledger, {0, 1, 2}) == roots
    assert roots_at(ledger, {1, 3}) == {1: roots[1]}
    assert roots_at(ledger, ()) == {}
    ledger.write_bytes(lines[0] + b"\n" + lines[1])
    assert roots_at(ledger, {1, 2}) == {1: roots[1]}, "a line counts with its newline"


def test_signed_head_is_read_whoever_signed_it(ended):
    ledger, checkpoint, _ = ended
    path = ledger.with_name("checkpoint.sig")
    assert read_signed(path) is None
    path.write_text(checkpoint.read_text() + "\n— name AAAAAAAA\n")
    assert read_signed(path) == read_checkpoint(checkpoint)
    assert read_note(path) == path.read_text()


@pytest.mark.parametrize("note", [b"", b"x", b"x\n\n", b"x\n\ny\n", b"\xff", b"x" * (1 << 17)])
def test_signed_note_that_is_none_is_damage(path, note):
    signature = path.with_name("checkpoint.sig")
    signature.write_bytes(note)
    with pytest.raises(LedgerDamaged, match=r"^checkpoint\.sig: "):
        read_signed(signature)


def test_close_gives_the_descriptor_back(path):
    before = open_descriptors()
    ledger = LedgerFile(path, Disk())
    assert len(open_descriptors() - before) == 1
    ledger.close()
    assert open_descriptors() <= before
    with path.open() as other:
        descriptors = open_descriptors()
        ledger.close()
        assert open_descriptors() == descriptors, (
            "a second close leaves the descriptors of others alone"
        )
        assert other.read() == ""


def test_cut_to_the_size_that_there_is_does_nothing(path):
    names = []

    class Named(Disk):
        def step(self, name):
            names.append(name)

    ledger = LedgerFile(path, Named())
    ledger.append([b"one"])
    ledger.cut(4)
    assert "truncate" not in names
    ledger.cut(3)
    assert names[-1] == "truncate"
    ledger.close()


def test_close_twice_closes_one_descriptor(path, monkeypatch):
    file, closed = LedgerFile(path, Disk()), []
    monkeypatch.setattr(os, "close", closed.append)
    file.close()
    file.close()
    monkeypatch.undo()
    assert len(closed) == 1
    os.close(closed[0])
