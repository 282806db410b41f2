"""Folders that another user could tamper with are refused in every case."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.tools import require_root
from weft.backends.privatefolders import private_file, private_folder
from weft.errors import WorldError

NOBODY = 65534


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def test_folders_are_made_for_us_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        folder = private_folder(tmp_path, "a", "b")
    finally:
        os.umask(before)
    assert folder == tmp_path / "a" / "b"
    assert (mode_of(tmp_path / "a"), mode_of(folder)) == (0o700, 0o700)
    assert private_folder(tmp_path, "a", "b") == folder


def test_nothing_is_made_when_only_a_check_is_asked(tmp_path: Path) -> None:
    assert private_folder(tmp_path, "a", "b", make=False) == tmp_path / "a" / "b"
    assert not (tmp_path / "a").exists()


def link(path: Path) -> None:
    (path.parent / "elsewhere").mkdir(mode=0o700)
    path.symlink_to(path.parent / "elsewhere")


def dangling(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


def opened(path: Path) -> None:
    path.mkdir(0o700)
    path.chmod(0o755)


def widened(path: Path) -> None:
    path.mkdir(0o700)
    path.chmod(0o777)


def foreign(path: Path) -> None:
    require_root()
    path.mkdir(0o700)
    os.chown(path, NOBODY, NOBODY)


@pytest.mark.parametrize(
    ("plant", "why"),
    [
        (link, "is a link"),
        (dangling, "is a link"),
        (opened, "has mode 0755 instead of 0700"),
        (widened, "has mode 0777 instead of 0700"),
        (foreign, "belongs to user 65534, not to us"),
        (Path.touch, "is not a folder"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
@pytest.mark.parametrize("parts", [("x",), ("x", "below")], ids="/".join)
def test_folder_that_somebody_planted_is_refused_in_one_line(
    plant: Callable[[Path], None], why: str, parts: tuple[str, ...], tmp_path: Path
) -> None:
    plant(tmp_path / "x")
    for make in (True, False):
        with pytest.raises(WorldError, match=why) as caught:
            private_folder(tmp_path, *parts, make=make)
        assert "\n" not in str(caught.value)
        assert str(tmp_path / "x") in str(caught.value)
    assert not (tmp_path / "x" / "below").exists()


def test_folder_above_that_others_can_write_is_refused_unless_sticky(tmp_path: Path) -> None:
    above = tmp_path / "above"
    (above / "base").mkdir(parents=True)
    for mode in (0o777, 0o775):
        above.chmod(mode)
        with pytest.raises(WorldError, match=f"is writable by others, mode 0{mode:o}"):
            private_folder(above / "base", "x")
    above.chmod(0o1777)
    private_folder(above / "base", "x")


def test_folder_above_that_is_anothers_is_refused(tmp_path: Path) -> None:
    require_root()
    (tmp_path / "home" / "base").mkdir(parents=True)
    os.chown(tmp_path / "home", NOBODY, NOBODY)
    with pytest.raises(WorldError, match="home belongs to user 65534, not to us or root"):
        private_folder(tmp_path / "home" / "base", "x")


def test_link_above_counts_as_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "home").symlink_to("real")
    assert private_folder(tmp_path / "home", "x").is_dir()
    (tmp_path / "real").chmod(0o777)
    with pytest.raises(WorldError, match="real is writable by others"):
        private_folder(tmp_path / "home", "x")


def test_link_above_that_is_anothers_is_refused(tmp_path: Path) -> None:
    require_root()
    (tmp_path / "real").mkdir()
    (tmp_path / "home").symlink_to("real")
    os.lchown(tmp_path / "home", NOBODY, NOBODY)
    with pytest.raises(WorldError, match="home belongs to user 65534"):
        private_folder(tmp_path / "home", "x")


def test_file_must_be_plain_ours_and_closed(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("t")
    path.chmod(0o600)
    assert private_file(path) == path
    path.chmod(0o640)
    with pytest.raises(WorldError, match="is open to others, mode 0640"):
        private_file(path)
    path.rename(tmp_path / "other")
    path.symlink_to("other")
    with pytest.raises(WorldError, match="is not a regular file"):
        private_file(path)


def test_file_of_another_user_is_refused(tmp_path: Path) -> None:
    require_root()
    path = tmp_path / "token"
    path.touch(0o600)
    os.chown(path, NOBODY, NOBODY)
    with pytest.raises(WorldError, match="belongs to user 65534"):
        private_file(path)
