"""A result of 100 MB is checked, hashed and stored in pieces, by worker and coordinator alike."""

from __future__ import annotations

import contextlib
import hashlib
import re
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tests.searches.jobs.conftest import Shop, shell
from tests.searches.jobs.test_runs import completed
from tests.support.commands import COMMAND

pytestmark = pytest.mark.xdist_group("jobs")
SIZE = 100_000_000
GROWTH_BYTES = 40 * 2**20
WRITE = """
import sys
row = '"' + "x" * 990 + '", 12345,\\n'
end = '{"last": [1.5, null, true]}]'
out = open(sys.argv[1], "w") if len(sys.argv) > 1 else sys.stdout
between = "" if out is sys.stdout else "\\n"
row = row.replace("\\n", between or " ")
out.write("[")
for _ in range(100_000_000 // len(row)):
    out.write(row)
out.write(end.rjust(100_000_000 - 1 - 100_000_000 // len(row) * len(row)))
if out is sys.stdout:
    print()
"""


def most_bytes(process: psutil.Process) -> int:
    """The peak memory of a process in bytes (VmHWM)."""
    text = Path(f"/proc/{process.pid}/status").read_text()
    match = re.search(r"VmHWM:\s+(\d+) kB", text)
    return int(match[1]) * 1024 if match else 0


def test_result_of_100_mb_is_stored_without_loading_it(shop: Shop) -> None:
    (shop.folder / "write.py").write_text(WRITE)
    hold = shop.folder / "hold"
    hold.touch()
    big = {"script": "write.py", "gpu": 0, "timeout_s": 120}
    shop.write(
        [
            shell("warm", "echo '[]'"),
            shell("wait", f"while [ -e {hold} ]; do sleep 0.02; done; echo '[]'"),
            {"job_id": "file", "args": ["big.json"], "expected_output": "big.json", **big},
            {"job_id": "line", **big},
        ]
    )
    words = [*COMMAND, "jobs", "run", "jobs.json", "--out", "run", "-q", "--workers", "1"]
    coordinator = psutil.Popen(words, cwd=shop.folder, stdout=subprocess.DEVNULL)
    while completed(shop.folder / "run") < 1:
        time.sleep(0.01)
    worker = next(p for p in coordinator.children() if "weft.worker" in p.cmdline())
    before = {p: most_bytes(p) for p in (coordinator, worker)}
    after = dict(before)
    hold.unlink()
    while coordinator.poll() is None:
        with contextlib.suppress(FileNotFoundError):
            after = {process: max(most, most_bytes(process)) for process, most in after.items()}
        time.sleep(0.005)
    grown = {p.pid: after[p] - before[p] for p in before}
    took = [job.run_s for job in shop.seen("run")][2:]
    shop.figures("100 MB results", coordinator_grew_mb=round(grown[coordinator.pid] / 1e6, 1),
                 worker_grew_mb=round(grown[worker.pid] / 1e6, 1), seconds=took)  # fmt: skip
    assert coordinator.wait() == 0
    assert all(growth < GROWTH_BYTES for growth in grown.values())
    check_stored(shop)


def check_stored(shop: Shop) -> None:
    by_id = {job.job_id: job for job in shop.seen("run")}
    assert (by_id["file"].source, by_id["line"].source) == ("file", "stdout")
    for job in (by_id["file"], by_id["line"]):
        assert job.size_bytes == SIZE
        assert job.digest is not None
        stored = shop.folder / "run" / "objects" / job.digest[:2] / job.digest[2:]
        with stored.open("rb") as file:
            assert hashlib.file_digest(file, "sha256").hexdigest() == job.digest
    assert (shop.folder / "big.json").stat().st_size == SIZE
    assert shop.weft("verify", "run").code == 0
