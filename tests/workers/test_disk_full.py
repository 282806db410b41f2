"""F9: file systems that fill up while commands work. A shortage is a loss, never a failure.

Each test has a real small file system. After space is added and the run is resumed, the head is
that of a run which always had enough.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import ForkedCommands, Told
from tests.support.smallfs import resize, small_file_system
from tests.workers.lab import rows

PLENTY = "size=200m,nr_inodes=100000"
MEGABYTE = "head -c 1000000 /dev/zero"
BIG_RESULT = f"{MEGABYTE} > result.bin && printf '%s' \"$0\" >> result.bin"  # each result differs


def big_jobs(count: int) -> list[dict[str, Any]]:
    """Jobs whose result is a file of 1 MB in the attempt's own folder."""
    return [shell(f"job-{i:02}", BIG_RESULT, f"{i:04}", result="file") for i in range(count)]


def shell(job_id: str, line: str, *words: str, **more: Any) -> dict[str, Any]:
    job = {"job_id": job_id, "argv": ["sh", "-c", line, *words], "gpu": 0, "timeout_s": 60}
    if more.get("result") == "file":
        more |= {"cwd": "{out_dir}", "expected_output": "result.bin", "format": "bytes"}
    return {**job, **more}


run_apart = ForkedCommands("weft.searches.jobs.request")
"""Its process starts with the first command."""


@pytest.fixture(scope="module", autouse=True)
def end_of_commands() -> Iterator[None]:
    yield
    run_apart.close()


def start(folder: Path, jobs: list[dict[str, Any]], out: Path, workers: int = 4) -> Told:
    (folder / "jobs.json").write_text(json.dumps(jobs), "utf-8")
    return run_apart(folder, "jobs", "run", "jobs.json", "--out", out, "--workers", workers, "-q")


def resume(folder: Path, out: Path) -> Told:
    return run_apart(folder, "resume", out, "-q")


def head(out: Path) -> str:
    return hashlib.sha256((out / "ledger.jsonl").read_bytes()).hexdigest()


def check_short(told: Told, out: Path, *words: str) -> None:
    """Check that the run stopped with exit code 75 and one line, and recorded no failure."""
    told.check_one_line(75, str(out), "short of", "weft resume", *words)
    assert b'"error":{' not in (out / "ledger.jsonl").read_bytes()


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    with small_file_system(tmp_path / "small", "size=10m,nr_inodes=4000") as folder:
        yield folder


def test_24_jobs_of_1_mb_on_10_mb_stop_with_75_and_resume_to_the_same_head(
    tmp_path: Path, small: Path
) -> None:
    out, jobs = small / "run", big_jobs(24)
    check_short(start(tmp_path, jobs, out), out)
    check_short(resume(tmp_path, out), out)  # still full: nothing gets worse
    resize(small, PLENTY)
    result = resume(tmp_path, out)
    assert result.code == 0, result
    assert start(tmp_path, jobs, tmp_path / "roomy").code == 0
    assert head(out) == head(tmp_path / "roomy")
    assert run_apart(tmp_path, "verify", out).code == 0
    states = rows(out, "SELECT state, count(*) FROM tasks GROUP BY 1")
    assert states == [("completed", 24)]
    assert {outcome for (outcome,) in rows(out, "SELECT outcome FROM attempts")} == {"requeued"}


def test_disk_that_was_full_for_an_instant_is_a_shortage(tmp_path: Path, small: Path) -> None:
    """Too brief for a sample of the free space: only the command's own output reports it."""
    line = "head -c 20000000 /dev/zero > x; code=$?; rm x; exit $code"
    jobs = [shell(f"job-{i}", line, cwd="{out_dir}") for i in range(8)]
    check_short(start(tmp_path, jobs, small / "run", workers=1), small / "run")


def test_shortage_is_noted_in_the_manifest_although_nothing_was_left(
    tmp_path: Path, small: Path
) -> None:
    """The run's own reserve provides the space for its last commit."""
    out = small / "run"
    fill = f"cat /dev/zero > {small}/filler"
    check_short(start(tmp_path, [shell("fill", fill)], out), out, str(small))
    reasons = live_rows(out, "SELECT outcome, reason FROM attempts")
    assert [outcome for outcome, _ in reasons] == ["requeued"]
    assert "short of space" in reasons[0][1]
    assert live_rows(out, "SELECT kind FROM events WHERE kind='interrupted'")
    assert not (out / ".reserve").exists()


def live_rows(out: Path, sql: str) -> list[tuple[Any, ...]]:
    """Read a manifest that still has its write-ahead log."""
    with contextlib.closing(
        sqlite3.connect(f"file:{out / 'manifest.sqlite'}?mode=ro", uri=True)
    ) as db:
        return db.execute(sql).fetchall()


def test_too_few_inodes_are_a_shortage(tmp_path: Path) -> None:
    with small_file_system(tmp_path / "few", "size=100m,nr_inodes=300") as few:
        out = few / "run"
        line = "for i in $(seq 400); do : > {out_dir}/$i || exit 1; done; echo '{}'"
        jobs = [shell("many", line), shell("also", "echo '[1]'")]
        check_short(start(tmp_path, jobs, out), out, "inodes")
        resize(few, PLENTY)
        assert resume(tmp_path, out).code == 0
    assert start(tmp_path, jobs, tmp_path / "roomy").code == 0


LEAVES_ROOM = {
    "partial file removed": "cat /dev/zero > x 2> /dev/null; sleep 0.3; rm x; exit 1",
    "only its words say so": "echo 'cp: No space left on device' >&2; exit 1",
    "quota in its words": "echo 'write: Disk quota exceeded' >&2; exit 1",
    "partial file stays": "cat /dev/zero > x 2> /dev/null; exit 1",
    "killed by its limit": "cat /dev/zero > x 2> /dev/null; sleep 60",
    "exit 0 with a cut output": "cat /dev/zero > x 2> /dev/null; sleep 0.3; rm x; echo '[0]'",
}


@pytest.mark.parametrize("how", LEAVES_ROOM)
def test_command_that_ran_out_of_room_where_it_works_is_lost(
    tmp_path: Path, small: Path, how: str
) -> None:
    """The run itself has space; the folder in which its command works has none."""
    line = f"cd {small}; if test -e ok; then echo '[1]'; else {LEAVES_ROOM[how]}; fi"
    node = {"hostname": "localhost", "gpu_count": 0, "cpu_count": 1, "script_path": str(small)}
    (tmp_path / "nodes.json").write_text(json.dumps({"nodes": [node]}), "utf-8")
    limit = {"timeout_s": 2} if "limit" in how else {}
    (tmp_path / "jobs.json").write_text(json.dumps([shell("a", line, **limit)]), "utf-8")
    out = tmp_path / "run"
    words = ("jobs", "run", "jobs.json", "--nodes", "nodes.json", "--out", out, "-q")
    check_short(run_apart(tmp_path, *words), out)
    (small / "x").unlink(missing_ok=True)
    (small / "ok").touch()
    result = resume(tmp_path, out)
    assert result.code == 0, result


def test_command_that_fails_with_room_left_is_recorded(tmp_path: Path, small: Path) -> None:
    out = small / "run"
    result = start(tmp_path, [shell("a", "exit 3"), shell("b", "echo '[1]'")], out)
    assert result.code == 4, result
    assert rows(out, "SELECT state FROM tasks ORDER BY id") == [("failed",), ("completed",)]


def test_run_on_a_full_disk_is_refused_before_any_command_starts(
    tmp_path: Path, small: Path
) -> None:
    out = small / "run"
    with (small / "filler").open("wb") as file:
        file.write(bytes(9_500_000))
    result = start(tmp_path, [shell("a", f"touch {tmp_path}/started; echo '[1]'")], out)
    result.check_one_line(75, str(out), "short of space", "weft resume")
    assert not (tmp_path / "started").exists()
    (small / "filler").unlink()
    assert resume(tmp_path, out).code == 0
