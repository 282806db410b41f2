"""The heads list: what binds a run, even after a writer died in the middle of a line."""

from __future__ import annotations

import errno
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.storage.disks import NamedDisk
from tests.support.processes import open_descriptors
from tests.support.smallfs import small_file_system
from weft.errors import StorageFailed
from weft.storage.disk import Disk
from weft.storage.heads import CodeNote, Head, HeadsList, RunLocation

HOME = RunLocation("host", "/runs/a", 5, 77)


def head(size, *, restart=False):
    return Head(size, f"{size:064x}", size * 2, HOME, restart)


@pytest.fixture
def heads(tmp_path):
    return HeadsList(tmp_path / "state" / "heads", Disk())


def test_heads_noted_bind_in_order(heads, tmp_path):
    for size in (1, 4, 9):
        heads.note("id1", head(size))
    heads.note("id2", head(100))
    assert heads.binding("id1") == [head(1), head(4), head(9)]
    assert heads.binding("id2") == [head(100)]
    reopened = HeadsList(tmp_path / "state" / "heads", Disk())
    assert reopened.binding("id1") == heads.binding("id1")


def test_heads_of_an_unknown_run_are_none(heads):
    assert heads.binding("nobody") == []


def test_restart_head_unbinds_what_came_before(heads):
    for noted_head in (head(5), head(9), head(3, restart=True), head(4)):
        heads.note("id1", noted_head)
    assert heads.binding("id1") == [head(3, restart=True), head(4)]


def test_no_folder_keeps_nothing():
    heads = HeadsList(None, Disk())
    heads.note("id1", head(1))
    assert heads.binding("id1") == []


def test_torn_last_line_at_every_byte_binds_nobody_and_is_closed(tmp_path):
    heads = HeadsList(tmp_path, Disk())
    heads.note("id1", head(1))
    heads.note("id1", head(2))
    file = tmp_path / "id1.jsonl"
    whole = file.read_bytes()
    first = whole.index(b"\n") + 1
    for cut in range(first, len(whole)):
        file.write_bytes(whole[:cut])
        if cut < len(whole) - 1:
            assert heads.binding("id1") == [head(1)]
        heads.note("id1", head(3))
        assert heads.binding("id1")[-1] == head(3)
        assert heads.binding("id1")[0] == head(1)


@pytest.mark.parametrize("line", ["5", "[]", "{}", '"x"', '{"home": 3}', '{"home": {}}', "\xff"])
def test_foreign_line_binds_nobody(heads, tmp_path, line):
    heads.note("id1", head(1))
    with (tmp_path / "state" / "heads" / "id1.jsonl").open("ab") as file:
        file.write(line.encode("latin-1") + b"\n")
    heads.note("id1", head(2))
    assert heads.binding("id1") == [head(1), head(2)]


@given(
    st.builds(
        Head,
        size=st.integers(0, 2**40),
        root=st.text("0123456789abcdef", min_size=64, max_size=64),
        commits=st.integers(0, 2**40),
        home=st.builds(RunLocation, st.text(), st.text(), st.integers(0), st.integers(0)),
        restart=st.booleans(),
    )
)
def test_head_to_dict_from_dict_is_the_same(noted):
    assert Head.from_dict(json.loads(json.dumps(noted.to_dict()))) == noted


def test_head_carries_its_schema_version():
    assert head(1).to_dict()["schema_version"] == 1


def test_same_folder_other_path_is_the_same():
    assert HOME.same_folder(RunLocation("host", "/elsewhere", 5, 77))
    for other in (RunLocation("h2", "/runs/a", 5, 77), RunLocation("host", "/runs/a", 6, 77)):
        assert not HOME.same_folder(other)
    assert not HOME.same_folder(RunLocation("host", "/runs/a", 5, 78))


def test_note_makes_the_name_durable_once(tmp_path):
    disk = NamedDisk()
    heads = HeadsList(tmp_path, disk)
    heads.note("id1", head(1))
    heads.note("id1", head(2))
    once = ["sync-folder", "append", "sync", "sync-folder"]
    assert disk.names == [*once, "append", "sync"]


def test_full_state_folder_is_named_with_what_to_do(tmp_path):
    with small_file_system(tmp_path / "state", "size=64k") as state:
        (state / "filler").write_bytes(b"x" * 57344)
        heads = HeadsList(state / "heads", Disk())
        words = f"the heads list in the state folder {state}/heads cannot be written: No space left"
        long = Head(1, "0" * 10_000, 1, HOME)
        with pytest.raises(StorageFailed, match=words) as caught:
            heads.note("id1", long)
        assert "free space there, or set XDG_STATE_HOME to another folder" in caught.value.hint


def test_state_folder_that_cannot_be_made_or_read_is_named(tmp_path):
    (tmp_path / "file").touch()
    heads = HeadsList(tmp_path / "file" / "heads", Disk())
    with pytest.raises(StorageFailed, match=f"{tmp_path}/file/heads cannot be written: Not a dir"):
        heads.note("id1", head(1))

    class Broken(HeadsList):
        def _file(self, run_id):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    with pytest.raises(StorageFailed, match="cannot be read: Permission denied") as caught:
        Broken(tmp_path, Disk()).binding("id1")
    assert "make it yours to read and write" in caught.value.hint


def test_lines_follow_each_other_and_only_a_torn_one_is_closed_first(heads, tmp_path):
    file = tmp_path / "state" / "heads" / "id1.jsonl"
    heads.note("id1", head(1))
    heads.note_code("id1", CodeNote("d" * 64, HOME))
    lines = file.read_bytes().split(b"\n")
    assert [bool(line) for line in lines] == [True, True, False]
    assert all(json.loads(line)["schema_version"] == 1 for line in lines[:2])
    assert list(json.loads(lines[0])) == sorted(json.loads(lines[0]))
    assert file.stat().st_mode & 0o777 == 0o644
    file.write_bytes(b"{")
    heads.note("id1", head(2))
    assert file.read_bytes().startswith(b'{\n{"commits"')
    assert heads.binding("id1") == [head(2)]
    assert heads.code("id1") is None


def test_code_last_noted_counts_and_a_head_begins_no_restart(heads):
    for digit in "abc":
        heads.note_code("id1", CodeNote(digit * 64, HOME))
    assert heads.code("id1") == CodeNote("c" * 64, HOME)
    assert not Head(1, "r", 1, HOME).restart


def test_note_leaves_no_descriptor(heads):
    heads.note("id1", head(1))
    before = open_descriptors()
    heads.note("id1", head(2))
    assert open_descriptors() <= before


def test_state_folder_that_cannot_be_written_says_whose_it_must_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageFailed) as failed:
        HeadsList(tmp_path / "file" / "heads", Disk()).note("id1", head(1))
    assert (failed.value.hint or "").startswith("make it yours to read and write, or set XDG")


@pytest.mark.parametrize(
    ("other", "same", "elsewhere"),
    [
        (RunLocation("h", "/a", 1, 2), True, False),
        (RunLocation("h", "/b", 1, 2), True, False),
        (RunLocation("h", "/a", 1, 9), False, False),
        (RunLocation("h", "/b", 1, 9), False, True),
        (RunLocation("h", "/b", 9, 2), False, True),
        (RunLocation("g", "/b", 1, 2), False, False),
    ],
)
def test_location_is_moved_or_copied_by_host_disk_and_path(other, same, elsewhere):
    here = RunLocation("h", "/a", 1, 2)
    assert here.same_folder(other) is same
    assert here.is_elsewhere(other) is elsewhere


def test_head_and_code_note_are_written_with_their_version_and_home(tmp_path):
    home = RunLocation("h", "/a", 1, 2)
    written = {"host": "h", "path": "/a", "device": 1, "inode": 2}
    head, note = Head(3, "r", 4, home), CodeNote("d", home)
    assert head.to_dict() == {"schema_version": 1, "size": 3, "root": "r", "commits": 4,
                              "home": written, "restart": False}  # fmt: skip
    assert note.to_dict() == {"schema_version": 1, "code": "d", "home": written}
    heads = HeadsList(tmp_path, Disk())
    heads.note("run", head)
    heads.note_code("run", note)
    assert (tmp_path / "run.jsonl").read_bytes().count(b"\n") == 2
    assert (heads.binding("run"), heads.code("run")) == ([head], note)
    assert (heads.binding("other"), heads.code("other")) == ([], None)
