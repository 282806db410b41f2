"""The run folder: run.toml, which folders may become a run, and the lock."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
import tomli_w

from weft.errors import FileInvalid, RunFolderInvalid, RunFolderUnsafe, RunLocked
from weft.storage import folder as folder_module
from weft.storage.disk import Disk
from weft.storage.folder import RunFile, RunFolder

RUN = RunFile("abc123", "m:s", "..", {"m": "0" * 64}, {"workers": 3, "backend": "local"})


@pytest.fixture
def folder(tmp_path):
    return RunFolder(tmp_path)


# -- run.toml -----------------------------------------------------------------------------


def test_run_file_written_is_read_back(folder):
    folder.write_run_file(RUN, Disk())
    assert folder.is_run()
    assert folder.read_run_file() == RUN


@pytest.mark.parametrize(
    ("execution", "tags", "labels"),
    [
        ({}, (), {}),
        ({"tags": ["a", "b"], "labels": {"d1": "one"}}, ("a", "b"), {"d1": "one"}),
        ({"tags": ["a", 3], "labels": {"d1": "one", "d2": 2}}, ("a",), {"d1": "one"}),
        ({"tags": 3, "labels": ["d1"]}, (), {}),
    ],
)
def test_tags_and_labels_are_texts_and_anything_else_is_left_out(execution, tags, labels):
    run_file = RunFile("abc123", "m:s", "..", {}, execution)
    assert (run_file.tags, run_file.labels) == (tags, labels)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema_version": 2}, "schema_version must be 1"),
        ({"schema_version": None}, "schema_version must be 1"),
        ({"run_id": None}, "'run_id' is missing"),
        ({"run_id": 5}, "'run_id' is missing, unknown or of the wrong type"),
        ({"search": None}, "'search' is missing"),
        ({"search": ["m"]}, "'search' is missing"),
        ({"search_path": None}, "'search_path' is missing"),
        ({"search_path": True}, "'search_path' is missing"),
        ({"sources": None}, "'sources' is missing"),
        ({"sources": "m"}, "'sources' is missing"),
        ({"execution": None}, "'execution' is missing"),
        ({"execution": 3}, "'execution' is missing"),
        ({"extra": 1}, "'extra' is missing, unknown"),
        ({"run_id": "../up"}, "letters and digits"),
        ({"run_id": ""}, "letters and digits"),
    ],
)
def test_run_file_wrong_field_is_refused_by_name(folder, change, message):
    raw = {k: v for k, v in {**RUN.to_dict(), **change}.items() if v is not None}
    folder.run_toml.write_text(tomli_w.dumps(raw))
    with pytest.raises(FileInvalid, match=message) as caught:
        folder.read_run_file()
    assert str(folder.run_toml) in str(caught.value)


@pytest.mark.parametrize("data", [b"a = ", b"\xff\xfe", b"a = " + b"[" * 5000])
def test_run_file_that_is_no_toml_is_refused(folder, data):
    folder.run_toml.write_bytes(data)
    with pytest.raises(FileInvalid, match=r"run\.toml"):
        folder.read_run_file()


def test_run_file_missing_says_what_to_give(folder):
    with pytest.raises(RunFolderInvalid, match=r"not a run folder .*--out folder"):
        folder.read_run_file()


# -- a free folder ------------------------------------------------------------------------


def test_check_free_missing_or_empty_folder_is_free(tmp_path):
    RunFolder(tmp_path / "new").check_free()
    RunFolder(tmp_path).check_free()


def test_check_free_leftovers_of_a_killed_creation_are_free(folder):
    for name in (".lock", ".owner", "objects", "run.toml.tmp", "VALIDATION_REPORT.md"):
        (folder.path / name).mkdir()
    folder.check_free()


def test_check_free_foreign_file_is_refused_by_name(folder):
    (folder.path / "thesis.tex").touch()
    with pytest.raises(RunFolderInvalid, match=r"not of a run \(thesis\.tex\); choose an empty"):
        folder.check_free()


def test_check_free_file_instead_of_folder_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RunFolderInvalid, match="is not a folder"):
        RunFolder(tmp_path / "file").check_free()


def test_check_free_run_that_just_appeared_is_left_to_the_lock(folder):
    folder.write_run_file(RUN, Disk())
    (folder.path / "manifest.sqlite").touch()
    folder.check_free()


def test_home_names_host_path_and_inode(folder):
    home, status = folder.home("h"), folder.path.stat()
    assert (home.host, home.path) == ("h", str(folder.path.absolute()))
    assert (home.device, home.inode) == (status.st_dev, status.st_ino)


def test_read_only_files_do_not_make_a_run_finished(folder):
    folder.checkpoint.write_text("x")
    folder.ledger.write_text("x")
    for sealed in (folder.checkpoint, folder.ledger):
        assert not folder.is_read_only()
        sealed.chmod(0o444)
    assert folder.is_read_only()
    assert not folder.is_finished()


# -- the lock -----------------------------------------------------------------------------

HOLDER = """
import sys
from pathlib import Path
from weft.storage.folder import RunFolder
with RunFolder(Path(sys.argv[1])).locked("otherhost"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_lock_held_by_another_process_names_pid_and_host(folder):
    argv = [sys.executable, "-c", HOLDER, str(folder.path)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        expected = f"in use by pid {holder.pid} on otherhost; wait"
        with pytest.raises(RunLocked, match=expected), folder.locked("here"):
            pass
        holder.kill()
        holder.wait()
        with folder.locked("here"):  # released by SIGKILL
            owner = json.loads((folder.path / ".owner").read_text())
            assert owner == {"pid": os.getpid(), "host": "here"}


def test_lock_holder_that_has_not_written_its_name_is_waited_for(folder, monkeypatch):
    """The owner file still names a dead process of this host, or is empty or malformed."""
    monkeypatch.setattr(folder_module, "OWNER_WAIT_S", 0.02)
    for text in ("", "[]", '{"pid": 2147483647, "host": "here"}'):
        with folder.locked("here"):
            (folder.path / ".owner").write_text(text)
            with pytest.raises(RunLocked, match="just starting"), folder.locked("here"):
                pass


@pytest.mark.parametrize(
    ("pid", "host"),
    [(os.getpid(), "here"), (2147483647, "there")],
    ids=["alive", "elsewhere"],
)
def test_lock_holder_alive_or_of_another_host_is_named_at_once(folder, monkeypatch, pid, host):
    """This host cannot tell whether a process of another host is alive."""
    monkeypatch.setattr(folder_module, "OWNER_WAIT_S", 0.0)
    with folder.locked("here"):
        (folder.path / ".owner").write_text(json.dumps({"pid": pid, "host": host}))
        with pytest.raises(RunLocked, match=f"pid {pid} on {host}"), folder.locked("here"):
            pass


def test_lock_released_can_be_taken_again(folder):
    for _ in range(2):
        with folder.locked("here"):
            pass


# -- what is no plain file -----------------------------------------------------------------


def test_link_in_the_place_of_a_file_is_refused_by_all_who_would_open_it(folder, tmp_path):
    folder.write_run_file(RUN, Disk())
    (folder.path / "ledger.jsonl").symlink_to(tmp_path / "elsewhere")
    for check in (folder.check_free, folder.require_run, folder.require_plain):
        with pytest.raises(RunFolderUnsafe, match=r"ledger\.jsonl.*symbolic link"):
            check()
    with pytest.raises(RunFolderUnsafe, match="symbolic link"), folder.locked("host"):
        pass
    assert not (folder.path / ".lock").exists()


def test_link_below_the_folders_of_workers_is_refused_before_a_run_begins(folder, tmp_path):
    (folder.path / "logs").mkdir()
    (folder.path / "logs" / "1").symlink_to(tmp_path)
    folder.write_run_file(RUN, Disk())
    folder.require_run()
    for check in (folder.check_free, folder.require_plain):
        with pytest.raises(RunFolderUnsafe, match="symbolic link"):
            check()


def test_names_of_a_run_folder_are_those_of_the_page(folder):
    paths = (folder.logs, folder.attempts, folder.repository, folder.kept)
    assert [path.name for path in paths] == ["logs", "attempts", "repo.git", "kept"]


def test_file_that_its_owner_may_write_is_not_read_only(folder):
    folder.ledger.touch(0o445)
    folder.checkpoint.touch(0o444)
    assert folder.is_read_only()
    folder.checkpoint.chmod(0o644)
    assert not folder.is_read_only()


def test_holder_that_has_not_written_its_name_yet_is_waited_for(tmp_path, monkeypatch):
    owner, waits = tmp_path / "owner", []

    def write_name(seconds):
        waits.append(seconds)
        owner.write_text(json.dumps({"pid": os.getpid(), "host": "here"}))

    monkeypatch.setattr(folder_module.time, "sleep", write_name)
    assert folder_module._find_owner(owner, "here") == f"pid {os.getpid()} on here"
    assert len(waits) == 1


def test_holder_that_never_writes_its_name_is_given_up(tmp_path, monkeypatch):
    now_s = [100.0]
    monkeypatch.setattr(folder_module.time, "monotonic", lambda: now_s[0])
    monkeypatch.setattr(folder_module.time, "sleep", lambda s: now_s.append(now_s.pop() + s))
    name = folder_module._find_owner(tmp_path / "owner", "here")
    assert name == "another coordinator that is just starting"
    assert now_s[0] - 100.0 == pytest.approx(folder_module.OWNER_WAIT_S, abs=0.1)


def test_run_folder_has_the_names_that_the_documents_give(folder):
    names = {name: path.name for name, path in vars(folder).items() if name != "path"}
    assert names == {
        "run_toml": "run.toml", "ledger": "ledger.jsonl", "checkpoint": "checkpoint",
        "signature": "checkpoint.sig", "manifest": "manifest.sqlite", "objects": "objects",
        "logs": "logs", "attempts": "attempts", "outcomes": "outcomes", "repository": "repo.git",
        "code": "code", "kept": "kept",
    }  # fmt: skip
    assert all(path.parent == folder.path for name, path in vars(folder).items() if name != "path")
