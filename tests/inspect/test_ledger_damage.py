"""F7: any change to a finished run's ledger is found, and the record is named."""

from __future__ import annotations

import io
import itertools
import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import weft
from tests.inspect.runs import (
    NO_HEADS,
    copy_of,
    flip,
    flips,
    heads,
    put_checkpoint,
    put_ledger,
    read_checkpoint,
    read_lines,
    record_at,
    rewritten,
    unseal,
)
from tests.support.figures import Part, print_figures
from weft.errors import LedgerDamaged, RunRolledBack
from weft.inspect.ledgercheck import check_ledger
from weft.inspect.verify import verify
from weft.ledger.checkpoint import Checkpoint
from weft.ledger.records import KINDS, parse
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.manifest import Manifest
from weft.testing.workload import mixed_steps

SEED = 20250807
SHAPE = 36
"""Shape of a search with records of every kind and a ledger only slightly longer than 8 KiB."""
Variant = tuple[int, bytes]
"""Number of the first record that is wrong, and the file's bytes."""

pytestmark = pytest.mark.usefixtures("fast_parse")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of few records, never to be changed: campaigns read it thousands of times."""
    run = tmp_path_factory.mktemp("small") / "run"
    weft.run(mixed_steps(SHAPE), out=run)
    assert {parse(line[:-1]).kind for line in read_lines(run)} == set(KINDS)
    return run


def found_at(data: bytes, checkpoint: Checkpoint) -> int | str | None:
    """The record at which the ledger alone is found to be damaged, or `missed`."""
    try:
        check_ledger(io.BytesIO(data), checkpoint, sealed=True)
    except LedgerDamaged as error:
        return error.seq
    return "missed"


def require_all_found(variants: Iterable[Variant], checkpoint: Checkpoint) -> int:
    """A change shows at its record, in the next one's prev_hash or, for the last, in the root."""
    count = 0
    for seq, data in variants:
        at = found_at(data, checkpoint)
        last = seq >= checkpoint.size - 1
        assert at in (seq, seq + 1) or (last and at is None), f"record {seq}: {at}"
        count += 1
    return count


def bit_flips(lines: list[bytes], offsets: Iterable[int]) -> Iterator[Variant]:
    data = b"".join(lines)
    for offset in offsets:
        for bit in range(8):
            yield record_at(lines, offset), flip(data, offset, bit)


def swaps(lines: list[bytes]) -> Iterator[Variant]:
    rng = random.Random(SEED)
    pairs = [(i, i + 1) for i in range(len(lines) - 1)]
    pairs += [tuple(sorted(rng.sample(range(len(lines)), 2))) for _ in range(100)]
    for first, second in pairs:
        changed = lines.copy()
        changed[first], changed[second] = lines[second], lines[first]
        yield first, b"".join(changed)


@pytest.mark.parametrize("size", [1 << 12, pytest.param(1 << 16, marks=pytest.mark.slow)])
def test_every_bit_of_the_first_kilobytes_is_found(finished: Path, size: int) -> None:
    lines, offsets = read_lines(finished), Part.asked().of(range(size))
    count = require_all_found(bit_flips(lines, offsets), read_checkpoint(finished))
    assert count == len(offsets) * 8
    print_figures("F7", bits=count, violations=0)


def test_random_bits_of_the_whole_file_are_found(finished: Path, small: Path, chaos: bool) -> None:
    run = finished if chaos else small
    lines, rng = read_lines(run), random.Random(SEED)
    data = b"".join(lines)
    offsets = [rng.randrange(len(data)) for _ in range(5000)]
    variants = ((record_at(lines, o), bad) for o, bad in flips(data, offsets, SEED))
    assert require_all_found(variants, read_checkpoint(run)) == 5000


def test_a_bit_of_each_record_is_found_there_or_at_the_next(small: Path) -> None:
    lines, rng = read_lines(small), random.Random(SEED)
    starts = itertools.accumulate(map(len, lines), initial=0)
    offsets = [start + rng.randrange(len(line)) for start, line in zip(starts, lines, strict=False)]
    variants = enumerate(bad for _, bad in flips(b"".join(lines), offsets, SEED))
    assert require_all_found(variants, read_checkpoint(small)) == len(lines)


def test_every_byte_of_the_last_record_is_found(small: Path) -> None:
    """No later record contains its hash: only the root at the checkpoint covers it."""
    lines = read_lines(small)
    data, last = b"".join(lines), len(lines) - 1
    offsets = range(len(data) - len(lines[last]), len(data))
    variants = ((last, bad) for _, bad in flips(data, offsets, SEED))
    assert require_all_found(variants, read_checkpoint(small)) == len(offsets)


def test_every_cut_in_the_last_kilobytes_is_found(small: Path) -> None:
    lines = read_lines(small)
    data = b"".join(lines)
    cuts = range(len(data) - 8192, len(data))
    variants = ((record_at(lines, cut), data[:cut]) for cut in cuts)
    assert require_all_found(variants, read_checkpoint(small)) == 8192


def test_swapped_deleted_and_doubled_records_are_found(finished: Path) -> None:
    lines, checkpoint = read_lines(finished), read_checkpoint(finished)
    count = len(lines)
    deleted = ((i, b"".join(lines[:i] + lines[i + 1 :])) for i in range(count))
    doubled = ((i + 1, b"".join(lines[: i + 1] + lines[i:])) for i in range(count))
    assert require_all_found(swaps(lines), checkpoint) == count + 99
    assert require_all_found(deleted, checkpoint) == count
    assert require_all_found(doubled, checkpoint) == count


def test_the_undamaged_ledger_passes(finished: Path) -> None:
    facts = check_ledger(read_lines(finished), read_checkpoint(finished), sealed=True)
    assert facts.size == len(read_lines(finished))
    assert facts.ended


def test_verify_names_the_exact_record(run: Path) -> None:
    lines, rng = read_lines(run), random.Random(SEED)
    data = b"".join(lines)
    offsets = [rng.randrange(len(data)) for _ in range(60)] + [len(data) - 20]
    for offset, bad in flips(data, offsets, SEED):
        put_ledger(run, bad)
        with pytest.raises(LedgerDamaged) as caught:
            verify(run, NO_HEADS)
        assert caught.value.seq == record_at(lines, offset)
        assert f"record {caught.value.seq}" in caught.value.message
    put_ledger(run, data)
    assert verify(run, NO_HEADS).status == "finished"


@pytest.mark.parametrize("keep", [0, 1, 100, -1])
def test_a_clean_cut_is_found_with_and_without_its_checkpoint(run: Path, keep: int) -> None:
    lines = read_lines(run)[:keep]
    put_ledger(run, b"".join(lines))
    with pytest.raises(LedgerDamaged, match=f"record {len(lines)}: missing"):
        verify(run, NO_HEADS)
    put_checkpoint(run, lines)
    with pytest.raises(LedgerDamaged, match=f"record {len(lines)}: missing"):
        verify(run, NO_HEADS)


# -- forgers who recompute the chain -------------------------------------------------------------


def forge(run: Path, seq: int = 30) -> list[bytes]:
    """Change one result and everything that depends on it: chain and checkpoint."""
    lines = rewritten(read_lines(run), seq, lambda body: body["value"].update(height=0))
    put_ledger(run, b"".join(lines))
    put_checkpoint(run, lines)
    return lines


def forge_manifest(run: Path) -> None:
    """Change the same result in the manifest, so that the projection agrees with the forgery."""
    manifest = Manifest.open(RunFolder(run).manifest, Disk())
    [(id_, value)] = manifest.query("SELECT id, value FROM task_view WHERE round=0 AND idx=29")
    forged = value.replace(value[value.index(":") + 1 : value.index(",")], "0", 1)
    [row] = manifest.tasks(id_, id_ + 1)
    manifest.restore(replace(row, value=forged))  # with the matching digest
    manifest.commit()
    manifest.finish()
    manifest.close()


def test_a_rewritten_ledger_is_found_through_the_manifest(run: Path) -> None:
    lines = forge(run)
    check_ledger(lines, read_checkpoint(run), sealed=True)  # on its own it is flawless
    with pytest.raises(LedgerDamaged, match="record 30 ") as caught:
        verify(run, NO_HEADS)
    assert caught.value.seq == 30


def test_a_rewritten_ledger_is_found_through_outside_heads_and_named(run: Path) -> None:
    forge(run)
    with pytest.raises(LedgerDamaged, match="record 30 ") as caught:
        verify(run, heads())
    assert caught.value.seq == 30


def test_a_rewritten_ledger_without_manifest_is_found_through_outside_heads(run: Path) -> None:
    forge(run)
    RunFolder(run).manifest.unlink()
    assert verify(run, NO_HEADS).outside == "no outside head"  # and verify states so
    with pytest.raises(LedgerDamaged, match="head stored outside"):
        verify(run, heads())


def test_a_rewritten_ledger_and_manifest_are_found_through_outside_heads(run: Path) -> None:
    forge(run)
    forge_manifest(run)
    verdict = verify(run, NO_HEADS)
    assert (verdict.status, verdict.outside) == ("finished", "no outside head")
    with pytest.raises(LedgerDamaged, match="was altered: a head stored outside"):
        verify(run, heads())


def test_a_rewritten_ledger_is_found_against_a_kept_checkpoint(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "kept"
    copy.write_bytes(RunFolder(run).checkpoint.read_bytes())
    verdict = verify(run, NO_HEADS, against=copy)
    assert verdict.outside == "agrees with 1 head stored outside the run"
    forge(run)
    forge_manifest(run)
    with pytest.raises(LedgerDamaged, match="the checkpoint given"):
        verify(run, NO_HEADS, against=copy)


def test_a_roll_back_is_found_through_outside_heads(run: Path) -> None:
    lines = read_lines(run)[:100]
    put_ledger(run, b"".join(lines))
    put_checkpoint(run, lines, sealed=False)
    unseal(run)
    assert verify(run, NO_HEADS).status == "interrupted"
    with pytest.raises(RunRolledBack, match="record 100: missing"):
        verify(run, heads())


def test_a_roll_back_of_a_whole_folder_is_found(snapshots: list[Path], tmp_path: Path) -> None:
    for number, snapshot in enumerate(snapshots):
        older = copy_of(snapshot, tmp_path / str(number))
        with pytest.raises(RunRolledBack):
            verify(older, heads())
