"""Which points campaigns leave out, and how they are dealt out to cases."""

from __future__ import annotations

import pytest

from tests.faults.points import Point, distinct, of_recovery
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
