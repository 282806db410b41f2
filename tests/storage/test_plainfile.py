"""Opening files of a run: nothing planted there leads outside or makes a reader wait."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from weft.errors import RunFolderUnsafe
from weft.storage import plainfile
from weft.storage.plainfile import (
    NESTED,
    check_below,
    check_database,
    check_entries,
    is_plain_file,
    is_plain_folder,
    open_plain,
    read_plain,
)

DATA = b"what the run holds"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "run" / "objects" / "ab").mkdir(parents=True)
    for name in ("ledger.jsonl", "objects/ab/cd"):
        (tmp_path / "run" / name).write_bytes(DATA)
    (tmp_path / "foreign").write_text("foreign")
    return tmp_path / "run"


def test_plain_files_are_read_at_any_depth(run: Path) -> None:
    assert is_plain_file(run / "ledger.jsonl")
    assert is_plain_file(run / "objects" / "ab" / "cd", NESTED)
    assert is_plain_folder(run / "objects")
    assert read_plain(run / "ledger.jsonl") == DATA
    assert read_plain(run / "objects" / "ab" / "cd", NESTED) == DATA
    for check in (check_entries, check_below):
        check(run)


def test_what_is_not_there_is_no_file_and_raises_as_open_does(run: Path) -> None:
    for name in ("checkpoint", "ledger.jsonl/cd", "objects/xy/cd"):
        path = run / name
        assert not is_plain_file(path, name.count("/") + 1)
        assert not is_plain_folder(path, name.count("/") + 1)
        with pytest.raises(OSError, match=r"No such file|Not a directory"):
            read_plain(path, name.count("/") + 1)
    check_below(run / "nothing")
    check_database(run / "manifest.sqlite")


def test_folder_in_the_place_of_a_file_is_none(run: Path) -> None:
    assert not is_plain_file(run / "objects")
    with pytest.raises(IsADirectoryError, match="objects"):
        open_plain(run / "objects")


@pytest.mark.parametrize("name", ["ledger.jsonl", "objects", "objects/ab", "objects/ab/cd"])
def test_link_at_any_component_is_refused_naming_it(run: Path, name: str) -> None:
    place = run / name
    aside = run.parent / "aside"
    place.rename(aside)
    place.symlink_to(aside)
    path, components = (run / "objects/ab/cd", NESTED) if "objects" in name else (place, 1)
    for look in (is_plain_file, is_plain_folder, open_plain):
        with pytest.raises(RunFolderUnsafe, match=f"run/{name} is a symbolic link"):
            look(path, components)
    with pytest.raises(RunFolderUnsafe, match=f"run/{name} is"):
        check_below(run)


def test_run_itself_may_be_reached_through_a_link(run: Path) -> None:
    (run.parent / "here").symlink_to(run)
    assert read_plain(run.parent / "here" / "ledger.jsonl") == DATA
    nested = run.parent / "here" / "objects" / "ab" / "cd"
    assert is_plain_file(nested, NESTED)
    assert read_plain(nested, NESTED) == DATA
    check_entries(run.parent / "here")


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_file_that_sqlite_would_open_is_refused_beforehand(run: Path, suffix: str) -> None:
    os.mkfifo(run / f"manifest.sqlite{suffix}")
    with pytest.raises(RunFolderUnsafe, match=f"manifest.sqlite{suffix} is a FIFO"):
        check_database(run / "manifest.sqlite")


def exchanged_for_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def exchanged_for_link(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent.parent / "foreign")


@pytest.mark.parametrize(
    ("exchange", "error"), [(exchanged_for_fifo, RunFolderUnsafe), (exchanged_for_link, OSError)]
)
def test_file_exchanged_between_look_and_open_is_refused(
    run: Path,
    monkeypatch: pytest.MonkeyPatch,
    exchange: Callable[[Path], None],
    error: type[Exception],
) -> None:
    real = os.stat

    def stat_then_exchange(*args, **options):
        status = real(*args, **options)
        exchange(run / "ledger.jsonl")
        return status

    monkeypatch.setattr(plainfile.os, "stat", stat_then_exchange)
    with pytest.raises(error):
        open_plain(run / "ledger.jsonl")


def test_folder_exchanged_for_a_link_between_look_and_open_is_not_followed(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run / "objects").rename(run.parent / "aside")
    (run / "objects").symlink_to(run.parent / "aside")
    monkeypatch.setattr(plainfile, "_check_kind", lambda *_: None)
    with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
        open_plain(run / "objects" / "ab" / "cd", NESTED)


def test_temporary_file_that_is_gone_again_is_no_reason_to_refuse(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(run / "checkpoint.tmp")

    def sort_then_remove(entries, key):
        ordered = sorted(entries, key=key)
        (run / "checkpoint.tmp").unlink()
        return ordered

    monkeypatch.setattr(plainfile, "sorted", sort_then_remove, raising=False)
    check_entries(run)
