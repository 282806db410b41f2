"""The manifest: created completely, opened only if sound, committed atomically."""

from __future__ import annotations

import sqlite3

import pytest

from tests.storage.manifests import GENESIS, queue
from weft.errors import ManifestDamaged
from weft.storage import connection
from weft.storage.disk import Disk
from weft.storage.manifest import ROOT_LANE, Manifest
from weft.storage.schema import TABLES

# -- create and open ----------------------------------------------------------------------


def test_create_then_open_has_identity_and_root_lane(manifest, path):
    assert (manifest.run_id, manifest.genesis, manifest.commits) == ("id1", GENESIS, 0)
    manifest.commit()
    for read_only in (False, True):
        other = Manifest.open(path, Disk(), read_only=read_only)
        assert (other.run_id, other.genesis, other.commits) == ("id1", GENESIS, 1)
        assert other.lane_answer(ROOT_LANE) is None
        other.close()


def test_create_crashed_before_leaves_no_manifest(path):
    class Dying(Disk):
        def rename(self, source, target):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Manifest.create(path, Dying(), "id1", GENESIS)
    assert not path.exists()
    Manifest.create(path, Disk(), "id2", GENESIS).close()
    assert path.is_file()


def test_open_path_with_special_characters_is_found(tmp_path):
    odd = tmp_path / "100%41 #1?.sqlite"
    Manifest.create(odd, Disk(), "id1", GENESIS).close()
    Manifest.open(odd, Disk(), read_only=True).close()


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("data", [b"", b"not a database at all, but longer than a header" * 100])
def test_open_no_database_is_damage(path, data, read_only):
    path.write_bytes(data)
    with pytest.raises(ManifestDamaged, match=r"manifest\.sqlite"):
        Manifest.open(path, Disk(), read_only=read_only)


def test_open_missing_file_is_no_damage_and_creates_nothing(path):
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        Manifest.open(path, Disk())
    assert not path.exists()


@pytest.mark.parametrize("name", ["schema_version", "run_id", "genesis", "commits"])
def test_open_missing_fact_is_damage(manifest, path, name):
    manifest.close()
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM meta WHERE name=?", (name,))
    db.close()
    with pytest.raises(ManifestDamaged):
        Manifest.open(path, Disk())


@pytest.mark.parametrize("version", ["0", "3", "one"])
def test_open_other_schema_version_is_refused_by_number(manifest, path, version):
    manifest.set_meta("schema_version", version)
    manifest.commit()
    with pytest.raises(ManifestDamaged, match=f"schema version .*{version}.* is not 2"):
        Manifest.open(path, Disk())


def test_open_commit_counter_that_is_no_number_is_damage(manifest, path):
    manifest.commit()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE meta SET value='many' WHERE name='commits'")
    db.close()
    with pytest.raises(ManifestDamaged, match="commits"):
        Manifest.open(path, Disk())


@pytest.mark.parametrize(
    "table", ["meta", "lanes", "rounds", "tasks", "attempts", "events", "heads"]
)
def test_open_missing_table_is_damage(manifest, path, table):
    assert f"CREATE TABLE {table} " in TABLES
    manifest.close()
    with sqlite3.connect(path) as db:
        db.execute("DROP VIEW task_view")
        db.execute(f"DROP TABLE {table}")
    db.close()
    with pytest.raises(ManifestDamaged, match=f"no such table: {table}"):
        Manifest.open(path, Disk())


def test_open_locked_by_another_writer_is_no_damage(manifest, path, monkeypatch):
    def locked(path):
        raise sqlite3.OperationalError("database is locked")

    monkeypatch.setattr(connection, "connect_writer", locked)
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        Manifest.open(path, Disk())


def test_check_sound_file_passes(manifest):
    manifest.check()


def test_check_broken_page_is_damage(manifest, path):
    row = manifest.add_round(ROOT_LANE, 0, "tasks", 2000)
    queue(manifest, row, 2000)
    manifest.commit()
    manifest.finish()
    manifest.close()
    data = bytearray(path.read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 400] = b"\x07" * 400
    path.write_bytes(data)
    opened = Manifest.open(path, Disk(), read_only=True)
    with pytest.raises(ManifestDamaged, match=r"manifest\.sqlite: "):
        opened.check()
    opened.close()


def test_row_every_run_has_missing_is_damage(manifest):
    with pytest.raises(ManifestDamaged, match="every run has"):
        manifest.lane_answer(99)


def test_create_removes_what_a_killed_creation_left(tmp_path):
    path = tmp_path / "manifest.sqlite"
    leftovers = [tmp_path / "manifest.sqlite.tmp", tmp_path / "manifest.sqlite.tmp-journal"]
    for leftover in leftovers:
        leftover.write_bytes(b"half a database")
    Manifest.create(path, Disk(), "r", "{}").close()
    assert path.exists()
    assert not any(leftover.exists() for leftover in leftovers)


# -- transactions -------------------------------------------------------------------------


def test_close_without_commit_leaves_the_last_commit(manifest, path):
    manifest.add_round(ROOT_LANE, 0, "tasks", 2)
    manifest.commit()
    manifest.add_round(ROOT_LANE, 1, "tasks", 2)
    manifest.close()
    reopened = Manifest.open(path, Disk())
    assert reopened.find_round(ROOT_LANE, 0) is not None
    assert reopened.find_round(ROOT_LANE, 1) is None
    reopened.close()


def test_reader_sees_one_snapshot(manifest, path):
    manifest.commit()
    reader = Manifest.open(path, Disk(), read_only=True)
    manifest.event(1.0, 1.0, "something", None, "")
    manifest.commit()
    assert reader.query("SELECT count(*) FROM events") == [(0,)]
    reader.close()


def test_finish_leaves_one_plain_file(manifest, path):
    manifest.commit()
    manifest.finish()
    manifest.close()
    assert [p.name for p in path.parent.iterdir()] == ["manifest.sqlite"]
    assert path.read_bytes()[18:20] == b"\x01\x01"  # readers need no write-ahead log


def test_finish_with_a_reader_present_harms_nobody(manifest, path):
    manifest.commit()
    reader = Manifest.open(path, Disk(), read_only=True)
    reader.query("SELECT * FROM meta")
    manifest.event(1.0, 1.0, "later", None, "")
    manifest.commit()
    manifest.finish()
    reader.close()
    assert manifest.query("SELECT kind FROM events") == [("later",)]


def test_finish_on_a_failing_disk_is_no_silence(manifest):
    class Broken:
        def execute(self, sql):
            raise sqlite3.OperationalError("disk I/O error")

    sound, manifest._db = manifest._db, Broken()
    with pytest.raises(sqlite3.OperationalError, match="disk I/O"):
        manifest.finish()
    manifest._db = sound


def test_set_meta_run_id_is_known_at_once(manifest, path):
    manifest.set_meta("run_id", "id2")
    manifest.set_meta("other", "fact")
    manifest.commit()
    assert manifest.run_id == "id2"
    reopened = Manifest.open(path, Disk(), read_only=True)
    assert reopened.run_id == "id2"
    reopened.close()
