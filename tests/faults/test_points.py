"""Which points campaigns leave out, and how points are distributed over cases."""

from __future__ import annotations

import pytest

from tests.faults.points import Point, distinct, file_kind, of_recovery, without_repeats
from tests.support.figures import Part

WAL, DATABASE = "runs/run/manifest.sqlite-wal", "runs/run/manifest.sqlite"


def points(*calls: tuple[str, str]) -> list[Point]:
    return [Point(call, number, touched) for number, (call, touched) in enumerate(calls, 1)]


def numbers(chosen: list[Point]) -> list[int]:
    return [point.number for point in chosen]


def test_writes_of_one_transaction_are_tried_at_the_first_and_the_last() -> None:
    write, sync = ("pwrite64", WAL), ("fdatasync", WAL)
    stretches = points(write, write, write, write, sync, write, sync, write, write, sync)
    assert numbers(distinct(stretches)) == [1, 4, 5, 6, 7, 8, 9, 10]


def test_writes_to_two_files_of_the_database_are_two_stretches() -> None:
    write, checkpoint = ("pwrite64", WAL), ("pwrite64", DATABASE)
    both = points(write, write, write, checkpoint, checkpoint, checkpoint)
    assert numbers(distinct(both)) == [1, 3, 4, 6]


def test_every_call_on_files_of_our_own_is_tried() -> None:
    ledger, object_ = ("write", "runs/run/ledger.jsonl"), ("mkdir", "runs/run/objects")
    ours = points(ledger, ledger, ledger, object_, object_, object_)
    assert distinct(ours) == ours


def test_recovery_of_a_finished_run_has_no_call_to_try() -> None:
    assert distinct([]) == []


def test_calls_that_repeat_are_tried_at_the_first_the_middle_one_and_the_last() -> None:
    write, sync = ("write", "runs/run/ledger.jsonl"), ("fsync", "runs/run/ledger.jsonl")
    rounds = points(*(call for _ in range(5) for call in (write, sync)))
    assert numbers(without_repeats(rounds)) == [1, 2, 3, 6, 7, 9, 10]


def test_same_call_after_another_is_no_repeat() -> None:
    folder, renames = ("fsync", "runs/run"), [("rename", f"runs/run/{name}") for name in "abcdef"]
    each = points(*(call for rename in renames for call in (rename, folder)))
    assert without_repeats(each) == each


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("run/objects/63", "run/objects/aa", "run/objects/DIGEST"),
        (f"objects/63/{'a' * 62}.tmp", f"objects/b0/{'7' * 62}.tmp", "objects/DIGEST/DIGEST.tmp"),
        ("objects/staging/12-3", "objects/staging/88-1", "objects/staging/NAME"),
        ("heads/0aF.jsonl", "heads/b77.jsonl", "heads/ID.jsonl"),
        ("logs/worker-7-1.log", "logs/worker-91-2.log", "logs/worker-NUMBER.log"),
        ("repo.git/objects/63/tmp_obj_a", "repo.git/objects/7f/tmp_obj_b",
         "repo.git/objects/DIGEST/tmp_obj_NAME"),
    ],
)  # fmt: skip
def test_files_of_one_kind_have_one_name(first: str, second: str, kind: str) -> None:
    assert file_kind(first) == file_kind(second) == kind


def test_files_with_names_of_their_own_keep_them() -> None:
    for path in ("runs/run/checkpoint.tmp", "runs/run/manifest.sqlite-wal", "runs/run/objects"):
        assert file_kind(path) == path


def test_recovery_ends_where_the_first_worker_starts() -> None:
    calls = [("write", "runs/run/.owner"), ("openat", "runs/run/logs/worker-1-1.log"),
             ("write", "runs/run/ledger.jsonl")]  # fmt: skip
    assert numbers(of_recovery(points(*calls))) == [1]
    assert numbers(of_recovery(points(*calls[:1], *calls[2:]))) == [1, 2]


@pytest.mark.parametrize("count", [1, 2, 6, 7, 40])
def test_shares_of_groups_have_every_point_once(count: int) -> None:
    groups = [[(group, number) for number in range(9)] for group in range(6)]
    tried = []
    for number in range(1, count + 1):
        chosen, part = Part(number, count).within(groups)
        tried += [point for group in chosen for point in part.of(group)]
    assert sorted(tried) == sorted(point for group in groups for point in group)
