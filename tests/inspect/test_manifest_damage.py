"""F8: a damaged, missing or older manifest is found or harmless, and never a wrong answer."""

from __future__ import annotations

import contextlib
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

import weft
from tests.inspect.runs import NO_HEADS, Stopper, contents, copy_of, flip, heads, interrupted_loom
from tests.support.engine import loom
from tests.support.figures import Part, print_figures
from weft.errors import ManifestDamaged, WeftError
from weft.inspect.explain import explain
from weft.inspect.status import status
from weft.inspect.verify import verify
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.manifest import Manifest
from weft.storage.rowdigests import RowDigests

SEED = 8


def damage(run: Path, sql: str) -> None:
    """Change rows directly in the database."""
    db = sqlite3.connect(RunFolder(run).manifest)
    db.execute(sql)
    db.commit()
    db.close()


@pytest.mark.parametrize("count", [400, pytest.param(20_000, marks=pytest.mark.slow)])
def test_flipped_bytes_are_found_or_harmless(run: Path, count: int) -> None:
    path, rng = RunFolder(run).manifest, random.Random(SEED)
    data, good = path.read_bytes(), verify(run, heads())
    flips = Part.asked().of([(rng.randrange(len(data)), rng.randrange(8)) for _ in range(count)])
    detected = 0
    for place, bit in flips:
        path.write_bytes(flip(data, place, bit))
        try:
            verdict = verify(run, heads())
        except ManifestDamaged:
            detected += 1
        else:
            assert (verdict.root, verdict.completed) == (good.root, good.completed)
    print_figures("F8", seed=SEED, bits=len(flips), detected=detected, violations=0)
    assert detected > 20, "the flips hit nothing that matters"


def test_readers_of_a_damaged_manifest_never_fail_otherwise(run: Path) -> None:
    path, rng = RunFolder(run).manifest, random.Random(SEED + 1)
    data = path.read_bytes()
    readers: list[Callable[[], object]] = [
        lambda: verify(run, NO_HEADS),
        lambda: status(run, events=True),
        lambda: explain(run, "/slow:1:2"),
    ]
    for _ in range(150):
        changed = bytearray(data)
        for _ in range(rng.choice((1, 10, 100))):
            changed[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(changed)
        for read in readers:
            with contextlib.suppress(WeftError):
                read()


@pytest.mark.parametrize("keep", [0, 1, 99, 4096, 50_000])
def test_a_truncated_manifest_is_found(run: Path, keep: int) -> None:
    path = RunFolder(run).manifest
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ManifestDamaged, match=r"manifest\.sqlite"):
        verify(run, NO_HEADS)


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM tasks WHERE id=40",
        "DELETE FROM tasks WHERE id=7",
        "UPDATE tasks SET state='queued' WHERE id=7",
        "UPDATE rounds SET recorded=recorded + 1 WHERE id=1",
        "UPDATE rounds SET recorded=-1 WHERE id=1",
        "UPDATE rounds SET recorded='many' WHERE id=1",
        "UPDATE rounds SET closed=0 WHERE id=2",
        "UPDATE lanes SET answer=NULL WHERE path=''",
        "UPDATE lanes SET answer='[' WHERE path=''",
        "UPDATE lanes SET parent=id WHERE path='/left'",
        "UPDATE tasks SET value='{\"x\":1}' WHERE id=7",
        "UPDATE tasks SET error='nonsense', value=NULL WHERE id=7",
        "UPDATE meta SET value='0' WHERE name='genesis'",
        "UPDATE meta SET value='another' WHERE name='run_id'",
        "DELETE FROM meta WHERE name='commits'",
        "DROP TABLE rounds",
    ],
)
def test_rows_that_contradict_the_ledger_are_the_manifests_damage(run: Path, sql: str) -> None:
    damage(run, sql)
    with pytest.raises(ManifestDamaged):
        verify(run, heads())


def test_a_changed_value_names_the_task_and_who_is_wrong(run: Path) -> None:
    damage(run, "UPDATE tasks SET value='0' WHERE id=7")
    with pytest.raises(ManifestDamaged, match="the row of task 7 was altered"):
        verify(run, heads())


def test_a_row_that_waits_for_its_turn_is_checked_too(tmp_path: Path) -> None:
    """Results of later lanes are not in the ledger yet: only their own digest protects them."""
    run = interrupted_loom(tmp_path / "run")
    [(task,)] = sqlite3.connect(RunFolder(run).manifest).execute(
        "SELECT max(id) FROM tasks WHERE state='completed'"
    )
    damage(run, f"UPDATE tasks SET value='99' WHERE id={task}")
    with pytest.raises(ManifestDamaged, match=f"the row of task {task} was altered"):
        verify(run, heads())


def test_a_changed_state_is_found_in_every_row(run: Path) -> None:
    states = ("queued", "running", "completed", "failed", "dropped", "cancelled")
    with contextlib.closing(sqlite3.connect(RunFolder(run).manifest)) as db:
        rows = db.execute("SELECT state, min(id) FROM tasks GROUP BY 1").fetchall()
    present = {state for state, _ in rows}
    assert present >= {"completed", "failed"}
    assert present & {"dropped", "cancelled"}, "which of them depends on what ends before the stop"
    for before, task in rows:
        for state in states:
            if state == before:
                continue
            damage(run, f"UPDATE tasks SET state='{state}' WHERE id={task}")
            with pytest.raises(ManifestDamaged, match=f"task {task} was altered"):
                verify(run, heads())
        damage(run, f"UPDATE tasks SET state='{before}' WHERE id={task}")
    assert verify(run, heads()).status == "finished"


def test_an_unfinished_run_with_a_manifest_of_schema_1_goes_on_to_the_same_head(
    tmp_path: Path,
) -> None:
    reference = weft.run(loom(pause_ms=20), out=tmp_path / "whole", workers=2)
    run = interrupted_loom(tmp_path / "run")
    with contextlib.closing(Manifest.open(RunFolder(run).manifest, Disk())) as manifest:
        manifest.set_meta("schema_version", "1")
        manifest.digests = RowDigests(with_state=False)
        for row in manifest.query(
            "SELECT id, state, key, function, args, value, error FROM tasks WHERE digest NOT NULL"
        ):
            digest = manifest.digests.of(*row[1:])
            manifest.query("UPDATE tasks SET digest=? WHERE id=?", digest, row[0])
        manifest.commit()
    assert verify(run, NO_HEADS).status == "interrupted"
    resumed = weft.run(loom(pause_ms=20), out=run, workers=2)
    assert (resumed.head, resumed.answer) == (reference.head, reference.answer)
    assert verify(run, heads()).status == "finished"


def test_a_finished_run_without_manifest_is_checked_alone(run: Path) -> None:
    good = verify(run, heads())
    RunFolder(run).manifest.unlink()
    before = contents(run)
    verdict = verify(run, heads())
    assert (verdict.status, verdict.root) == ("finished", good.root)
    assert verdict.notes == ("manifest missing: ledger and objects were checked alone",)
    assert status(run).counts["completed"] == good.completed
    assert contents(run) == before


def test_an_older_manifest_of_a_finished_run_is_found(run: Path, snapshots: list[Path]) -> None:
    manifest = RunFolder(run).manifest
    for name in ("", "-wal", "-shm"):
        older = snapshots[2] / (manifest.name + name)
        if older.is_file():
            shutil.copy(older, manifest.with_name(older.name))
    with pytest.raises(ManifestDamaged):
        verify(run, NO_HEADS)


def test_a_lost_manifest_of_an_unfinished_run_is_rebuilt_to_the_same_head(tmp_path: Path) -> None:
    reference = weft.run(loom(pause_ms=20), out=tmp_path / "whole", workers=2)
    run = interrupted_loom(tmp_path / "run")
    RunFolder(run).manifest.unlink()
    verdict = verify(run, heads())
    assert verdict.status == "interrupted"
    assert "resume rebuilds it" in verdict.notes[0]
    resumed = weft.run(loom(pause_ms=20), out=run, workers=2)
    assert (resumed.head, resumed.answer) == (reference.head, reference.answer)
    assert any("manifest-lost" in note for note in verify(run, heads()).notes)


def test_an_older_manifest_of_an_unfinished_run_is_rebuilt_to_the_same_head(tmp_path: Path) -> None:
    reference = weft.run(loom(pause_ms=20), out=tmp_path / "whole", workers=2)
    run = interrupted_loom(tmp_path / "run", after=30)
    older = RunFolder(run).manifest.read_bytes()
    with pytest.raises(weft.errors.Interrupted):
        weft.run(loom(pause_ms=20), out=run, workers=2, watcher=Stopper(100))
    RunFolder(run).manifest.write_bytes(older)
    verdict = verify(run, heads())
    assert verdict.status == "interrupted"
    assert any("manifest older than the ledger" in note for note in verdict.notes)
    resumed = weft.run(loom(pause_ms=20), out=run, workers=2)
    assert (resumed.head, resumed.answer) == (reference.head, reference.answer)


def test_copies_stay_as_they_are_while_being_read(snapshots: list[Path], tmp_path: Path) -> None:
    for number, snapshot in enumerate(snapshots):
        run = copy_of(snapshot, tmp_path / str(number))
        before = contents(run)
        verify(run, NO_HEADS)
        status(run, events=True)
        after = contents(run)
        for side in (before, after):  # SQLite's scratch index of the write-ahead log
            side.pop("manifest.sqlite-shm", None)
        assert after == before


def test_a_manifest_lost_at_any_moment_is_rebuilt_to_the_same_head(
    finished: Path, snapshots: list[Path], tmp_path: Path
) -> None:
    for number, snapshot in enumerate(snapshots[::2]):
        run = copy_of(snapshot, tmp_path / str(number))
        RunFolder(run).manifest.unlink()
        resumed = weft.run(loom(pause_ms=20), out=run, workers=2, accept=["copy"])
        assert resumed.head == verify(finished, heads()).root
        assert verify(run, heads()).status == "finished"
