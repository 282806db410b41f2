"""The ledger file and the checkpoint beside it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from weft.errors import LedgerDamaged
from weft.ledger.checkpoint import Checkpoint
from weft.storage.disk import Disk
from weft.storage.ledgerfile import (
    MAX_CHECKPOINT_BYTES,
    LedgerFile,
    count_lines,
    read_checkpoint,
    read_lines,
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
    ledger.sync()  # what an earlier session appended may not be on the disk
    ledger.sync()
    ledger.append([b"a"])
    ledger.sync()
    ledger.close()
    assert disk.names == ["sync-folder", "sync", "append", "sync"]


def test_freeze_makes_the_file_read_only(ledger, path):
    ledger.freeze()
    assert path.stat().st_mode & 0o777 == 0o444


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
