"""Opening an existing run: moved, copied, rolled back, lost, of another search, damaged."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3

import pytest

import weft
from tests.support.sessions import RUN_ID, Sessions, double
from weft.errors import (
    FileInvalid,
    LedgerDamaged,
    ManifestDamaged,
    RunCopied,
    RunMismatch,
    RunRolledBack,
)
from weft.storage.disk import Disk
from weft.storage.heads import HeadsList


def body():
    for i in range(4):
        yield [double(10 * i + j) for j in range(3)]
    return "through"


@pytest.fixture
def reference(tmp_path):
    sessions = Sessions(tmp_path / "reference")
    sessions.go(body)
    return sessions.ledger


@pytest.fixture
def sessions(tmp_path):
    """A run stopped in the middle."""
    sessions = Sessions(tmp_path)
    sessions.go(body, stop_after=5)
    return sessions


def snapshot(folder):
    """Every file of a run folder with its bytes, except those of the lock."""
    paths = sorted(p for p in folder.rglob("*") if p.is_file())
    return {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for p in paths
        if p.name not in (".lock", ".owner") and not p.name.startswith("manifest.sqlite-")
    }


def heads_of(sessions, run_id=RUN_ID):
    return HeadsList(sessions.root / "heads", Disk()).binding(run_id)


# -- moved and copied ---------------------------------------------------------------------


class Elsewhere(Sessions):
    """The same state folder, but another run folder."""

    name = "elsewhere"

    @property
    def folder(self):
        from weft.storage.folder import RunFolder

        return RunFolder(self.root / self.name)


def test_moved_folder_goes_on_with_an_event(sessions, tmp_path, reference):
    sessions.folder.path.rename(tmp_path / "elsewhere")
    moved = Elsewhere(tmp_path)
    moved.go(body)
    assert moved.events == [("moved", f"from {tmp_path / 'run'}")]
    assert moved.ledger == reference
    assert heads_of(moved)[-1].home.path == str(tmp_path / "elsewhere")


def test_copied_folder_is_refused_and_unchanged(sessions, tmp_path):
    shutil.copytree(sessions.folder.path, tmp_path / "elsewhere")
    copy = Elsewhere(tmp_path)
    before = snapshot(copy.folder.path)
    with pytest.raises(
        RunCopied, match=rf"the original is still in {tmp_path}/run; .*--accept copy"
    ):
        copy.go(body)
    assert snapshot(copy.folder.path) == before


def test_copied_folder_accepted_becomes_a_run_of_its_own(sessions, tmp_path, reference):
    shutil.copytree(sessions.folder.path, tmp_path / "elsewhere")
    copy = Elsewhere(tmp_path, accept=("copy",))
    copy.go(body, stop_after=2)
    assert copy.events == [("copy-accepted", "")]
    assert copy.folder.read_run_file().run_id == "c0de"
    copy.accept = ()
    copy.go(body)  # needs no further acceptance
    sessions.go(body)  # and the original continues as well
    assert copy.ledger == sessions.ledger == reference
    assert heads_of(copy, "c0de")[-1].size == heads_of(sessions)[-1].size


def test_copied_folder_whose_original_is_gone_is_a_move(sessions, tmp_path, reference):
    shutil.copytree(sessions.folder.path, tmp_path / "elsewhere")
    shutil.rmtree(sessions.folder.path)
    moved = Elsewhere(tmp_path)
    moved.go(body)
    assert [kind for kind, _ in moved.events] == ["moved"]
    assert moved.ledger == reference


def test_copied_folder_where_another_run_lives_now_is_a_move(sessions, tmp_path):
    shutil.copytree(sessions.folder.path, tmp_path / "elsewhere")
    run_toml = sessions.folder.run_toml
    run_toml.write_text(run_toml.read_text().replace(RUN_ID, "0ther"))
    moved = Elsewhere(tmp_path)
    moved.go(body)
    assert [kind for kind, _ in moved.events] == ["moved"]


def test_folder_on_another_host_is_no_copy(sessions, tmp_path, monkeypatch):
    shutil.copytree(sessions.folder.path, tmp_path / "elsewhere")
    monkeypatch.setattr("tests.support.sessions.HOST", "there")
    moved = Elsewhere(tmp_path)
    moved.go(body)
    assert [kind for kind, _ in moved.events] == ["moved"]


def test_folder_without_heads_goes_on_silently(sessions, reference):
    shutil.rmtree(sessions.root / "heads")
    sessions.go(body)
    assert sessions.events == []
    assert sessions.ledger == reference


# -- rolled back --------------------------------------------------------------------------


def rolled_back(sessions, tmp_path, later):
    """Continue the run, then restore the older folder in the same place."""
    shutil.copytree(sessions.folder.path, tmp_path / "backup")
    sessions.go(body, stop_after=later)
    shutil.rmtree(sessions.folder.path)
    (tmp_path / "backup").rename(sessions.folder.path)


def test_rollback_of_ledger_and_manifest_is_refused_and_unchanged(sessions, tmp_path):
    rolled_back(sessions, tmp_path, later=4)
    before = snapshot(sessions.folder.path)
    with pytest.raises(RunRolledBack, match=r"ledger has \d+ records, \d+ were seen; .*rollback"):
        sessions.go(body)
    assert snapshot(sessions.folder.path) == before


def test_rollback_of_commits_alone_is_refused(sessions, tmp_path):
    """The later session recorded nothing in the ledger, but the manifest had more commits."""
    rolled_back(sessions, tmp_path, later=0)
    with pytest.raises(RunRolledBack, match=r"manifest has \d+ commits, \d+ were seen"):
        sessions.go(body)


def test_rollback_accepted_restarts_the_heads(sessions, tmp_path, modules):
    """Through weft.run, which writes the restart head."""
    module = modules.write("""
        @weft.search(version=1)
        def s():
            yield []
            for i in range(3):
                yield [one(i)]

        @weft.task
        def one(i):
            return i
    """)
    out = tmp_path / "out"
    for _ in range(2):
        with pytest.raises(weft.Interrupted):
            weft.run(module.s(), out=out, wall_limit_s=0)
        if not (tmp_path / "backup").exists():
            shutil.copytree(out, tmp_path / "backup")
    shutil.rmtree(out)
    (tmp_path / "backup").rename(out)
    with pytest.raises(RunRolledBack):
        weft.run(module.s(), out=out)
    with pytest.raises(weft.errors.Interrupted):
        weft.run(module.s(), out=out, accept=["rollback"], wall_limit_s=0)
    with pytest.raises(weft.errors.Interrupted):  # accepted permanently
        weft.run(module.s(), out=out, wall_limit_s=0)
    from weft.runs.world import heads_folder

    heads = HeadsList(heads_folder(), Disk()).binding(_run_id(out))
    assert heads[0].restart
    assert not any(head.restart for head in heads[1:])


def test_loss_of_ledger_and_manifest_is_accepted_once_and_recorded(tmp_path, modules):
    module = modules.write("""
        @weft.search(version=1)
        def s():
            for i in range(3):
                yield [one(i)]
            return "done"

        @weft.task
        def one(i):
            return i
    """)
    out = tmp_path / "out"
    weft.run(module.s(), out=out)
    for name in ("ledger.jsonl", "checkpoint", *(p.name for p in out.glob("manifest.sqlite*"))):
        (out / name).unlink()
    with pytest.raises(RunRolledBack, match=r"its ledger has 0 records, .*accept rollback"):
        weft.run(module.s(), out=out)
    with pytest.raises(weft.errors.Interrupted):
        weft.run(module.s(), out=out, accept=["rollback"], wall_limit_s=0)
    assert weft.run(module.s(), out=out).answer == "done"
    with contextlib.closing(sqlite3.connect(out / "manifest.sqlite")) as db:
        kinds = [kind for (kind,) in db.execute("SELECT kind FROM events")]
    assert kinds.count("rollback-accepted") == 1


def test_copy_of_which_nothing_is_left_gets_an_id_of_its_own(tmp_path, modules):
    module = modules.write("""
        @weft.search(version=1)
        def s():
            yield [one(1)]

        @weft.task
        def one(i):
            return i
    """)
    out, copy = tmp_path / "out", tmp_path / "copy"
    weft.run(module.s(), out=out)
    copy.mkdir()
    shutil.copy(out / "run.toml", copy)
    weft.run(module.s(), out=copy, accept=["copy"])
    assert _run_id(copy) != _run_id(out)
    weft.run(module.s(), out=copy)


def _run_id(out):
    from weft.storage.folder import RunFolder

    return RunFolder(out).read_run_file().run_id


# -- lost, foreign, damaged ---------------------------------------------------------------


def test_lost_manifest_is_reported_and_rebuilt(sessions, reference):
    sessions.folder.manifest.unlink()
    sessions.folder.manifest.with_name("manifest.sqlite-wal").write_bytes(b"of the lost one")
    sessions.go(body)
    assert [kind for kind, _ in sessions.events] == ["manifest-lost", "manifest-rebuilt"]
    assert sessions.ledger == reference


def test_killed_before_anything_was_recorded_begins_anew(tmp_path, reference):
    sessions = Sessions(tmp_path / "fresh")

    class Dying(Disk):
        def step(self, name):
            if name == "commit":
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sessions.go(body, disk=Dying())
    assert sessions.folder.is_run()
    assert not sessions.folder.manifest.exists()
    sessions.go(body)
    assert sessions.ledger == reference


@pytest.mark.parametrize("lost_manifest", [False, True])
def test_other_search_or_seed_is_refused_and_unchanged(sessions, lost_manifest):
    if lost_manifest:
        sessions.folder.manifest.unlink()
    before = snapshot(sessions.folder.path)
    sessions.seed = 9
    with pytest.raises(RunMismatch, match="seed is 0 there, 9 here"):
        sessions.go(body)
    assert snapshot(sessions.folder.path) == before


def test_ledger_damaged_below_the_checkpoint_is_refused_and_unchanged(sessions):
    lines = sessions.ledger.splitlines(keepends=True)
    sessions.folder.ledger.write_bytes(b"".join([*lines[:2], b"x" + lines[2], *lines[3:]]))
    before = snapshot(sessions.folder.path)
    with pytest.raises(LedgerDamaged, match="record 2"):
        sessions.go(body)
    assert snapshot(sessions.folder.path) == before


def test_ledger_damaged_and_manifest_lost_is_refused(sessions):
    lines = sessions.ledger.splitlines(keepends=True)
    sessions.folder.ledger.write_bytes(b"".join([*lines[:2], b"x" + lines[2], *lines[3:]]))
    sessions.folder.manifest.unlink()
    with pytest.raises(LedgerDamaged, match="record 2"):
        sessions.go(body)


def test_checkpoint_or_run_file_that_is_none_is_refused(sessions):
    sessions.folder.checkpoint.write_text("nonsense")
    with pytest.raises(LedgerDamaged, match="checkpoint"):
        sessions.go(body)
    sessions.folder.run_toml.write_text("nonsense")
    with pytest.raises(FileInvalid, match=r"run\.toml"):
        sessions.go(body)


def test_manifest_that_contradicts_the_ledger_beyond_repair_is_damage(sessions, monkeypatch):
    """A planted bug in rebuild must not end in an endless loop or a wrong ledger."""
    sessions.folder.manifest.unlink()
    monkeypatch.setattr("weft.runs.opening.rebuild", lambda manifest, records: 0)
    with pytest.raises(ManifestDamaged, match="cannot be brought up to the ledger"):
        sessions.go(body)
