"""weft.run from outside: folders it refuses, finished runs, inputs, signatures, disk trouble."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import weft
from weft.backends import local
from weft.errors import (
    FileInvalid,
    Interrupted,
    LedgerDamaged,
    ManifestDamaged,
    RunFolderInvalid,
    RunLocked,
    RunMismatch,
    StorageFailed,
)
from weft.runs import run as run_module
from weft.runs.outcome import read_outcome
from weft.storage.folder import RunFolder

SOURCE = """
@weft.task
def size(data):
    return len(weft.get(data))

@weft.search(version=1)
def empty(answer=1):
    yield []
    return answer

@weft.task
def length(text):
    return len(text)

@weft.search(version=1)
def weigh(size):
    [result] = yield [length("x" * size)]
    return result.value

@weft.search(version=1)
def unknown(reason):
    yield []
    return weft.Unknown(reason, [1.5])

@weft.search(version=1)
def measured(*, inputs, budget, seed):
    results = yield [size(inputs[name]) for name in sorted(inputs)]
    return [[r.value for r in results], budget["n"], seed]
"""


@pytest.fixture
def lab(modules):
    return modules.write(SOURCE)


@pytest.fixture
def no_workers(monkeypatch):
    """Fail when a worker process is started."""

    def refuse(*_):
        raise AssertionError("a worker was started")

    monkeypatch.setattr(local, "WorkerProcess", refuse)


def tree(folder):
    return {p: p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


# -- finished runs ------------------------------------------------------------------------


def test_finished_run_answers_again_without_a_worker(lab, tmp_path, monkeypatch):
    out = tmp_path / "out"
    options = {"inputs": {"a": b"xyz", "b": b""}, "budget": {"n": 2**60}, "seed": 2**60}
    first = weft.run(lab.measured(), out=out, **options)
    assert first.answer == [[3, 0], 2**60, 2**60]
    assert (first.completed, first.failed, first.timing_dependent) == (2, 0, False)
    assert (first.status, first.exit_code) == ("answered", 0)
    before = tree(out)

    monkeypatch.setattr(local, "WorkerProcess", None)
    assert weft.run(lab.measured(), out=out, workers=5, **options) == first
    assert {p: b for p, b in tree(out).items() if p.name != ".owner"} == {
        p: b for p, b in before.items() if p.name != ".owner"
    }
    for name in ("ledger.jsonl", "checkpoint"):
        assert (out / name).stat().st_mode & 0o777 == 0o444
    assert first.read(weft.Object(_digest(b"xyz"))) == b"xyz"
    assert first.to_dict()["tasks"] == {"completed": 2, "failed": 0}

    with pytest.raises(RunMismatch, match=r"inputs\.a"):
        weft.run(lab.measured(), out=out, **{**options, "inputs": {"a": b"!", "b": b""}})
    with pytest.raises(RunMismatch, match=r"search"):
        weft.run(lab.empty(), out=out)


def _digest(data):
    from weft.model.keys import sha256_hex

    return sha256_hex(data)


@pytest.mark.parametrize(("reason", "code"), [("budget", 1), ("incomplete", 4)])
def test_unknown_answer_has_its_exit_code(lab, tmp_path, no_workers, reason, code):
    run = weft.run(lab.unknown(reason), out=tmp_path / "out")
    assert (run.status, run.exit_code) == ("unknown", code)
    assert run.answer == weft.Unknown(reason, [1.5])
    assert run.to_dict()["answer"] == {"unknown": reason, "detail": [1.5]}


def test_long_answer_is_read_from_the_end_of_the_ledger(lab, tmp_path, no_workers):
    answer = "x" * 300_000
    assert weft.run(lab.empty(answer), out=tmp_path / "out").answer == answer


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: f.ledger.unlink(), "is missing"),
        (lambda f: f.ledger.write_bytes(b""), "does not begin"),
        (lambda f: f.ledger.write_bytes(f.ledger.read_bytes().splitlines()[0]), "root's answer"),
        (lambda f: f.checkpoint.unlink(), "checkpoint of a finished run is missing"),
    ],
)
def test_finished_run_damaged_is_said_not_guessed(lab, tmp_path, no_workers, damage, message):
    weft.run(lab.empty(), out=tmp_path / "out")
    folder = RunFolder(tmp_path / "out")
    damage(folder)
    with pytest.raises(LedgerDamaged, match=message):
        read_outcome(folder, None)


def test_interrupted_is_not_swallowed_by_a_loop_that_catches_every_exception(
    lab, tmp_path, no_workers
):
    seeds = []

    def run_all() -> None:
        for seed in range(3):
            seeds.append(seed)
            try:
                weft.run(lab.measured(), out=tmp_path / str(seed), budget={"n": 1},
                         inputs={"a": b""}, wall_limit_s=0)  # fmt: skip
            except Exception:
                continue  # as users write it, to continue with the next

    with pytest.raises(weft.Interrupted) as caught:
        run_all()
    assert seeds == [0]
    assert caught.value.exit_code == 130
    assert caught.value.hint == f"weft resume {tmp_path / '0'}"
    assert not isinstance(caught.value, Exception)


def test_is_finished_only_with_its_answer_whatever_the_modes(lab, tmp_path, no_workers):
    folder = RunFolder(tmp_path / "out")
    assert not folder.is_finished()
    with pytest.raises(Interrupted):
        weft.run(lab.measured(), out=tmp_path / "out", budget={"n": 1}, inputs={"a": b""},
                 wall_limit_s=0)  # fmt: skip
    for path in (folder.ledger, folder.checkpoint):
        path.chmod(0o444)
    assert not folder.is_finished()
    weft.run(lab.empty(), out=tmp_path / "other")
    other = RunFolder(tmp_path / "other")
    assert other.is_finished()
    assert other.is_read_only()
    for path in (other.ledger, other.checkpoint):
        path.chmod(0o644)
    assert other.is_finished()


# -- inputs -------------------------------------------------------------------------------


def test_input_copied_at_the_start_changed_later_is_refused(lab, tmp_path, no_workers):
    data, out = tmp_path / "data", tmp_path / "out"
    data.write_bytes(b"one")
    with pytest.raises(Interrupted):
        weft.run(lab.measured(), out=out, inputs={"a": data}, budget={"n": 1}, wall_limit_s=0)
    data.write_bytes(b"two")
    before = (out / "ledger.jsonl").read_bytes()
    with pytest.raises(RunMismatch, match=r"inputs\.a"):
        weft.run(lab.measured(), out=out, inputs={"a": data}, budget={"n": 1})
    data.unlink()
    with pytest.raises(FileInvalid, match="does not exist"):
        weft.run(lab.measured(), out=out, inputs={"a": data}, budget={"n": 1})
    assert (out / "ledger.jsonl").read_bytes() == before
    assert [p.read_bytes() for p in (out / "objects").rglob("*") if p.is_file()] == [b"one"]


# -- folders it refuses -------------------------------------------------------------------


def test_foreign_folder_is_refused_and_unchanged(lab, tmp_path, no_workers):
    out = tmp_path / "thesis"
    out.mkdir()
    (out / "chapter.tex").write_text("long")
    with pytest.raises(RunFolderInvalid, match=r"chapter\.tex"):
        weft.run(lab.empty(), out=out)
    assert [p.name for p in out.iterdir()] == ["chapter.tex"]


@pytest.mark.parametrize("name", ["a\0b", "x" * 300, "file/below"])
def test_impossible_path_is_the_callers_input(lab, tmp_path, no_workers, name):
    (tmp_path / "file").touch()
    with pytest.raises(RunFolderInvalid, match="cannot be a run folder"):
        weft.run(lab.empty(), out=tmp_path / name)


def test_disk_full_at_the_start_is_named(lab, tmp_path, no_workers, monkeypatch):
    def full(self, folder):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("weft.storage.disk.Disk.make_folder", full)
    with pytest.raises(StorageFailed, match=r"No space left on device; free some space"):
        weft.run(lab.empty(), out=tmp_path / "out")


def test_disk_full_later_names_the_way_on(lab, tmp_path, no_workers, monkeypatch):
    def full(self, fd, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("weft.storage.disk.Disk.append", full)
        with pytest.raises(StorageFailed, match=r"No space .*weft resume"):
            weft.run(lab.empty(), out=tmp_path / "out")
    assert weft.run(lab.empty(), out=tmp_path / "out").answer == 1


def test_manifest_with_a_broken_page_is_damage_not_a_traceback(lab, tmp_path, no_workers):
    out = tmp_path / "out"
    inputs = {f"i{i:04}": b"%d" % i for i in range(600)}
    options = {"out": out, "inputs": inputs, "budget": {"n": 1}}
    with pytest.raises(Interrupted):
        weft.run(lab.measured(), wall_limit_s=0, **options)
    path = out / "manifest.sqlite"
    data = bytearray(path.read_bytes())
    for page in range(12, len(data) // 4096):
        data[page * 4096 : page * 4096 + 300] = b"\x07" * 300
    path.write_bytes(data)
    with pytest.raises(ManifestDamaged, match=r"manifest\.sqlite"):
        weft.run(lab.measured(), **options)


def test_manifest_locked_is_a_failed_disk_with_the_way_on(lab, tmp_path, no_workers, monkeypatch):
    import sqlite3

    def locked(*_, **__):
        raise sqlite3.OperationalError("database is locked")

    monkeypatch.setattr(run_module, "create_run", locked)
    with pytest.raises(StorageFailed, match=r"manifest\.sqlite: database is locked; .*weft resume"):
        weft.run(lab.empty(), out=tmp_path / "out")


def test_locked_run_is_refused_with_the_holder(lab, tmp_path, no_workers):
    out = tmp_path / "out"
    out.mkdir()
    with (
        RunFolder(out).locked("somewhere"),
        pytest.raises(RunLocked, match=f"pid {os.getpid()} on somewhere"),
    ):
        weft.run(lab.empty(), out=out)


def test_run_outside_the_main_thread_leaves_signals_alone(lab, tmp_path, no_workers):
    answers = []
    thread = threading.Thread(
        target=lambda: answers.append(weft.run(lab.empty(), out=tmp_path / "out").answer)
    )
    thread.start()
    thread.join()
    assert answers == [1]


def test_signed_run_has_a_signature_over_its_checkpoint(lab, tmp_path, no_workers):
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = tmp_path / "key.pem"
    pem = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    key.write_bytes(pem)
    key.chmod(0o600)
    weft.run(lab.empty(), out=tmp_path / "out", sign_key=key)
    text = (tmp_path / "out" / "checkpoint").read_text()
    assert (tmp_path / "out" / "checkpoint.sig").read_text().startswith(text)


# -- arguments that are too large -----------------------------------------------------------------

LARGE = """
import resource, sys
import weft
import LAB as lab

before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
text = "x" * 100_000_000
try:
    weft.run(lab.SEARCH, out="out", workers=1)
except weft.errors.SearchInvalid as error:
    print(error)
spent = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(spent // 1024)
"""


@pytest.mark.parametrize(
    ("search", "words"),
    [
        ("weigh(size=100_000_000)", "task 0 of round 0 (lane /), LAB:length: value at $.text:"),
        ("empty(text)", "arguments of search LAB:empty: value at $.answer:"),
    ],
)
def test_argument_of_100_mb_is_refused_at_no_great_cost(lab, tmp_path, search, words):
    """Formerly it was stored four times, in 528 MB; it may cost little more than its own size."""
    name = lab.__name__
    script = LARGE.replace("SEARCH", search).replace("LAB", name)
    env = {**os.environ, "PYTHONPATH": str(Path(lab.__file__).parent)}
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    message, spent_mib = result.stdout.splitlines()
    assert message.startswith(words.replace("LAB", name))
    assert "100,000,000 characters, the limit for arguments is" in message
    assert int(spent_mib) < 260
