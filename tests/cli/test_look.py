"""Commands that inspect a run: their output, their JSON, their exit codes."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.cli.conftest import SMALL, Weft, interrupt, tree
from tests.inspect.runs import make_writable, put_checkpoint, put_ledger, read_lines, rewritten
from tests.inspect.signed import private_pem, public_pem
from tests.support.forked import ForkServer

MIXED = """\
import weft
from small import fail, keep, square

@weft.search(version=1)
def mixed(count: int = 4):
    first = yield [square(i) for i in range(count)] + [fail(1), keep(3)]
    rest = yield weft.round([square(i) for i in range(9)], until=lambda r: r.value == 4)
    return [r.value for r in first if r.ok and r.args.get('x')], len(rest)
"""


@pytest.fixture(scope="module")
def made(forks: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished run that has failed tasks and objects."""
    base = tmp_path_factory.mktemp("look")
    (base / "small.py").write_text(SMALL)
    (base / "mixed.py").write_text(MIXED)
    code, _, stderr = forks.run(["run", "mixed:mixed", "--out", "r"], base, os.environ)
    assert code == 0, stderr
    return base


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    """A private copy of that folder."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path / "r"


def records(run: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (run / "ledger.jsonl").read_bytes().splitlines()]


def key_of(run: Path, kind: str) -> str:
    return str(next(r["key"] for r in records(run) if r["kind"] == kind))


def test_status_tells_counts_and_head(weft: Weft, run: Path) -> None:
    result = weft("status", "r")
    assert result.code == 0, result
    assert "finished" in result.out
    head = json.loads(weft("verify", "r", "--json").out)["root"]
    assert result.out.splitlines()[-1] == f"head    {len(records(run))} {head}"


def test_status_json_and_events(weft: Weft, run: Path) -> None:
    body = weft("status", "r", "--json").json
    assert body["state"] == "finished"
    assert body["counts"]["failed"] == 1
    assert body["events"] == []
    events = weft("status", "r", "--events", "--json").json["events"]
    assert {e["kind"] for e in events} >= {"queued", "started", "completed", "failed"}
    lines = weft("status", "r", "--events").out.splitlines()
    assert sum("completed" in line for line in lines) >= 5


def test_verify_agrees_and_changes_nothing(weft: Weft, run: Path) -> None:
    before = tree(run)
    result = weft("verify", "r", "--json")
    assert (result.code, result.json["status"]) == (0, "finished")
    assert result.json["failed"] == 1
    assert weft("verify", "r").out.splitlines()[-1].startswith("head ")
    assert tree(run) == before


def test_verify_against_a_checkpoint(weft: Weft, run: Path, tmp_path: Path) -> None:
    shutil.copy(run / "checkpoint", tmp_path / "kept")
    assert weft("verify", "r", "--against", "kept").code == 0
    other = weft("run", "mixed:mixed", "--args", '{"count": 5}', "--out", "other")
    assert other.code == 0
    weft("verify", "other", "--against", "kept").check_one_line(5)
    weft("verify", "r", "--against", "missing").check_one_line(3, "missing")


def test_verify_damaged_ledger_exits_5(weft: Weft, run: Path) -> None:
    ledger = run / "ledger.jsonl"
    ledger.chmod(0o644)
    data = bytearray(ledger.read_bytes())
    data[len(data) // 2] ^= 1
    ledger.write_bytes(data)
    weft("verify", "r").check_one_line(5, "record")


def test_verify_signature(weft: Weft, tmp_path: Path) -> None:
    for name in ("ours", "theirs"):
        key = Ed25519PrivateKey.generate()
        (tmp_path / f"{name}.pem").write_bytes(private_pem(key))
        (tmp_path / f"{name}.pub").write_bytes(public_pem(key))
    weft("run", "small:squares", "--out", "r", "--sign-key", "ours.pem")
    assert weft("verify", "r", "--public-key", "ours.pub").code == 0
    weft("verify", "r", "--public-key", "theirs.pub").check_one_line(5, "not signed: ", "this key")
    (tmp_path / "r" / "checkpoint.sig").unlink()
    weft("verify", "r", "--public-key", "ours.pub").check_one_line(5, "not signed: ")
    assert weft("verify", "r").code == 0
    result = weft("resume", "r", "--sign-key", "ours.pem")
    assert result.code == 0, result
    assert weft("verify", "r", "--public-key", "ours.pub").code == 0
    ledger = (tmp_path / "r" / "ledger.jsonl").read_bytes()
    forge(tmp_path / "r")
    for words in (["verify", "r", "--public-key", "ours.pub"], ["verify", "r"], ["resume", "r"],
                  ["resume", "r", "--accept", "rollback", "--sign-key", "ours.pem"]):  # fmt: skip
        weft(*words).check_one_line(5, "checkpoint.sig")
    assert (tmp_path / "r" / "ledger.jsonl").read_bytes() != ledger


def forge(run: Path) -> None:
    """The attack: change a result, drop the answer, rebuild chain and checkpoint, no manifest."""
    lines = rewritten(read_lines(run), 2, lambda body: body.update(value=99))[:-1]
    put_ledger(run, b"".join(lines))
    put_checkpoint(run, lines)
    make_writable(run)
    (run / "manifest.sqlite").unlink()


def test_verify_of_an_interrupted_run_has_its_word_and_code(weft: Weft, tmp_path: Path) -> None:
    key = Ed25519PrivateKey.generate()
    (tmp_path / "key.pem").write_bytes(private_pem(key))
    (tmp_path / "key.pub").write_bytes(public_pem(key))
    interrupt(weft, tmp_path, "--sign-key", "key.pem")
    result = weft("verify", "r")
    assert (result.code, result.out.splitlines()[0]) == (130, "status  interrupted")
    as_json = weft("verify", "r", "--json")
    assert (as_json.code, as_json.json["status"]) == (130, "interrupted")
    size = as_json.json["size"]
    signed = f"signed to {size} of {size}: the run is not finished"
    weft("verify", "r", "--public-key", "key.pub").check_one_line(5, signed)
    assert weft("resume", "r").code == 0
    result = weft("verify", "r", "--public-key", "key.pub")
    result.check_one_line(5, f"signed to {size} of ", "not signed")
    assert weft("verify", "r").code == 0
    assert weft("resume", "r", "--sign-key", "key.pem").code == 0
    assert weft("verify", "r", "--public-key", "key.pub").code == 0


def test_replay_is_equal(weft: Weft, run: Path) -> None:
    before = tree(run)
    result = weft("replay", "r", "--workers", "2", "--json")
    assert result.code == 0, result
    assert result.json["equal"] is True
    assert result.json["recorded_head"] == result.json["replayed_head"]
    assert "equal" in weft("replay", "r").out
    assert tree(run) == before


def test_replay_of_a_task_that_answers_otherwise_names_the_record(
    weft: Weft, run: Path, tmp_path: Path
) -> None:
    file = tmp_path / "small.py"
    file.write_text(file.read_text().replace("return x * x", "return x * x + (x == 2)"))
    result = weft("replay", "r", "--path", ".", "--json")
    assert result.code == 1, result
    assert result.json["difference"]["seq"] == 3
    assert result.json["code_changed"] == ["small"]


def test_replay_unfinished_run_is_refused(weft: Weft, tmp_path: Path) -> None:
    interrupt(weft, tmp_path)
    weft("replay", "r").check_one_line(3, "is not finished", "weft resume r")


def test_diff_equal_and_different(weft: Weft, run: Path) -> None:
    weft("run", "mixed:mixed", "--out", "again", "--workers", "2")
    same = weft("diff", "r", "again")
    assert (same.code, same.out) == (0, "equal   the ledgers are the same, byte for byte\n")
    weft("run", "mixed:mixed", "--seed", "4", "--out", "other")
    result = weft("diff", "r", "other", "--json")
    assert result.code == 1
    assert result.json["equal"] is False
    assert "seed" in result.json["difference"]["what"]
    assert "seed" in weft("diff", "r", "other").out


def test_prove_then_check_without_the_run(weft: Weft, run: Path, tmp_path: Path) -> None:
    proof = weft("prove", "r", key_of(run, "result"))
    assert proof.code == 0, proof
    (tmp_path / "p.json").write_text(proof.out)
    shutil.rmtree(run)
    assert weft("prove", "--check", "p.json").code == 0
    assert weft("prove", "--check", "p.json", "--json").json["holds"] is True
    broken = json.loads(proof.out)
    broken["line"] = broken["line"].replace('"index":0', '"index":1')
    (tmp_path / "p.json").write_text(json.dumps(broken))
    weft("prove", "--check", "p.json").check_one_line(5)


def test_prove_consistency_then_check(weft: Weft, run: Path, tmp_path: Path) -> None:
    proof = weft("prove", "r", "--consistency", "3")
    (tmp_path / "p.json").write_text(proof.out)
    assert weft("prove", "--check", "p.json").code == 0


@pytest.mark.parametrize(
    "words",
    [
        ["prove"],
        ["prove", "r"],
        ["prove", "r", "abc", "--consistency", "3"],
        ["prove", "r", "--check", "p.json"],
    ],
)
def test_prove_asked_wrongly_is_a_usage_error(weft: Weft, words: list[str]) -> None:
    weft(*words).check_one_line(2, "weft prove")


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"schema_version": 1}', "[" * 50_000],
    ids=["empty", "list", "object", "version alone", "deep"],
)
def test_prove_check_of_no_proof_is_refused(weft: Weft, tmp_path: Path, text: str) -> None:
    (tmp_path / "p.json").write_text(text)
    weft("prove", "--check", "p.json").check_one_line(3, "proof" if text[:1] == "{" else "p.json")


def test_explain_tells_a_failed_task(weft: Weft, run: Path) -> None:
    result = weft("explain", "r", ":0:4")
    assert result.code == 0, result
    assert "ValueError: no 1" in result.out
    body = weft("explain", "r", ":0:4", "--json").json
    assert (body["state"], body["function"]) == ("failed", "small:fail")
    report = weft("explain", "r", body["key"][:12], "--json").json
    assert report["key"] == body["key"]
    explanation = weft("explain", "r", ":0:2")
    assert "seen = 2" in explanation.out


@pytest.mark.parametrize("key", ["", "zz", "0" * 64, "f" * 65, ":9:0", ":0:99", "a\nb", "\u202e"])
def test_explain_key_that_names_no_task_is_refused(weft: Weft, run: Path, key: str) -> None:
    weft("explain", "r", key).check_one_line(3)


@pytest.mark.parametrize(
    "words",
    [["status"], ["verify"], ["explain", ":0:0"], ["prove", "ab"], ["diff", "r"]],
)
@pytest.mark.parametrize("folder", ["missing", ".", "small.py", "x" * 300, "loop"])
def test_reader_of_no_run_is_refused(
    weft: Weft, tmp_path: Path, words: list[str], folder: str
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    command, *rest = words
    weft(command, folder, *rest).check_one_line(3)
