"""Resuming signed runs: what a signature refuses, what a crash leaves, who signs again."""

from __future__ import annotations

import shutil

import pytest

import weft
from tests.inspect.signed import MINE, OTHER, private_pem
from tests.runs.test_opening import snapshot
from tests.support.sessions import Sessions, double
from weft.errors import Interrupted, LedgerDamaged, RunCopied, RunRolledBack
from weft.ledger.chain import Chain
from weft.ledger.checkpoint import Checkpoint, parse_checkpoint
from weft.ledger.records import parse
from weft.model.values import canonical
from weft.signing import check_signed_note, sign_checkpoint
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.ledgerfile import count_lines, read_checkpoint, read_signed

SOURCE = """
@weft.task
def double(x):
    return 2 * x

@weft.search(version=1)
def chain():
    total = 0
    for i in range(3):
        results = yield [double(i)]
        total += results[0].value
    return total
"""


def body():
    for i in range(4):
        yield [double(10 * i + j) for j in range(3)]
    return "through"


class Signed(Sessions):
    """Sessions that sign every checkpoint."""

    def open(self, disk=None):
        opened = super().open(disk)
        opened.writer.sign = lambda text: sign_checkpoint(text, "weft/test", MINE)
        return opened


class Dying(Disk):
    """Interrupts the process before a chosen step, and counts the steps."""

    def __init__(self, last_step=10**9):
        super().__init__()
        self.steps = 0
        self._last_step = last_step

    def step(self, name):
        self.steps += 1
        if self.steps > self._last_step:
            raise KeyboardInterrupt


def check_order(folder):
    """Each file may be older than the file written before it, never newer."""
    signed, checkpoint = read_signed(folder.signature), read_checkpoint(folder.checkpoint)
    sizes = [head.size if head else 0 for head in (signed, checkpoint)]
    assert sizes[0] <= sizes[1] <= count_lines(folder.ledger)


def test_signed_run_killed_at_every_step_goes_on_to_the_same_signature(tmp_path):
    reference, counted = Signed(tmp_path / "reference"), Dying()
    reference.go(body, disk=counted)
    note = reference.folder.signature.read_text()
    assert check_signed_note(note, MINE.public_key()) == reference.folder.checkpoint.read_text()
    lags = set()
    for last_step in range(counted.steps):
        sessions = Signed(tmp_path / str(last_step))
        with pytest.raises(KeyboardInterrupt):
            sessions.go(body, disk=Dying(last_step))
        check_order(sessions.folder)
        signed = read_signed(sessions.folder.signature)
        lags.add(signed != read_checkpoint(sessions.folder.checkpoint))
        if sessions.folder.path.exists() and not sessions.folder.is_run():
            shutil.rmtree(sessions.folder.path)
        sessions.go(body)
        assert sessions.ledger == reference.ledger
        assert sessions.folder.signature.read_text() == note
    assert lags == {False, True}, "some kill fell between checkpoint and signature"


# -- what a signature refuses -------------------------------------------------------------------


@pytest.fixture
def sessions(tmp_path):
    """A signed run stopped in the middle."""
    sessions = Signed(tmp_path)
    sessions.go(body, stop_after=5)
    return sessions


def rewrite(folder, keep=None):
    """Change a result, chain and checkpoint, as a forger would, or only drop records."""
    chain, forged = Chain(), []
    for line in folder.ledger.read_bytes().splitlines()[:keep]:
        record = parse(line)
        if record.seq == 1 and keep is None:
            record.body["value"] = 10**6
        forged.append(chain.next_line(record.kind, record.key, canonical(record.body)) + b"\n")
    folder.ledger.write_bytes(b"".join(forged))
    origin = parse_checkpoint(folder.checkpoint.read_text()).origin
    folder.checkpoint.write_text(Checkpoint(origin, chain.size, chain.root()).to_text())
    folder.manifest.unlink()


@pytest.mark.parametrize("keep", [None, 3], ids=["forged", "cut"])
@pytest.mark.parametrize("heads", [True, False])
def test_ledger_that_does_not_extend_the_signed_head_is_refused_whatever_is_accepted(
    sessions, keep, heads
):
    rewrite(sessions.folder, keep)
    if not heads:
        shutil.rmtree(sessions.root / "heads")
    before = snapshot(sessions.folder.path)
    for accept in ((), ("rollback",), ("copy", "rollback", "code")):
        sessions.accept = accept
        with pytest.raises(LedgerDamaged, match=r"checkpoint\.sig"):
            sessions.go(body)
    assert snapshot(sessions.folder.path) == before


def test_roll_back_with_its_own_older_signature_can_be_accepted(tmp_path):
    sessions = Signed(tmp_path)
    sessions.go(body, stop_after=5)
    shutil.copytree(sessions.folder.path, tmp_path / "backup")
    sessions.go(body, stop_after=3)
    shutil.rmtree(sessions.folder.path)
    (tmp_path / "backup").rename(sessions.folder.path)
    with pytest.raises(RunRolledBack):
        sessions.go(body)
    sessions.accept = ("rollback",)
    sessions.go(body)
    assert sessions.folder.signature.read_text().startswith(sessions.folder.checkpoint.read_text())


def test_garbage_for_a_signature_is_damage(sessions):
    sessions.folder.signature.write_bytes(b"garbage")
    with pytest.raises(LedgerDamaged, match=r"checkpoint\.sig: "):
        sessions.go(body)


def test_records_that_are_not_those_noted_outside_are_refused_unless_accepted(tmp_path):
    sessions = Sessions(tmp_path)
    sessions.go(body, stop_after=5)
    rewrite(sessions.folder)
    with pytest.raises(LedgerDamaged, match="a head stored outside the run has another root"):
        sessions.go(body)
    sessions.accept = ("rollback",)
    sessions.go(body)
    assert sessions.events[0][0] == "rollback-accepted"


# -- finished, and what is left to do -----------------------------------------------------------


@pytest.fixture
def key(tmp_path):
    path = tmp_path / "key.pem"
    path.write_bytes(private_pem(MINE))
    return path


@pytest.fixture
def chain(modules):
    return modules.write(SOURCE).chain


def test_finished_run_not_signed_yet_is_signed_by_the_next_command(chain, tmp_path, key):
    out = tmp_path / "out"
    answer = weft.run(chain(), out=out, sign_key=key).answer
    folder = RunFolder(out)
    note, ledger = folder.signature.read_text(), folder.ledger.read_bytes()
    for signature in (None, sign_checkpoint(folder.checkpoint.read_text(), "weft/x", OTHER)):
        folder.signature.unlink()
        if signature:
            folder.signature.write_text(signature)
        assert weft.run(chain(), out=out).answer == answer
        assert folder.signature.exists() == bool(signature), "nobody asked for a signature"
        assert weft.run(chain(), out=out, sign_key=key).answer == answer
        assert folder.signature.read_text() == note
        assert folder.is_read_only()
    before = snapshot(out)
    assert weft.run(chain(), out=out, sign_key=key).answer == answer
    assert snapshot(out) == before
    assert folder.ledger.read_bytes() == ledger


def test_finished_forgery_beside_the_old_signature_gives_no_answer(chain, tmp_path, key):
    out = tmp_path / "out"
    weft.run(chain(), out=out, sign_key=key)
    for path in (RunFolder(out).ledger, RunFolder(out).checkpoint):
        path.chmod(0o644)
    rewrite(RunFolder(out))
    for sign_key in (None, key):
        with pytest.raises(LedgerDamaged, match=r"checkpoint\.sig has another root"):
            weft.run(chain(), out=out, sign_key=sign_key, accept=["rollback"])


def test_writable_copy_of_a_finished_run_answers_and_a_copy_on_its_way_does_not(chain, tmp_path):
    out, copy = tmp_path / "out", tmp_path / "copy"
    with pytest.raises(Interrupted):
        weft.run(chain(), out=out, wall_limit_s=0)
    shutil.copytree(out, copy)
    with pytest.raises(RunCopied):
        weft.run(chain(), out=copy)
    shutil.rmtree(copy)
    answer = weft.run(chain(), out=out).answer
    shutil.copytree(out, copy)
    for path in (RunFolder(copy).ledger, RunFolder(copy).checkpoint):
        path.chmod(0o644)
    assert weft.run(chain(), out=copy).answer == answer
    for path in (RunFolder(out).ledger, RunFolder(out).checkpoint):
        path.chmod(0o644)
    assert weft.run(chain(), out=out).answer == answer
    assert RunFolder(out).is_read_only(), "what a crash left undone is done"
