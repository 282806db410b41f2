"""F5: one ledger, whatever the workers, their slots, the hash seed and the order of arrival."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.faults.case import Case, Search
from tests.support.checker import Reference
from tests.support.engine import loom
from tests.support.waiting import wait_until
from tests.workers.lab import SEARCHES, Lab, arrival_order, ledger_digest, print_figures
from weft.storage.manifest import Manifest
from weft.testing import simulator

ARGS = {"size": 40, "lazy_size": 60, "pause_ms": 4}
DECISION: dict[str, Any] = {
    "seed": 7,
    "retries": simulator.POLICY.retries,
    "timeout_s": simulator.POLICY.timeout_s,
}
"""The simulator's decision; any other seed or limit is a different run."""
NODES = (weft.Node("a", gpus=0, cpus=2), weft.Node("b", cpus=3, max_concurrent=2))
HERE: dict[str, dict[str, Any]] = {
    "serial": {"backend": "serial"},
    **{f"{n} workers": {"workers": n} for n in (1, 2, 3, 8)},
    "static": {"workers": 3, "placement": "static"},
    "nodes": {"workers": 8, "nodes": NODES},
    "nodes static": {"workers": 8, "nodes": NODES, "placement": "static"},
}
HASH_SEEDS = ("0", "1")


def run_here(out: Path, how: dict[str, Any]) -> None:
    weft.run(loom(**ARGS), out=out, **DECISION, **how)


def run_apart(out: Path, hash_seed: str) -> None:
    """Run the coordinator and its workers in a process with a given hash seed."""
    how = json.dumps({**DECISION, "out": str(out), "workers": 2})
    driver = Path(__file__).with_name("driver.py")
    subprocess.run(
        [sys.executable, driver, "loom:loom", json.dumps(ARGS), how],
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
    )


def ways() -> dict[str, Callable[[Path], None]]:
    here = {name: lambda out, how=how: run_here(out, how) for name, how in HERE.items()}
    apart = {f"hash seed {s}": lambda out, s=s: run_apart(out, s) for s in HASH_SEEDS}
    return here | apart


def check_parity(folder: Path, chosen: dict[str, Callable[[Path], None]]) -> None:
    """Run the same search in each way: different orders of arrival, one ledger."""
    reference, _ = simulator.reference(loom(**ARGS))
    digests, orders = {}, {}
    for name, run in chosen.items():
        out = folder / name.replace(" ", "-")
        run(out)
        digests[name], orders[name] = ledger_digest(out), arrival_order(out)
    differing = len(set(orders.values()))
    print_figures("F5 parity", runs=len(chosen), tasks=len(orders["serial"]), orders=differing,
                  ledgers=len({*digests.values(), reference}), sha256=reference[:16])  # fmt: skip
    assert len({frozenset(order) for order in orders.values()}) == 1, "not the same tasks"
    assert differing > len(chosen) // 2, "the orders of arrival hardly differed: nothing was tested"
    wrong = [name for name, digest in digests.items() if digest != reference]
    assert wrong == [], f"another ledger than the simulator's: {wrong}"


def test_same_ledger_for_all_workers_placements_and_hash_seeds(lab: Lab) -> None:
    check_parity(lab.folder, ways())
    assert lab.leftovers() == []


def test_recording_in_arrival_order_is_noticed(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    in_task_order = Manifest.recorded

    def in_arrival_order(self: Manifest, first: int, end: int) -> Any:
        sql = "SELECT id, finished_at FROM tasks WHERE id >= ? AND id < ?"
        arrived = dict(self.query(sql, first, end))
        for rows in in_task_order(self, first, end):
            yield sorted(rows, key=lambda row: arrived[row[0]] or 0)

    simulator.reference(loom(**ARGS))  # before the bug is planted
    monkeypatch.setattr(Manifest, "recorded", in_arrival_order)
    few = {name: way for name, way in ways().items() if name in ("serial", "3 workers", "nodes")}
    with pytest.raises(AssertionError, match="another ledger"):
        check_parity(lab.folder, few)


STREAM = {"count": 60, "width": 6, "ms": 2}


def run_stream(out: Path, hash_seed: str, **how: Any) -> None:
    subprocess.run(
        [sys.executable, Path(__file__).with_name("driver.py"), "trials:ascent", json.dumps(STREAM),
         json.dumps({"seed": 7, "out": str(out), **how})],
        check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": hash_seed},
    )  # fmt: skip


def test_stream_same_ledger_for_all_workers_and_hash_seeds_and_after_a_kill(lab: Lab) -> None:
    ways: dict[str, dict[str, Any]] = {
        "serial": {"backend": "serial"}, **{f"{n}": {"workers": n} for n in (1, 2, 8)}
    }  # fmt: skip
    digests, orders = {}, {}
    for number, (name, how) in enumerate(ways.items()):
        out = lab.folder / name
        run_stream(out, HASH_SEEDS[number % 2], **how)
        digests[name], orders[name] = ledger_digest(out), arrival_order(out)
    search = Search("ascent", f"{SEARCHES / 'trials.py'}:ascent", {**STREAM, "ms": 20})
    calm, case = Case(lab.folder / "calm", search), Case(lab.folder / "killed", search)
    assert calm.run().returncode == 0
    with case.start() as process:
        wait_until(lambda: case.count_executed() >= 20, "a stream in its middle")
        process.kill()
        case.end_of(process)
    assert case.run().returncode == 0
    print_figures("F5 stream", runs=6, orders=len(set(orders.values())),
                  ledgers=len(set(digests.values())))  # fmt: skip
    assert len(set(orders.values())) > 1, "the orders of arrival did not differ"
    assert len(set(digests.values())) == 1
    assert Reference.of(case.out) == Reference.of(calm.out)
    assert case.leftovers() == []
