"""The reserve of a run folder: taken if there is space, released when it is needed."""

from __future__ import annotations

import errno
import os

import pytest

from tests.support.smallfs import small_file_system
from weft.errors import StorageFailed
from weft.storage.reserve import NAME, Reserve
from weft.worker.space import RESERVE_BYTES


@pytest.fixture
def small(tmp_path):
    with small_file_system(tmp_path / "small", "size=4m,nr_inodes=1000") as folder:
        yield folder


def free_bytes(folder):
    status = os.statvfs(folder)
    return status.f_bfree * status.f_frsize


def test_take_sets_room_aside_and_release_gives_it_back(small):
    reserve, before = Reserve(small), free_bytes(small)
    reserve.take()
    reserve.take()  # as after a session that was killed
    assert before - free_bytes(small) == RESERVE_BYTES
    assert reserve.shortage() == ""
    reserve.release()
    reserve.release()
    assert free_bytes(small) == before


def test_take_without_room_is_refused_with_what_to_do_and_leaves_nothing(small):
    (small / "filler").write_bytes(bytes(3_500_000))
    before = free_bytes(small)
    with pytest.raises(
        StorageFailed, match=f"{small}: short of space, not even 1024 KiB"
    ) as caught:
        Reserve(small).take()
    assert caught.value.hint == f"free some, then: weft resume {small}"
    assert free_bytes(small) == before
    assert not (small / NAME).exists()


def test_shortage_is_reported_in_bytes(small):
    (small / "filler").write_bytes(bytes(3_500_000))
    assert Reserve(small).shortage() == f"short of space: 676 KiB free in {small}"


@pytest.mark.parametrize(("number", "raised"), [(errno.EOPNOTSUPP, False), (errno.EIO, True)])
def test_take_where_room_cannot_be_set_aside_goes_on_and_other_errors_do_not(
    tmp_path, monkeypatch, number, raised
):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    if raised:
        with pytest.raises(OSError, match="Input/output error"):
            Reserve(tmp_path).take()
        assert not (tmp_path / NAME).exists()
    else:
        Reserve(tmp_path).take()


def test_reserve_is_the_file_that_the_documentation_names():
    assert NAME == ".reserve"


def test_reserve_has_the_mode_of_other_files(tmp_path):
    (tmp_path / "usual").touch(0o644)
    Reserve(tmp_path).take()
    assert (tmp_path / NAME).stat().st_mode == (tmp_path / "usual").stat().st_mode
