"""Jobs on three nodes: never two on a GPU, no idle slots, speed-ups, and always one ledger."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.searches.jobs.conftest import THREE_NODES, Shop, shell, sleeper
from tests.searches.jobs.test_plan import BY_HAND, EIGHT, FOURTEEN, LINES, SIX
from tests.support.commands import COMMAND
from tests.support.waiting import HANG_S
from tests.workers.lab import SLACK_S
from weft.model.slots import Node
from weft.searches.jobs.view import ViewedJob, slot_times, times_of
from weft.storage.manifest import Manifest

pytestmark = pytest.mark.xdist_group("jobs")
ON_NODES = ("--nodes", "nodes.json", "--simulate-nodes")
CAPS = {"localhost": 2, "rig-a": 12, "rig-b": 12}
NODES = tuple(Node(name, gpus=cap) for name, cap in CAPS.items())
SPEED_UPS = {4: 1.3, 20: 3.0, 36: 3.4}
"""The least speed-up for a number of jobs, compared with sequential jobs within each node."""


def rests(count: int, unit_s: float) -> list[dict[str, Any]]:
    """Jobs that sleep for 1 to 3 units."""
    return [sleeper(i, unit_s * (1 + 7 * i % 21 / 10)) for i in range(count)]


def similar(count: int, unit_s: float) -> list[dict[str, Any]]:
    """Jobs that sleep for 1.5 to 2 units, so that their sums are comparable."""
    return [sleeper(i, unit_s * (1.5 + 7 * i % 6 / 10)) for i in range(count)]


def most_at_once(jobs: Sequence[ViewedJob]) -> int:
    """The most jobs that overlap; one that starts when another ends does not overlap it."""
    steps = [(j.finished_at or 0.0, -1) for j in jobs] + [(j.started_at or 0.0, 1) for j in jobs]
    return max(accumulate(step for _, step in sorted(steps)), default=0)


def check_never_too_many(jobs: Sequence[ViewedJob]) -> None:
    by_slot, by_node = defaultdict(list), defaultdict(list)
    for job in jobs:
        by_slot[job.slot].append(job)
        by_node[job.node].append(job)
    assert {slot: most_at_once(part) for slot, part in by_slot.items()} == dict.fromkeys(by_slot, 1)
    for node, part in by_node.items():
        assert most_at_once(part) <= CAPS[str(node)]


def wall_from_ready_s(jobs: Sequence[ViewedJob]) -> float:
    """The time from when every slot has had its first job to the end of the last job."""
    firsts = [slot.jobs[0].started_at or 0.0 for slot in slot_times(jobs)]
    return max(job.finished_at or 0.0 for job in jobs) - max(firsts)


def runtime_s(jobs: Sequence[ViewedJob]) -> float:
    times = times_of(jobs, NODES, 0.0)
    assert times is not None
    return times.runtime_s


def one_by_one_s(jobs: Sequence[ViewedJob]) -> float:
    """The longest sequential time of a node's share when jobs are dealt round-robin."""
    return max(sum(job.seconds or 0.0 for job in jobs[node::3]) for node in range(3))


def check_three_nodes(shop: Shop, unit_s: float) -> dict[str, list[ViewedJob]]:
    """Run 36 jobs, static then greedy, and check their figures; return the jobs by placement."""
    shop.write(rests(36, unit_s), THREE_NODES)
    by_placement, ledgers = {}, set()
    for placement in ("static", "greedy"):
        result = shop.run(placement, *ON_NODES, "--placement", placement)
        assert result.code == 0, result
        jobs = by_placement[placement] = shop.seen(placement)
        check_never_too_many(jobs)
        slots = slot_times(jobs)
        ledgers.add(shop.ledger(placement))
        idle = max(1 - slot.busy_share for slot in slots)
        shop.figures(
            f"36 jobs on 3 nodes, {placement}", sleep_s=f"{unit_s:.1f}-{3 * unit_s:.1f}",
            slots=len(slots), runtime_s=round(runtime_s(jobs), 2),
            from_ready_s=round(wall_from_ready_s(jobs), 2),
            slowest_slot_s=round(busiest_s(jobs), 2), idle_at_most=f"{idle:.1%}",
        )  # fmt: skip
        if placement == "static":
            assert [job.slot for job in jobs] == BY_HAND
            assert result.err.splitlines() == [f"🔀 {line}" for line in LINES]
        else:
            check_greedy_said(result.err, jobs)
        assert "sequential would be" in result.out
        assert "one after the other within each node" in result.out
    assert len(ledgers) == 1
    return by_placement


def busiest_s(jobs: Sequence[ViewedJob]) -> float:
    return max(sum(job.run_s or 0.0 for job in slot.jobs) for slot in slot_times(jobs))


def check_greedy_said(err: str, jobs: Sequence[ViewedJob]) -> None:
    """Check the line before the start, and the distribution at the end."""
    first, *rest = err.splitlines()
    assert first.startswith("🔀 PARALLEL: 36 jobs for 26 GPU slots | greedy")
    assert [line.split(" | ")[0] for line in rest] == [f"🔀 PARALLEL: {node}" for node in CAPS]
    counts = [sum(job.node == node for job in jobs) for node in CAPS]
    assert [line.split(" | ")[2] for line in rest] == [f"{count} jobs" for count in counts]


def test_three_nodes_run_as_planned(shop: Shop) -> None:
    check_three_nodes(shop, 0.1)


@pytest.mark.slow
def test_three_nodes_rest_little_and_greedy_is_no_slower(shop: Shop) -> None:
    """Measures wall time, so it needs an otherwise idle machine."""
    by_placement = check_three_nodes(shop, 1.0)
    for jobs in by_placement.values():
        for slot in slot_times(jobs):
            assert slot.busy_share >= 0.85, slot
    assert wall_from_ready_s(by_placement["static"]) <= 1.15 * busiest_s(by_placement["static"])
    assert runtime_s(by_placement["greedy"]) <= runtime_s(by_placement["static"]) * 1.02


def check_speed_ups(shop: Shop, unit_s: float) -> None:
    for count, expected in SPEED_UPS.items():
        shop.write(similar(count, unit_s), THREE_NODES)
        for placement in ("greedy", "static"):
            out = f"{count}-{placement}"
            result = shop.run(out, *ON_NODES, "--placement", placement, "-q")
            jobs = shop.seen(out)
            up = one_by_one_s(jobs) / runtime_s(jobs)
            shop.figures(f"{count} jobs, {placement}", speed_up_within_nodes=f"{up:.2f}",
                          wanted=expected,
                          line=result.out.splitlines()[-4])  # fmt: skip
            assert "sequential would be" in result.out
            assert up >= expected


@pytest.mark.slow
def test_speed_ups_against_one_after_the_other_within_a_node(shop: Shop) -> None:
    check_speed_ups(shop, 1.0)


def test_twenty_jobs_are_faster_than_one_after_the_other(shop: Shop) -> None:
    shop.write(similar(20, 0.6), THREE_NODES)
    assert shop.run("run", *ON_NODES, "--placement", "greedy", "-q").code == 0
    jobs = shop.seen("run")
    up = one_by_one_s(jobs) / runtime_s(jobs)
    shop.figures("20 jobs, greedy", speed_up_within_nodes=f"{up:.2f}")
    assert most_at_once(jobs) > 1
    assert up > 1  # `make chaos` measures how much more, on an otherwise idle machine


# -- one ledger -----------------------------------------------------------------------------------


RELEASING = 11
"""The number of the job that releases the waiting ones."""


def held(shop: Shop, line: str, by: str = "hold") -> str:
    """A line of shell that waits while a file, `by`, is in the shop's folder."""
    return f"while [ -e {shop.folder / by} ]; do sleep 0.02; done; {line}"


def quick(shop: Shop, count: int) -> list[dict[str, Any]]:
    """Short jobs that end in another order than they start.

    Two of them fail, and the last one can be held. All but the last can be made to wait for job
    `RELEASING`, so that orders differ under any load.
    """
    jobs = [sleeper(i, 0.08 * (i * 11 % 5) / 4) for i in range(count)]
    for i, job in enumerate(jobs):
        job["argv"][-1] = held(shop, job["argv"][-1], f"waits-{i}")
    jobs[RELEASING]["argv"][-1] += f"; rm -f {shop.folder}/waits-*"
    jobs[-1]["argv"] = ["sh", "-c", held(shop, "echo '{\"held\": 1}'")]
    jobs[5]["argv"] = ["sh", "-c", "exit 7"]
    jobs[9]["argv"] = ["sh", "-c", "echo '{cut'"]
    return jobs


def arrivals(run: Path) -> tuple[int, ...]:
    db = sqlite3.connect(f"file:{run / 'manifest.sqlite'}?mode=ro&immutable=1", uri=True)
    try:
        return tuple(row[0] for row in db.execute("SELECT id FROM tasks ORDER BY finished_at"))
    finally:
        db.close()


def completed(run: Path) -> int:
    try:
        db = sqlite3.connect(f"file:{run / 'manifest.sqlite'}?mode=ro", uri=True)
        try:
            sql = "SELECT count(*) FROM tasks WHERE state IN ('completed', 'failed')"
            return int(db.execute(sql).fetchone()[0])
        finally:
            db.close()
    except sqlite3.Error:
        return 0


def kill_after(shop: Shop, words: Sequence[str | Path], run: str, count: int) -> None:
    """Run a command and kill its coordinator once `count` jobs are done."""
    process = subprocess.Popen(
        [*COMMAND, *map(str, words)], cwd=shop.folder,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    end_s = time.monotonic() + HANG_S
    while completed(shop.folder / run) < count:
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < end_s
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


Way = Callable[[Shop, str], int]
"""Runs all jobs into a folder; returns the exit code."""


def with_wait(job: int, way: Way) -> Way:
    """The same way, but with a job that waits for `RELEASING`."""

    def run(shop: Shop, out: str) -> int:
        (shop.folder / f"waits-{job}").touch()
        return way(shop, out)

    return run


def in_shop(*words: str) -> Way:
    return lambda shop, out: shop.run(out, *words, "-q").code


def with_hash_seed(seed: str, placement: str) -> Way:
    words = ("jobs", "run", "jobs.json", *ON_NODES, "--placement", placement, "-q", "--out")
    return lambda shop, out: shop.apart(*words, out, PYTHONHASHSEED=seed).code


def killed_twice(shop: Shop, out: str) -> int:
    """Kill a run, repeat the command, kill it again, and resume it from another folder."""
    words = ["jobs", "run", "jobs.json", "--out", out, *ON_NODES, "-q"]
    (shop.folder / "hold").touch()
    kill_after(shop, words, out, 3)
    kill_after(shop, words, out, 9)
    (shop.folder / "hold").unlink()
    away = shop.folder / "away"
    away.mkdir()
    result = shop.apart("resume", Path("..") / out, cwd=away)
    assert "resumed" in result.out, result
    return result.code


WAYS: dict[str, Way] = {
    "static": with_wait(1, with_hash_seed("0", "static")),
    "greedy": with_wait(4, with_hash_seed("1", "greedy")),
    "one-slot": in_shop("--nodes", "one.json"),
    "killed-twice": with_wait(7, killed_twice),
}
HERE = {**WAYS, "greedy-here": with_wait(1, in_shop(*ON_NODES, "--placement", "greedy"))}
"""Includes one in this process, where a bug can be planted."""


def check_one_ledger(shop: Shop, names: Sequence[str], count: int = 14) -> None:
    shop.write(quick(shop, count), THREE_NODES)
    (shop.folder / "one.json").write_text('{"nodes": [{"hostname": "localhost", "gpu_count": 1}]}')
    assert [HERE[name](shop, name) for name in names] == [4] * len(names)
    ledgers = {name: shop.ledger(name) for name in names}
    orders = {arrivals(shop.folder / name) for name in names}
    shop.figures("one ledger", ways=len(names), jobs=count, orders=len(orders),
                  ledgers=len(set(ledgers.values())), sha256=ledgers[names[0]][:16])  # fmt: skip
    assert len(orders) == len(names), "completions came in the same order: nothing was tested"
    assert len(set(ledgers.values())) == 1, f"another ledger: {ledgers}"


def test_ledger_is_one_for_all_placements_slots_seeds_and_kills(shop: Shop) -> None:
    check_one_ledger(shop, list(WAYS))
    assert {job.slot for job in shop.seen("one-slot")} == {"localhost/gpu0"}
    assert [job.slot for job in shop.seen("static")] == FOURTEEN


def test_recording_in_arrival_order_would_be_noticed(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_job_order = Manifest.recorded

    def in_arrival_order(self: Manifest, first: int, end: int) -> Any:
        sql = "SELECT id, finished_at FROM tasks WHERE id >= ? AND id < ?"
        arrived = dict(self.query(sql, first, end))
        for rows in in_job_order(self, first, end):
            yield sorted(rows, key=lambda row: arrived[row[0]] or 0)

    monkeypatch.setattr(Manifest, "recorded", in_arrival_order)
    with pytest.raises(AssertionError, match="another ledger"):
        check_one_ledger(shop, ["greedy-here", "one-slot"])


# -- resuming -------------------------------------------------------------------------------------


def test_resume_needs_only_the_folder_and_finds_the_scripts(shop: Shop) -> None:
    """Nodes, placement and the scripts' folder come from run.toml, even from another folder."""
    (shop.folder / "s.py").write_text(
        "import sys, time, pathlib\nwhile pathlib.Path(sys.argv[1]).exists():\n"
        "    time.sleep(0.02)\nprint('[1]')\n"
    )
    hold = shop.folder / "hold"
    hold.touch()
    jobs = [{"job_id": f"j{i}", "script": "s.py", "args": [str(hold)]} for i in range(8)]
    shop.write(jobs, THREE_NODES)
    result = shop.run("run", *ON_NODES, "--wall-limit", "0.6", "-q")
    assert result.code == 130, result
    hold.unlink()
    away = shop.folder / "away"
    away.mkdir()
    result = shop.apart("resume", "../run", "--json", cwd=away)
    assert result.code == 0, result
    assert [job.slot for job in shop.seen("run")] == EIGHT
    status = shop.weft("status", "run")
    assert "sequential would be" in status.out
    assert "summary" in shop.weft("status", "run", "--json").json


def test_moved_run_goes_on_with_the_folder_it_is_told(shop: Shop) -> None:
    (shop.folder / "hold").touch()
    shop.write([shell(f"j{i}", held(shop, "pwd > pwd; echo '[1]'")) for i in range(4)])
    assert shop.run("deep/er/run", "--wall-limit", "0.4", "-q").code == 130
    (shop.folder / "hold").unlink()
    (shop.folder / "deep/er/run").rename(shop.folder / "run")
    assert shop.weft("resume", "run", "--workers", "4").code == 0


def test_replay_answers_jobs_from_the_record_or_runs_them_again(shop: Shop) -> None:
    shop.write([sleeper(i, 0.01) for i in range(3)], THREE_NODES)
    assert shop.run("run", *ON_NODES, "-q").code == 0
    for words in ([], ["--commands"], ["--commands", "--backend", "serial"]):
        result = shop.weft("replay", "run", *words)
        assert (result.code, "equal" in result.out) == (0, True), result


def test_workers_of_a_node_start_apart_with_a_stagger(shop: Shop) -> None:
    shop.write([sleeper(i, 0.05) for i in range(6)], THREE_NODES)
    assert shop.run("run", *ON_NODES, "--stagger", "0.3", "-q").code == 0
    db = sqlite3.connect(f"file:{shop.folder / 'run/manifest.sqlite'}?mode=ro", uri=True)
    starts = db.execute("SELECT DISTINCT node, worker_started FROM tasks ORDER BY 1, 2").fetchall()
    db.close()
    assert len(starts) == 6
    apart = [b - a for (m, a), (n, b) in pairwise(starts) if m == n]
    assert len(apart) == 4
    assert min(apart) > 0.27
    assert max(apart) < 0.6 + SLACK_S
    assert [job.slot for job in shop.seen("run")] == SIX
    assert all(job.attempt == 1 for job in shop.seen("run"))


def test_mixed_jobs_use_gpus_and_cpus_of_every_node(shop: Shop) -> None:
    jobs = [job for i in range(6) for job in (sleeper(i, 0.01), shell(f"cpu-{i}", "echo []"))]
    shop.write(jobs, THREE_NODES)
    assert shop.run("run", *ON_NODES, "-q").code == 0
    slots = [job.slot for job in shop.seen("run")]
    assert slots[0::2] == SIX
    assert slots[1::2] == [name.replace("gpu", "cpu") for name in SIX]
