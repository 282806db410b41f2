"""The checker can fail: it names each kind of planted damage."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.case import Case
from tests.support.checker import (
    Place,
    Reference,
    check_crashed,
    check_executed,
    check_finished,
    check_not_doubled,
    check_not_lost,
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Reference]:
    case = Case(tmp_path_factory.mktemp("checker") / "case")
    assert case.run().returncode == 0
    return case.folder, Reference.of(case.out)


def sql(statement: str) -> Callable[[Place], None]:
    def damage(place: Place) -> None:
        db = sqlite3.connect(place.run / "manifest.sqlite")
        assert db.execute(statement).rowcount > 0
        db.commit()
        db.close()

    return damage


def cut_ledger(place: Place) -> None:
    ledger = place.run / "ledger.jsonl"
    ledger.chmod(0o644)
    ledger.write_bytes(b"".join(ledger.read_bytes().splitlines(keepends=True)[:-3]))


def swap_values(place: Place) -> None:
    ledger = place.run / "ledger.jsonl"
    ledger.chmod(0o644)
    ledger.write_bytes(ledger.read_bytes().replace(b'"stopped":true', b'"stopped":false'))


def damage_object(place: Place) -> None:
    path = sorted((place.run / "objects").glob("??/*"))[0]
    path.chmod(0o644)
    path.write_bytes(b"other")


def note_a_head_too_many(place: Place) -> None:
    path = sorted(place.heads.iterdir())[0]
    head = json.loads(path.read_text().splitlines()[-1])
    with path.open("a") as file:
        file.write(json.dumps({**head, "size": head["size"] + 1}) + "\n")


DAMAGE = {
    "ledger cut": cut_ledger,
    "ledger changed": swap_values,
    "object changed": damage_object,
    "object gone": lambda place: sorted((place.run / "objects").glob("??/*"))[0].unlink(),
    "head ahead": note_a_head_too_many,
    "heads gone": lambda place: sorted(place.heads.iterdir())[0].unlink(),
    "temporary left": lambda place: (place.run / "checkpoint.tmp").touch(),
    "not sealed": lambda place: (place.run / "checkpoint").chmod(0o644),
    "row back to queued": sql("UPDATE tasks SET state='queued', value=NULL WHERE id=1"),
    "row of unknown state": sql("UPDATE tasks SET state='lost' WHERE id=1"),
    "row without times": sql("UPDATE tasks SET finished_at=NULL WHERE id=1"),
    "row with another value": sql("UPDATE tasks SET value='0' WHERE id=1"),
    "attempt too many": sql("INSERT INTO attempts SELECT * FROM attempts"),
    "attempts gone": sql("DELETE FROM attempts"),
    "round open": sql("UPDATE rounds SET closed=0"),
    "recorded too far": sql("UPDATE rounds SET recorded=recorded+1 WHERE stopped"),
    "unknown event": sql("INSERT INTO events VALUES (99, 0, 0, 'party', NULL, '')"),
}


@pytest.mark.parametrize("name", sorted(DAMAGE))
def test_checker_names_planted_damage(
    name: str, finished: tuple[Path, Reference], tmp_path: Path
) -> None:
    folder, reference = finished
    shutil.copytree(folder, tmp_path / "copy")
    place = Place(tmp_path / "copy/runs/run", tmp_path / "copy/home/state/weft/heads")
    assert check_finished(place, reference) == []
    assert check_crashed(place) == []
    DAMAGE[name](place)
    assert check_finished(place, reference) != []


def test_checker_names_doubled_lost_and_uncounted_tasks(finished: tuple[Path, Reference]) -> None:
    run = finished[0] / "runs" / "run"
    executed, unknown = ("", 0, 0), ("", 99, 0)
    assert check_not_doubled(frozenset([executed]), [executed]) != []
    assert check_not_doubled(frozenset([executed]), [unknown]) == []
    assert check_not_lost(frozenset([unknown]), run) != []
    assert check_not_lost(frozenset([executed]), run) == []
    assert check_executed(run, [unknown]) != []
