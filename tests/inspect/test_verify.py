"""Verify: unfinished runs are never called damaged, finished ones must be complete."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from tests.inspect.runs import (
    NO_HEADS,
    contents,
    copy_of,
    flip,
    heads,
    interrupted_loom,
    make_writable,
    put,
    put_checkpoint,
    put_ledger,
    read_lines,
    unseal,
)
from tests.inspect.signed import signed_loom
from tests.support.engine import loom
from weft.errors import (
    FileInvalid,
    LedgerDamaged,
    ObjectDamaged,
    RunFolderInvalid,
    SignatureMissing,
)
from weft.inspect.verify import verify
from weft.storage.folder import RunFolder
from weft.storage.ledgerfile import count_lines


def test_a_finished_run_verifies(finished: Path) -> None:
    before = contents(finished)
    verdict = verify(finished, heads())
    assert (verdict.status, verdict.past_checkpoint) == ("finished", 0)
    assert verdict.size == len(read_lines(finished))
    assert verdict.outside.startswith("agrees with ")
    assert (verdict.completed, verdict.failed, verdict.objects) == (232, 3, 3)
    assert verdict.to_dict()["schema_version"] == 1
    assert contents(finished) == before


def test_a_moved_or_unsealed_copy_is_still_finished(run: Path) -> None:
    make_writable(run)
    assert verify(run, heads()).status == "finished"


# -- unfinished runs --------------------------------------------------------------------------


def test_a_stopped_run_is_interrupted(tmp_path: Path) -> None:
    verdict = verify(interrupted_loom(tmp_path / "run"), heads())
    assert (verdict.status, verdict.past_checkpoint) == ("interrupted", 0)
    assert verdict.size < 261


def test_what_a_kill_leaves_is_interrupted(snapshots: list[Path], tmp_path: Path) -> None:
    assert len(snapshots) > 4
    for number, snapshot in enumerate(snapshots):
        verdict = verify(copy_of(snapshot, tmp_path / str(number)), NO_HEADS)
        assert verdict.status == "interrupted"
        assert verdict.size == count_lines(snapshot / "ledger.jsonl")


@pytest.mark.parametrize("cut", [0, 1, 5000, 40_000])
def test_any_tail_above_the_checkpoint_is_interrupted(run: Path, cut: int) -> None:
    lines = read_lines(run)
    put_checkpoint(run, lines[:10], sealed=False)
    unseal(run)
    head, tail = b"".join(lines[:10]), b"".join(lines[10:])
    put_ledger(run, head + tail[:cut])
    verdict = verify(run, NO_HEADS)
    assert verdict.status == "interrupted"
    assert verdict.past_checkpoint == tail[:cut].count(b"\n")


def test_garbage_above_the_checkpoint_is_interrupted_and_below_it_damage(run: Path) -> None:
    lines = read_lines(run)
    put_checkpoint(run, lines[:200], sealed=False)
    unseal(run)
    put_ledger(run, b"".join(lines[:220]) + b"\0" * 4096)
    verdict = verify(run, NO_HEADS)
    assert (verdict.status, verdict.past_checkpoint) == ("interrupted", 20)
    assert verdict.notes == ("resume cuts 4096 bytes of an unfinished write",)
    below = sum(len(line) for line in lines[:150]) + 12
    put_ledger(run, flip(b"".join(lines[:220]), below, 0))
    with pytest.raises(LedgerDamaged) as caught:
        verify(run, NO_HEADS)
    assert caught.value.seq == 150


def test_a_ledger_that_is_gone_below_a_checkpoint_is_damage(tmp_path: Path) -> None:
    run = interrupted_loom(tmp_path / "run")
    RunFolder(run).ledger.unlink()
    with pytest.raises(LedgerDamaged, match="record 0: missing"):
        verify(run, NO_HEADS)


def test_a_lost_checkpoint_of_an_unfinished_run_is_interrupted(tmp_path: Path) -> None:
    run = interrupted_loom(tmp_path / "run")
    RunFolder(run).checkpoint.unlink()
    verdict = verify(run, heads())
    assert (verdict.status, verdict.past_checkpoint) == ("interrupted", verdict.size)


# -- objects, checkpoints, signatures ------------------------------------------------------------


def objects_of(run: Path) -> list[Path]:
    return sorted(p for p in RunFolder(run).objects.rglob("*") if p.is_file())


def test_a_missing_object_is_named_with_its_record(run: Path) -> None:
    objects_of(run)[0].unlink()
    with pytest.raises(ObjectDamaged, match=r"is missing from .*, named by record \d+"):
        verify(run, heads())


def test_an_altered_object_is_named_with_its_record(run: Path) -> None:
    path = objects_of(run)[0]
    put(path, path.read_bytes() + b"!")
    with pytest.raises(ObjectDamaged, match=r"do not match its name, named by record \d+"):
        verify(run, heads())


def test_an_input_that_is_gone_is_named_with_the_genesis(tmp_path: Path) -> None:
    weft.run(loom(size=2, lazy_size=1), out=tmp_path / "run", inputs={"table": b"1,2"})
    run = tmp_path / "run"
    assert verify(run, heads()).objects == 4
    for path in objects_of(run):
        if path.read_bytes() == b"1,2":
            path.unlink()
    with pytest.raises(ObjectDamaged, match="named by record 0"):
        verify(run, heads())


def test_objects_nobody_names_are_no_error(run: Path) -> None:
    (RunFolder(run).objects / "ff").mkdir(exist_ok=True)
    (RunFolder(run).objects / "ff" / ("0" * 62)).write_bytes(b"orphan")
    assert verify(run, heads()).objects == 3


@pytest.mark.parametrize(
    "text", [b"", b"x", b"weft/loom:loom\n261\nAAAA\n", b"\xff\xfe", b"weft/loom:loom\n9" * 5000]
)
def test_a_damaged_checkpoint_is_found(run: Path, text: bytes) -> None:
    put(RunFolder(run).checkpoint, text)
    with pytest.raises(LedgerDamaged):
        verify(run, heads())


def test_an_older_checkpoint_of_a_finished_run_is_found(run: Path) -> None:
    put_checkpoint(run, read_lines(run)[:100])
    with pytest.raises(LedgerDamaged, match="record 100: it lies beyond the checkpoint"):
        verify(run, heads())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"hello", "three lines"),
        (b"weft/other:other\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n", "other"),
        (b"\xff", "UTF-8"),
        (b"x" * 100_000, "larger"),
    ],
)
def test_a_file_that_is_no_checkpoint_is_refused(
    finished: Path, tmp_path: Path, text: bytes, reason: str
) -> None:
    (tmp_path / "kept").write_bytes(text)
    with pytest.raises(FileInvalid, match=reason):
        verify(finished, heads(), against=tmp_path / "kept")


def test_an_earlier_checkpoint_agrees_with_the_finished_run(run: Path, tmp_path: Path) -> None:
    earlier = copy_of(run, tmp_path / "earlier")
    put_checkpoint(earlier, read_lines(run)[:77])
    checkpoint = RunFolder(earlier).checkpoint
    verdict = verify(run, NO_HEADS, against=checkpoint)
    assert verdict.outside == "agrees with 1 head stored outside the run"


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A signed run, its public key, and someone else's key."""
    run = signed_loom(tmp_path_factory.mktemp("signed"))
    return run.run, run.public_key, run.other_key


def test_a_signature_is_checked_with_the_key_given(signed: tuple[Path, Path, Path]) -> None:
    run, mine, other = signed
    assert verify(run, heads()).signature == "signed to 136 of 136, not checked (give --public-key)"
    assert verify(run, heads(), public_key=mine).signature.endswith(", checked")
    with pytest.raises(SignatureMissing, match=r"^not signed: .* no signature of this key"):
        verify(run, heads(), public_key=other)
    note = run / "checkpoint.sig"
    assert "1 head" in verify(run, NO_HEADS, against=note, public_key=mine).outside


def test_a_signature_of_another_head_is_found(
    signed: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    run = copy_of(signed[0], tmp_path / "run")
    note = RunFolder(run).signature.read_text()
    put(RunFolder(run).signature, note.replace("weft/loom:loom\n", "weft/loom:loom\n1", 1).encode())
    for key in (None, signed[1]):
        with pytest.raises(LedgerDamaged):
            verify(run, heads(), public_key=key)


def test_a_missing_signature_is_not_taken_for_a_good_one(finished: Path, signed: tuple) -> None:
    with pytest.raises(SignatureMissing, match=r"^not signed: there is no checkpoint\.sig"):
        verify(finished, heads(), public_key=signed[1])


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunFolderInvalid):
        verify(tmp_path, heads())


def test_damage_in_a_folder_that_is_also_too_old_is_still_damage(tmp_path: Path) -> None:
    run = interrupted_loom(tmp_path / "run")
    older = copy_of(run, tmp_path / "older")
    weft.run(loom(pause_ms=20), out=run, workers=2)
    put_ledger(older, flip(RunFolder(older).ledger.read_bytes(), 700, 0))
    with pytest.raises(LedgerDamaged):
        verify(older, heads())
