"""Failed tasks run again in a new run; other results are reused, and the old run is unchanged."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import weft
from tests.support.waiting import HANG_S, wait_until
from weft.errors import InputError, LedgerDamaged, ObjectDamaged, RunFolderInvalid, RunMismatch
from weft.inspect.diff import diff
from weft.inspect.explain import explain
from weft.inspect.replay import replay
from weft.inspect.verify import verify
from weft.model.values import canonical
from weft.runs.execution import ExecutionChanges
from weft.runs.prior import PriorResults
from weft.runs.resume import resume
from weft.runs.retry import retry_failed
from weft.runs.run import unnoted_place
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.objects import ObjectStore

SEARCH = """
import os, time

@weft.task
def work(x: int, place: str, *, seed: int) -> dict:
    with open(os.path.join(place, "ran"), "a") as file:
        file.write(f"{x}\\n")
    if x % 5 == 3 and not os.path.exists(os.path.join(place, "fixed")):
        raise ValueError("broken")
    return {"y": x * x, "data": weft.put(f"{x} {seed}".encode())}

@weft.task
def score(y: int, place: str) -> int:
    while os.path.exists(os.path.join(place, f"hold-{y}")):
        open(os.path.join(place, "entered"), "w").close()
        time.sleep(0.01)
    with open(os.path.join(place, "scored"), "a") as file:
        file.write(f"{y}\\n")
    return -y

def branch(start, place):
    results = yield [work(x, place) for x in range(start, start + 10)]
    good = [r.value["y"] for r in results if r.ok]
    scores = yield weft.lazy(len(good), lambda i: score(good[i], place))
    return sum(r.value for r in scores)

@weft.search(version=1)
def grow(place: str, lanes: int = 2):
    answers = yield weft.lanes({f"l{n}": branch(100 * n, place) for n in range(lanes)})
    return answers
"""


def heads():
    return unnoted_place().heads


def digest(run: Path) -> str:
    return hashlib.sha256((run / "ledger.jsonl").read_bytes()).hexdigest()


def genesis_of(run: Path) -> dict:
    return json.loads((run / "ledger.jsonl").read_text().splitlines()[0])["body"]


def snapshot(run: Path) -> dict[str, tuple[str, int]]:
    files = [path for path in sorted(run.rglob("*")) if path.is_file()]
    return {
        str(path.relative_to(run)): (
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_mtime_ns,
        )
        for path in files
    }


def ran(place: Path, name: str = "ran") -> list[int]:
    file = place / name
    return sorted(int(line) for line in file.read_text().split()) if file.exists() else []


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "place").mkdir()
    return tmp_path / "place"


@pytest.fixture
def failed_run(tmp_path: Path, modules, place: Path) -> Path:
    """A finished run in which tasks 3 and 8 of each lane failed; the cause has since been fixed."""
    module = modules.write(SEARCH)
    weft.run(module.grow(str(place)), out=tmp_path / "old", workers=2, seed=5)
    (place / "fixed").touch()
    (place / "ran").unlink()
    (place / "scored").unlink()
    return tmp_path / "old"


def test_retry_runs_only_what_failed_and_what_follows_from_it(
    tmp_path: Path, failed_run: Path, place: Path
) -> None:
    before = snapshot(failed_run)
    retried = retry_failed(failed_run, tmp_path / "new")
    assert ran(place) == [3, 8, 103, 108]
    # the search now asks for ten scores instead of eight: the first three are the same
    assert ran(place, "scored") == sorted(
        x * x for n in (0, 100) for x in range(n, n + 10) if x % 10 >= 3
    )
    assert (retried.completed, retried.failed) == (40, 0)
    assert retried.answer == [-sum(x * x for x in range(n, n + 10)) for n in (0, 100)]
    assert snapshot(failed_run) == before


def test_retry_genesis_names_old_head_and_keys_and_ordinary_genesis_has_no_new_field(
    tmp_path: Path, failed_run: Path
) -> None:
    result = retry_failed(failed_run, tmp_path / "new")
    old_lines = (failed_run / "ledger.jsonl").read_text().splitlines()
    old_genesis, genesis = (genesis_of(run) for run in (failed_run, result.out))
    failed = [json.loads(line)["key"] for line in old_lines if '"error":{' in line]
    retry = genesis.pop("retry")
    assert "retry" not in old_genesis
    assert genesis == old_genesis
    assert retry["keys"] == failed
    assert len(failed) == retry["failed"] == 4
    assert f"{retry['size']}\n" in (failed_run / "checkpoint").read_text()
    assert retry["code_changed"] == []


def test_retried_ledger_is_one_for_any_workers_and_needs_no_old_run_after_a_kill(
    tmp_path: Path, failed_run: Path, place: Path
) -> None:
    digests = {}
    for workers in (1, 2, 8):
        out = tmp_path / f"new-{workers}"
        retry_failed(failed_run, out, ExecutionChanges(workers=workers))
        digests[f"{workers} workers"] = digest(out)
    for hash_seed in ("0", "1"):
        out = tmp_path / f"seed-{hash_seed}"
        finish(start(failed_run, out, hash_seed))
        digests[f"hash seed {hash_seed}"] = digest(out)
    out = tmp_path / "killed"
    hold = place / f"hold-{103 * 103}"
    hold.touch()
    with start(failed_run, out, "0") as process:
        try:
            wait_until((place / "entered").exists, "the held task")
        finally:
            process.send_signal(signal.SIGKILL)
    hold.unlink()
    failed_run.rename(tmp_path / "away")
    resume(out)
    digests["killed and resumed"] = digest(out)
    assert len(set(digests.values())) == 1, digests
    assert verify(out, heads()).status == "finished"


def start(run: Path, out: Path, hash_seed: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "weft", "resume", run, "--retry-failed", "--out", out]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.Popen(
        [*command, "--workers", "2"], env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )  # fmt: skip


def finish(process: subprocess.Popen[bytes]) -> None:
    output, _ = process.communicate(timeout=HANG_S)
    assert process.returncode == 0, output.decode()


def test_verify_and_explain_of_a_retry_name_what_was_reused(
    tmp_path: Path, failed_run: Path
) -> None:
    result = retry_failed(failed_run, tmp_path / "new")
    shutil.rmtree(failed_run)
    verdict = verify(result.out, heads())
    [note] = [note for note in verdict.notes if note.startswith("retry ")]
    assert "4 failed tasks run again" in note
    assert "22 of 40 results reused" in note
    assert "reused" in explain(result.out, "/l0:0:0").why
    assert "reused" not in explain(result.out, "/l0:0:3").why


def test_verify_refuses_a_retry_whose_copy_of_the_old_ledger_is_gone(
    tmp_path: Path, failed_run: Path
) -> None:
    result = retry_failed(failed_run, tmp_path / "new")
    genesis = genesis_of(result.out)
    copy = ObjectStore(result.out / "objects", Disk()).path(genesis["retry"]["ledger"])
    assert hashlib.sha256(copy.read_bytes()).hexdigest() == digest(failed_run)
    copy.unlink()
    with pytest.raises(ObjectDamaged):
        verify(result.out, heads())


def test_retry_of_a_retry_runs_what_failed_again(
    tmp_path: Path, failed_run: Path, place: Path
) -> None:
    (place / "fixed").unlink()
    second = retry_failed(failed_run, tmp_path / "second")
    assert second.failed == 4
    assert second.exit_code == 0  # this search tolerates failures
    (place / "fixed").touch()
    (place / "ran").unlink()
    third = retry_failed(second.out, tmp_path / "third")
    assert third.failed == 0
    assert ran(place) == [3, 8, 103, 108]
    shutil.rmtree(failed_run)
    shutil.rmtree(second.out)
    assert verify(third.out, heads()).status == "finished"
    assert replay(third.out).equal


def test_same_retry_again_answers_at_once(tmp_path: Path, failed_run: Path, place: Path) -> None:
    first = retry_failed(failed_run, tmp_path / "new")
    (place / "ran").unlink()
    second = retry_failed(failed_run, tmp_path / "new")
    assert second.head == first.head
    assert ran(place) == []
    module = sys.modules[first.search.partition(":")[0]]
    with pytest.raises(RunMismatch, match="retry"):
        weft.run(module.grow(str(place)), out=tmp_path / "new", seed=5)


def test_retry_after_a_fix_of_the_code_records_that_it_changed(
    tmp_path: Path, modules, place: Path
) -> None:
    source = SEARCH.replace("x % 5 == 3 and not", "x % 5 == 3 or not").replace(
        'os.path.exists(os.path.join(place, "fixed"))', "True"
    )
    module = modules.write(source, name="fixable")
    old = weft.run(module.grow(str(place), lanes=1), out=tmp_path / "old", workers=2)
    assert old.failed == 2
    (modules.path / "fixable.py").write_text("import weft\n" + source.replace("raise", "str and"))
    out = tmp_path / "new"
    command = [sys.executable, "-m", "weft", "resume", old.out, "--retry-failed", "--out", out]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "fixable" in result.stderr
    genesis = genesis_of(out)
    assert genesis["retry"]["code_changed"] == ["fixable"]
    sources = [RunFolder(run).read_run_file().sources["fixable"] for run in (old.out, out)]
    assert sources[0] != sources[1]
    assert any("source of fixable" in note for note in verify(out, heads()).notes)


def test_retry_is_refused_where_it_makes_no_sense_and_writes_nothing(
    tmp_path: Path, modules, failed_run: Path, place: Path
) -> None:
    out = tmp_path / "new"
    fine = retry_failed(failed_run, tmp_path / "fine")
    with pytest.raises(InputError, match="none of its tasks failed"):
        retry_failed(fine.out, out)
    with pytest.raises(RunFolderInvalid, match="is the run itself"):
        retry_failed(failed_run, failed_run)
    (failed_run / "checkpoint").chmod(0o644)
    (failed_run / "checkpoint").unlink()
    with pytest.raises(RunFolderInvalid, match="not finished"):
        retry_failed(failed_run, out)
    assert not out.exists()


def test_retry_of_a_damaged_run_is_refused(tmp_path: Path, failed_run: Path) -> None:
    ledger = failed_run / "ledger.jsonl"
    ledger.chmod(0o644)
    ledger.write_bytes(ledger.read_bytes().replace(b'"y":1}', b'"y":2}', 1))
    with pytest.raises(LedgerDamaged, match="does not match its checkpoint"):
        retry_failed(failed_run, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_diff_of_old_and_new_run_names_the_retry(tmp_path: Path, failed_run: Path) -> None:
    result = retry_failed(failed_run, tmp_path / "new")
    difference = diff(failed_run, result.out)
    assert difference is not None
    assert "retry" in difference.what


def test_values_by_place_are_those_that_parsing_finds(failed_run: Path) -> None:
    records = [json.loads(line) for line in (failed_run / "ledger.jsonl").read_text().splitlines()]
    results = [record["body"] for record in records if record["kind"] == "result"]
    with (failed_run / "ledger.jsonl").open("rb") as file:
        prior = PriorResults(file)
        for body in results:
            task = (body["lane"], body["round"], body["index"], body["function"])
            args = canonical(body["args"])
            expected = canonical(body["value"]) if "value" in body else None
            assert prior.value(*task, args) == expected
            assert prior.value(*task, args.replace('"place"', '"other"')) is None
            assert prior.value(*task[:3], "m:other", args) is None
        assert prior.value("/l0", 0, 10, "m:f", "{}") is None
        assert prior.value("/l9", 0, 0, "m:f", "{}") is None


def test_ledger_that_ends_inside_a_round_is_not_reused(failed_run: Path) -> None:
    lines = (failed_run / "ledger.jsonl").read_bytes().splitlines(keepends=True)
    with pytest.raises(LedgerDamaged, match="inside a round"):
        PriorResults(io.BytesIO(b"".join(lines[:4])))
