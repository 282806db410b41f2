"""The object store: bytes under their SHA-256, adopted only when they match."""

from __future__ import annotations

import hashlib

import pytest

from tests.storage.disks import NamedDisk
from weft.errors import ObjectDamaged
from weft.storage import objects as objects_module
from weft.storage.disk import Disk
from weft.storage.objects import ObjectStore, hash_file

DATA = b"some bytes"
DIGEST = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def store(tmp_path):
    store = ObjectStore(tmp_path / "objects", Disk())
    store.staging.mkdir(parents=True)
    return store


def staged(store, data, name="s"):
    path = store.staging / name
    path.write_bytes(data)
    return path


def test_objects_and_staging_are_where_other_readers_look(store):
    assert store.staging == store.folder / "staging"
    assert store.path(DIGEST) == store.folder / DIGEST[:2] / DIGEST[2:]


def test_adopted_bytes_are_durable_before_they_have_their_name(tmp_path):
    disk = NamedDisk()
    store = ObjectStore(tmp_path / "objects", disk)
    store.staging.mkdir(parents=True)
    store.adopt(staged(store, DATA), DIGEST)
    assert disk.names.index("sync") < disk.names.index("rename")


def test_add_bytes_read_back_the_same(store):
    assert store.add(DATA) == DIGEST
    assert store.read(DIGEST) == DATA
    assert store.path(DIGEST).stat().st_mode & 0o777 == 0o444
    assert list(store.digests()) == [DIGEST]


def test_add_twice_writes_once(store):
    store.add(DATA)
    before = store.path(DIGEST).stat().st_ino
    store.add(DATA)
    assert store.path(DIGEST).stat().st_ino == before


def test_file_is_added_in_pieces_once_and_comes_back_in_pieces(store, tmp_path, monkeypatch):
    monkeypatch.setattr(objects_module, "CHUNK_BYTES", 4)
    (tmp_path / "source").write_bytes(DATA)
    assert store.add_file(tmp_path / "source") == DIGEST
    before = store.path(DIGEST).stat().st_ino
    assert store.add_file(tmp_path / "source") == DIGEST
    assert store.path(DIGEST).stat().st_ino == before
    assert list(store.pieces(DIGEST)) == [b"some", b" byt", b"es"]
    assert store.path(DIGEST).stat().st_mode & 0o777 == 0o444


def test_adopt_matching_bytes_moves_them_in(store):
    path = staged(store, DATA)
    store.adopt(path, DIGEST)
    assert store.read(DIGEST) == DATA
    assert not path.exists()


def test_adopt_other_bytes_is_refused_and_adds_nothing(store):
    path = staged(store, b"other bytes")
    with pytest.raises(ObjectDamaged, match=f"{DIGEST[:12]} was handed in with other bytes"):
        store.adopt(path, DIGEST)
    assert not store.has(DIGEST)


def test_adopt_existing_object_clears_the_staged_file(store):
    store.add(DATA)
    path = staged(store, DATA)
    store.adopt(path, DIGEST)
    store.adopt(path, DIGEST)  # no error although it is already gone
    assert not path.exists()


def test_clear_staging_removes_leftovers_only(store):
    store.add(DATA)
    staged(store, b"x", "1-0")
    staged(store, b"y", "1-1")
    store.clear_staging()
    assert list(store.staging.iterdir()) == []
    assert store.read(DIGEST) == DATA


def test_clear_staging_without_a_folder_is_fine(tmp_path):
    ObjectStore(tmp_path, Disk()).clear_staging()


def test_missing_object_is_named(store):
    for look in (store.read, store.check):
        with pytest.raises(ObjectDamaged, match=f"object {DIGEST} is missing"):
            look(DIGEST)


def test_altered_object_is_detected(store):
    store.add(DATA)
    store.path(DIGEST).chmod(0o644)
    store.path(DIGEST).write_bytes(DATA[:-1] + b"X")
    for look in (store.read, store.check):
        with pytest.raises(ObjectDamaged, match="do not match its name"):
            look(DIGEST)


def test_whole_object_passes_the_check(store):
    store.add(DATA)
    store.check(DIGEST)


def test_digests_skip_staging_and_unfinished_files(store):
    store.add(DATA)
    store.add(b"")
    staged(store, b"x")
    store.path(DIGEST).with_suffix(".tmp").write_bytes(b"half")
    assert list(store.digests()) == sorted([DIGEST, hashlib.sha256(b"").hexdigest()])


def test_hash_file_in_pieces_is_the_hash_of_all(tmp_path, monkeypatch):
    monkeypatch.setattr(objects_module, "CHUNK_BYTES", 3)
    (tmp_path / "f").write_bytes(DATA)
    with (tmp_path / "f").open("rb") as file:
        assert hash_file(file) == DIGEST
