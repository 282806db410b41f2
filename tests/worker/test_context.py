"""What a task body may use, inside and outside a task."""

from __future__ import annotations

import hashlib

import pytest

import weft
from weft.errors import ObjectDamaged, SearchInvalid
from weft.model.attempts import Assignment
from weft.model.values import Object
from weft.worker import context


@pytest.fixture
def inside(tmp_path):
    assignment = Assignment(1, "m:f", "{}", "", 0, 0)
    folders = [tmp_path / name for name in ("objects", "staging", "logs", "attempts")]
    place = context.WorkerPlace(*folders, slot="local/cpu0")
    around = context.TaskContext(place, assignment)
    context.enter(around)
    yield around
    context.enter(None)


def test_note_outside_a_task_does_nothing():
    weft.note(a=1)


@pytest.mark.parametrize(
    "use",
    [lambda: weft.put(b""), lambda: weft.get(Object("0" * 64)), lambda: weft.put_file("x")],
)
def test_objects_outside_a_task_are_refused(use):
    with pytest.raises(SearchInvalid, match=r"weft\.(put|get|put_file) works inside a task only"):
        use()


def test_note_twice_keeps_the_last_of_each(inside):
    weft.note(a=1, b=2)
    weft.note(a=3)
    assert inside.notes == {"a": 3, "b": 2}


def test_get_missing_object_is_named(inside):
    with pytest.raises(ObjectDamaged, match="0000 is not in this run"):
        weft.get(Object("0" * 64))


def test_get_altered_object_is_detected(inside, tmp_path):
    reference = weft.put(b"hello")
    assert reference.digest == hashlib.sha256(b"hello").hexdigest()
    [staged] = (tmp_path / "staging").iterdir()
    staged.write_bytes(b"jello")
    with pytest.raises(ObjectDamaged, match="do not match its name"):
        weft.get(reference)


@pytest.mark.parametrize("piece", [1, 7, 1 << 20])
def test_put_file_stores_what_put_would(inside, tmp_path, monkeypatch, piece):
    monkeypatch.setattr(context, "PIECE_BYTES", piece)
    file = tmp_path / "file"
    file.write_bytes(bytes(range(100)))
    assert weft.get(weft.put_file(file)) == bytes(range(100))
    assert weft.get(weft.put_file(str(file), start=10, size=20)) == bytes(range(10, 30))
    assert weft.get(weft.put_file(file, start=90, size=99)) == bytes(range(90, 100))
    assert weft.put_file(file, size=0) == weft.put(b"")
    assert file.read_bytes() == bytes(range(100))


def test_put_file_that_cannot_be_read_leaves_nothing(inside, tmp_path):
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(OSError, match=r"No such file|Is a directory"):
            weft.put_file(path)
    assert list((tmp_path / "staging").iterdir()) == []


def test_put_file_of_known_bytes_stages_them_once(inside, tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"hello")
    assert weft.put(b"hello") == weft.put_file(file) == weft.put_file(file)
    assert len(inside.staged) == len(list((tmp_path / "staging").iterdir())) == 1
