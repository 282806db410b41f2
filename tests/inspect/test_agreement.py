"""The fast ledger checks give the same verdict as the plain ones, whatever the ledger."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.inspect.plainwalk import check_plainly
from tests.inspect.runs import (
    NO_HEADS,
    copy_of,
    heads,
    make_writable,
    put_checkpoint,
    put_ledger,
    read_checkpoint,
    read_lines,
)
from weft.errors import WeftError
from weft.inspect import verify as verifying
from weft.inspect.access import open_manifest
from weft.inspect.agreement import check_together
from weft.inspect.ledgercheck import LedgerFacts, check_ledger, check_ledger_file
from weft.inspect.verify import Verdict, verify
from weft.ledger.chain import Chain
from weft.ledger.checkpoint import Checkpoint
from weft.ledger.merkle import leaf_hash, root
from weft.runs.witnesses import read_signature
from weft.storage.folder import RunFolder
from weft.storage.heads import HeadsList
from weft.storage.projection import Projection
from weft.storage.reconcile import reconcile

SEED = 20
Outcome = LedgerFacts | tuple[str, int | None]
EDITS = [
    (b'"index":', b'"index":0'), (b'"value":', b'"value": '), (b'"args":{', b'"args":{"":1,'),
    (b'"lane":"', b'"lane":"/'), (b'"round":0', b'"round":1'), (b':1', b':1.0'), (b':1', b':-0'),
    (b'"args":', b'"arg":'), (b'"value":', b'"value":9007199254740993,"x":'), (b'}', b'}}'),
    (b'"value":', b'"error":'), (b'"function":"', b'"function":"\\u0061'), (b'"', b'\xff'),
    (b'"value":{', b'"value":{"a":1,"a":'), (b'"value":', b'"value":"\\ud800","w":'),
]  # fmt: skip
"""Replacements that a forger may make in a body: (old, new)."""


def outcome(check: Callable[..., LedgerFacts], *args: object, **options: object) -> Outcome:
    try:
        return check(*args, **options)
    except WeftError as error:
        return error.message, getattr(error, "seq", None)


def relinked(lines: Sequence[bytes]) -> list[bytes]:
    """The bodies and keys of these lines with a matching chain, as a forger would build it."""
    chain, out = Chain(), []
    for seq, line in enumerate(lines):
        body, _, tail = line[:-1].rpartition(b',"key":"')
        head, kind = tail[:64], tail.split(b'"kind":"')[1].split(b'"')[0]
        prev = chain.prev_hash.encode()
        new = b'%b,"key":"%b","kind":"%b","prev_hash":"%b","seq":%d,"v":1}' % (
            body, head, kind, prev, seq,
        )  # fmt: skip
        chain.accept(new)
        out.append(new + b"\n")
    return out


def mutants(lines: list[bytes], count: int) -> Iterator[list[bytes]]:
    """Flipped, cut, doubled and forged ledgers; half of the forged ones with a matching chain."""
    rng = random.Random(SEED)
    for _ in range(count):
        changed, place = lines.copy(), rng.randrange(len(lines))
        line, way = bytearray(changed[place]), rng.randrange(6)
        at = rng.randrange(len(line) - 1)
        if way == 0:
            line[at] ^= 1 << rng.randrange(8)
        elif way == 1:
            del line[at]
        elif way == 2:
            changed.insert(place, bytes(line))
        elif way == 3:
            changed[place:] = changed[place:][rng.randint(0, 1) :]
            changed = changed[: rng.randint(1, len(changed))]
            place = -1
            line = bytearray(changed[-1][: rng.randint(1, len(changed[-1]))])
        else:
            line = bytearray(bytes(line).replace(*rng.choice(EDITS), 1))
        changed[place] = bytes(line)
        joined = b"".join(changed).splitlines(keepends=True)
        yield relinked_if_possible(joined) if way == 5 else joined


def relinked_if_possible(lines: list[bytes]) -> list[bytes]:
    try:
        return relinked(lines)
    except (IndexError, ValueError):
        return lines


def checkpoint_of(lines: Sequence[bytes], origin: str) -> Checkpoint:
    whole = [line for line in lines if line.endswith(b"\n")]
    return Checkpoint(origin, len(whole), root([leaf_hash(line[:-1]) for line in whole]))


# -- the ledger alone ----------------------------------------------------------------------------


def test_check_ledger_gives_what_the_plain_walk_gives(finished: Path, chaos: bool) -> None:
    lines, good = read_lines(finished), read_checkpoint(finished)
    refusals = 0
    for number, changed in enumerate(mutants(lines, 20_000 if chaos else 600)):
        checkpoint = (good, None, checkpoint_of(changed, good.origin))[number % 3]
        options = {"sealed": bool(number & 1), "sizes": {0, 3, number % 150}}
        fast = outcome(check_ledger, changed, checkpoint, **options)
        plain = outcome(check_plainly, changed, checkpoint, **options)
        assert fast == plain
        refusals += isinstance(fast, tuple)
    assert refusals > number // 2


def test_check_ledger_of_the_whole_run_gives_what_the_plain_walk_gives(finished: Path) -> None:
    lines, checkpoint = read_lines(finished), read_checkpoint(finished)
    sizes = set(range(len(lines) + 2))
    fast = check_ledger(lines, checkpoint, sealed=True, sizes=sizes)
    assert fast == check_plainly(lines, checkpoint, sealed=True, sizes=sizes)
    assert len(fast.roots) == len(lines) + 1


# -- ledger and manifest -----------------------------------------------------------------------


def both(run: Path, sizes: set[int]) -> tuple[Outcome | None, Outcome | None]:
    """The facts of the single pass and of two separate ones; None where a pass has no result."""
    folder = RunFolder(run)
    with open_manifest(folder) as manifest:
        checkpoint = read_checkpoint(run)
        together = check_together(folder.ledger, Projection(manifest), checkpoint, sizes)
    try:
        facts = check_ledger_file(folder.ledger, checkpoint, sealed=False, sizes=sizes)
        with open_manifest(folder) as manifest:
            reconciled = reconcile(folder.ledger, Projection(manifest), checkpoint)
    except WeftError:
        return (together[0] if together else None), None
    whole = not (reconciled.behind or reconciled.torn_bytes)
    return (together[0] if together else None), (facts if whole else None)


def test_one_pass_over_both_gives_what_two_give(finished: Path, run: Path, chaos: bool) -> None:
    assert (pair := both(run, {0, 1, 50, 10**6}))[0] == pair[1] is not None
    lines = read_lines(finished)
    make_writable(run)
    for changed in mutants(lines, 5000 if chaos else 250):
        put_ledger(run, b"".join(changed))
        together, separate = both(run, {0, 1, 50})
        assert together == separate


def test_one_pass_over_what_a_kill_leaves_gives_what_two_give(snapshots: list[Path]) -> None:
    for snapshot in snapshots:
        if RunFolder(snapshot).checkpoint.is_file():
            together, separate = both(snapshot, {1, 20})
            assert together is None or together == separate


def plain_verdict(run: Path, noted: HeadsList) -> Verdict:
    """Verify in two passes, each side alone first."""
    folder = RunFolder(run)
    run_file = folder.read_run_file()
    signature = read_signature(folder, run_file.search, None)
    outside = noted.binding(run_file.run_id)
    verification = verifying._Verification(folder, run_file, outside, None, signature)
    verification.check_ledger()
    verification.check_manifest()
    verification.check_objects()
    return verification.verdict()


def said(
    check: Callable[[Path, HeadsList], Verdict], run: Path, noted: HeadsList
) -> Verdict | tuple[type, str]:
    try:
        return check(run, noted)
    except WeftError as error:
        return type(error), str(error)


def test_verify_says_of_a_forged_run_what_two_passes_say(run: Path, chaos: bool) -> None:
    lines = read_lines(run)
    make_writable(run)
    for number, changed in enumerate(mutants(lines, 1000 if chaos else 60)):
        put_ledger(run, b"".join(changed))
        put_checkpoint(run, changed if number & 1 else lines)
        heads_list = heads() if number & 2 else NO_HEADS
        assert said(verify, run, heads_list) == said(plain_verdict, run, heads_list)


CHANGES = [
    "UPDATE tasks SET value = value || ' ' WHERE id = 7",
    "UPDATE tasks SET key = replace(key, 'a', 'b') WHERE id = 9",
    "UPDATE tasks SET state = 'queued', digest = NULL WHERE id = 12",
    "UPDATE tasks SET state = 'dropped' WHERE id = (SELECT max(id) FROM tasks)",
    "UPDATE tasks SET value = NULL WHERE id = 3",
    "DELETE FROM tasks WHERE id = 5",
    "UPDATE rounds SET recorded = recorded - 1 WHERE id = 1",
    "UPDATE lanes SET answer = NULL WHERE id = 1",
    "UPDATE meta SET value = 'other' WHERE name = 'run_id'",
    "UPDATE events SET kind = 'rollback-accepted'",
    "INSERT INTO tasks (id, state, key, function, args) VALUES (99999, 'odd', '', '', '')",
]


@pytest.mark.parametrize("sql", CHANGES)
@pytest.mark.parametrize("honest_digest", [False, True])
def test_verify_says_of_an_altered_manifest_what_two_passes_say(
    run: Path, sql: str, honest_digest: bool
) -> None:
    with open_manifest(RunFolder(run)) as manifest:
        row_digest = manifest.digests.of
    db = sqlite3.connect(RunFolder(run).manifest)
    db.execute(sql)
    if honest_digest:
        db.create_function("row_digest", 6, row_digest)
        db.execute(
            "UPDATE tasks SET digest = row_digest(state, key, function, args, value, error)"
            " WHERE state NOT IN ('queued', 'running')"
        )
    db.commit()
    db.close()
    assert said(verify, run, heads()) == said(plain_verdict, run, heads())


def test_verify_says_of_what_a_kill_left_what_two_passes_say(
    snapshots: list[Path], tmp_path: Path
) -> None:
    for number, snapshot in enumerate(snapshots):
        run = copy_of(snapshot, tmp_path / str(number))
        assert said(verify, run, NO_HEADS) == said(plain_verdict, run, NO_HEADS)
