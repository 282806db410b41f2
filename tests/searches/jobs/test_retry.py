"""Failed jobs, and only those, run again in a new run."""

from __future__ import annotations

from pathlib import Path

from tests.searches.jobs.conftest import Shop, shell


def count(folder: Path, job: str) -> int:
    return len((folder / job).read_text().split())


def test_retry_of_jobs_runs_only_the_failed_ones(shop: Shop) -> None:
    lines = {
        name: f"echo x >> {shop.folder}/{name}; echo '{{\"job\": 1}}'; {then}"
        for name, then in (("a", "true"), ("b", f"test -e {shop.folder}/fixed"), ("c", "true"))
    }
    shop.write([shell(name, line) for name, line in lines.items()])
    assert shop.run("old", "--workers", "2").code == 4
    (shop.folder / "fixed").touch()
    result = shop.weft("resume", "old", "--retry-failed", "--out", "new")
    assert result.code == 0, result
    assert {name: count(shop.folder, name) for name in lines} == {"a": 1, "b": 2, "c": 1}
    assert [job.status for job in shop.seen("new")] == ["completed"] * 3
    assert shop.weft("verify", "new").code == 0
    assert shop.weft("report", "new").code == 0
    status = shop.weft("status", "new")
    assert status.code == 0
    assert [job.slot is None for job in shop.seen("new")] == [True, False, True]
    assert " + " not in status.out, "jobs that did not run have no node"
    assert shop.weft("resume", "old", "--retry-failed", "--out", "new").code == 0
