"""Nodes, actors and coordinators are really killed; the ledger does not show it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

import weft
from tests.ray.conftest import RayCluster
from tests.ray.test_conformance import setup_in
from tests.ray.test_runs import on_ray  # noqa: F401 - a fixture
from tests.searches.jobs.conftest import Shop, shell
from tests.support.waiting import HANG_S
from tests.workers.lab import SLACK_S
from weft.backends.process import assignment_row
from weft.inspect.status import status
from weft.model.attempts import BackendEvent, Finished, GivenBack, Lost, Started
from weft.model.slots import Node, slots_of
from weft.testing import conformance, tasks

if TYPE_CHECKING:
    from weft.backends.raybackend import RayBackend

GONE_S = 60.0


def wait_for(what: Callable[[], object], seconds: float) -> bool:
    """Whether a condition becomes true in time."""
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        if what():
            return True
        time.sleep(0.05)
    return bool(what())


def is_gone(process: psutil.Process) -> bool:
    """Whether it has ended, even if nobody has reaped it."""
    with contextlib.suppress(psutil.Error):
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    return True


def carrying(marker: str) -> list[int]:
    """Pids of living processes with the marker in their command line or environment."""
    pids = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            words = [*process.cmdline(), *process.environ().values()]
            if process.status() != psutil.STATUS_ZOMBIE and any(marker in word for word in words):
                pids.append(process.pid)
    return pids


def is_loss_of_node(reason: str) -> bool:
    """Whether an attempt was lost with its node: its actor may still report the worker's end."""
    return reason == "slot-lost" or reason.startswith("worker-killed-")


@contextlib.contextmanager
def meanwhile(what: Callable[[], None]) -> Iterator[None]:
    """Run a function beside the block."""
    thread = threading.Thread(target=what)
    thread.start()
    yield
    thread.join()


def test_node_killed_mid_run_costs_attempts_never_results(
    cluster: RayCluster,
    on_ray: tuple[str, ...],  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shop = Shop(tmp_path, capsys)
    pid_folder = tmp_path / "seen"
    pid_folder.mkdir()
    slow = tmp_path / "slow"  # while this exists, job 1, which rig-b gets, does not end
    wait = f"while [ $1 = 1 ] && [ -e {slow} ]; do sleep 0.1; done"
    line = f"echo $$ > {pid_folder}/$WEFT_ATTEMPT-$1; {wait}; echo '[\"'$1'\"]'"
    jobs = [shell(f"j{i}", line) | {"gpu": 1} for i in range(12)]
    for i, job in enumerate(jobs):
        job["argv"] += ["x", str(i)]
    shop.write(jobs)
    serial = shop.run("serial", "--nodes", "nodes.toml", "--simulate-nodes", "-q")
    assert serial.code == 0, serial.err
    for path in pid_folder.iterdir():
        path.unlink()
    slow.touch()
    begin_file = pid_folder / "1-1"

    def is_known_to_run() -> bool:
        """Whether the coordinator has noticed: the others have ended, job 1 has begun."""
        counts = status(tmp_path / "ray").counts
        return counts["running"] == 1 and counts["completed"] >= 8

    def strike() -> None:
        assert wait_for(
            lambda: begin_file.exists() and begin_file.read_text().strip() != "", HANG_S
        )
        assert wait_for(is_known_to_run, HANG_S)
        cluster.kill("rig-b")
        pid = int(begin_file.read_text())
        assert wait_for(lambda: not psutil.pid_exists(pid), HANG_S), "the job outlived its node"
        slow.unlink()

    with meanwhile(strike):
        result = shop.run("ray", *on_ray, "--placement", "static", "-q")
    cluster.add("rig-b")
    assert result.code == 0, result.err
    assert shop.ledger("ray") == shop.ledger("serial")
    state = status(tmp_path / "ray", events=True)
    assert state.counts["completed"] == 12
    kinds = [event.kind for event in state.events]
    assert "node-lost" in kinds
    assert any(is_loss_of_node(event.detail) for event in state.events if event.kind == "requeued")
    assert [(loss.what, loss.name, loss.back_at) for loss in state.losses] == [
        ("node", "rig-b", None)
    ]
    assert "node rig-b is lost" in shop.weft("status", "ray").out
    assert shop.weft("report", "ray").code == 0
    assert "node rig-b is lost" in (tmp_path / "ray" / "report.html").read_text()
    assert shop.weft("verify", "ray").code == 0


def test_hung_job_and_its_descendants_are_gone_after_its_limit(
    on_ray: tuple[str, ...],  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shop, marker = Shop(tmp_path, capsys), f"hang-{os.getpid()}"
    line = f"trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep 900; : {marker}' & sleep 900"
    shop.write([shell("hangs", line, timeout_s=0.5)])
    result = shop.run("ray", *on_ray, "--json", "-q")
    assert result.code == 4
    [job] = result.json["jobs"]
    assert job["error"]["type"] == "timeout"
    assert job["seconds"] < 0.5 + 5 + SLACK_S
    assert carrying(marker) == []


def test_coordinator_killed_leaves_nothing_and_resumes_to_the_same_ledger(
    on_ray: tuple[str, ...],  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shop, marker = Shop(tmp_path, capsys), f"orphan-{os.getpid()}"
    (tmp_path / "hold").touch()
    inner = f"while [ -e hold ]; do sleep 0.05; done; : {marker}"
    line = f"setsid sh -c '{inner}' & echo x > seen; wait; echo '[1]'"
    shop.write([shell(f"j{i}", f"cd {tmp_path}; {line}") for i in range(2)])
    argv = [sys.executable, "-m", "weft.main", "jobs", "run", "jobs.json", "--out", "ray"]
    coordinator = subprocess.Popen([*argv, *on_ray, "-q"], cwd=tmp_path)
    assert wait_for((tmp_path / "seen").exists, HANG_S)
    assert carrying(marker)
    coordinator.send_signal(signal.SIGKILL)
    coordinator.wait()
    assert wait_for(lambda: not carrying(marker), GONE_S)
    (tmp_path / "hold").unlink()
    result = shop.weft("resume", "ray", "-q")
    assert result.code == 0, result.err
    serial = shop.run("serial", "--nodes", "nodes.toml", "--simulate-nodes", "-q")
    assert serial.code == 0
    assert shop.ledger("ray") == shop.ledger("serial")


@pytest.mark.slow
def test_node_lost_takes_its_slots_along_and_brings_them_back(
    cluster: RayCluster, tmp_path: Path
) -> None:
    from weft.backends.raybackend import RayBackend
    from weft.backends.raycluster import Cluster
    from weft.backends.raynode import NodeSpec

    setup, nodes = setup_in(tmp_path), [Node("rig-a", cpus=1), Node("rig-c", cpus=2)]
    specs = [NodeSpec(n.name, "back", 7, setup.marks.all, ()) for n in nodes]
    backend = RayBackend(setup, slots_of(nodes), Cluster(specs, ()), tuple)
    happened: list[str] = []

    def told(kind: str) -> bool:
        happened.extend(f"{e.kind} {e.detail}" for e in backend.poll(0.1))
        return f"{kind} rig-c" in happened

    try:
        assert backend.capacity() == [1, 1, 1]
        cluster.kill("rig-c")
        assert wait_for(lambda: told("node-lost"), 30)
        assert backend.capacity() == [1, -1, -1]
        cluster.add("rig-c")
        assert wait_for(lambda: told("node-returned"), 30)
        assert backend.capacity() == [1, 1, 1]
        backend.submit([replace(conformance._assignment(1, tasks.echo(5)), slot=2)])
        end = until(backend, Finished, 1)
        assert isinstance(end, Finished)
    finally:
        backend.close()
    assert happened == ["node-lost rig-c", "node-returned rig-c"]


# -- leases ---------------------------------------------------------------------------------


@pytest.fixture
def backend(cluster: RayCluster, tmp_path: Path) -> Iterator[RayBackend]:
    from weft.backends.raybackend import RayBackend
    from weft.backends.raycluster import Cluster
    from weft.backends.raynode import NodeSpec

    setup = setup_in(tmp_path)
    spec = NodeSpec("rig-a", "lease", conformance.RUN_SEED, setup.marks.all, ())
    ray_backend = RayBackend(setup, slots_of([Node("rig-a", cpus=1)]), Cluster([spec], ()), tuple)
    yield ray_backend
    ray_backend.close()


def until(backend: RayBackend, kind: type[BackendEvent], ticket: int) -> BackendEvent:
    """Poll until an attempt reaches this event; resubmit it if it is given back."""
    end_s = time.monotonic() + HANG_S
    while time.monotonic() < end_s:
        polled = backend.poll(0.1)
        for event in (single for block in polled for single in conformance._each(block)):
            if event.ticket == ticket and isinstance(event, kind):
                return event
            if event.ticket == ticket and isinstance(event, GivenBack):
                backend.submit([conformance._assignment(ticket, tasks.echo(5))])
    raise AssertionError(f"no {kind.__name__} of {ticket}")


def test_lease_given_up_has_no_late_result_and_no_late_process(backend: RayBackend) -> None:
    """The actor is stopped, so it can neither answer nor kill; the slot goes to another one."""
    import ray

    call = tasks.nap(3600.0)
    backend.submit([conformance._assignment(1, call)])
    started = until(backend, Started, 1)
    assert isinstance(started, Started)
    old = backend._lessors[backend._places[0].slot]
    actor, epoch = old.actor, old.numbers[-1]
    worker = psutil.Process(started.worker.pid)
    host = worker.parent()
    assert host is not None
    host.suspend()
    backend.cancel([1])
    deadline_s = time.monotonic() + HANG_S
    while max(backend.capacity()) < 1 or backend._places[0].worker is not None:
        assert backend.poll(0.1) == []
        assert time.monotonic() < deadline_s
    backend.submit([conformance._assignment(2, tasks.echo(5))])
    end = until(backend, Finished, 2)
    assert isinstance(end, Finished)
    assert end.value == "5"
    assert is_gone(worker)
    assert backend._lessors[backend._places[0].slot].actor is not actor
    assert epoch < backend._lessors[backend._places[0].slot].numbers[-1]
    with pytest.raises(ray.exceptions.RayError):
        ray.get(actor.pull.remote(epoch), timeout=5)


def test_late_call_of_an_older_epoch_has_no_effect(backend: RayBackend) -> None:
    import ray

    backend.submit([conformance._assignment(1, tasks.kill_self(int(signal.SIGKILL)))])
    assert isinstance(until(backend, Lost, 1), Lost)
    backend.submit([conformance._assignment(2, tasks.nap(1.0))])
    until(backend, Started, 2)
    lessor = backend._lessors[backend._places[0].slot]
    old, new = lessor.numbers
    row = conformance._assignment(3, tasks.kill_self(int(signal.SIGKILL)))
    ray.get(lessor.actor.push.remote(old, 0, [["run", [assignment_row(row)]]]))
    ray.get(lessor.actor.end.remote(old))
    assert ray.get(lessor.actor.pull.remote(old)).ended is not None
    assert old < new
    assert isinstance(until(backend, Finished, 2), Finished)


def test_process_that_outlived_its_actor_is_gone_before_the_slot_is_used_again(
    backend: RayBackend, tmp_path: Path
) -> None:
    """Actor, worker and supervisor are killed at once; the mark identifies what they started."""
    marker = f"late-{os.getpid()}"
    line = f"setsid sleep 900 & echo $! > {tmp_path}/pid; sleep 900; : {marker}"
    call = weft.command(["sh", "-c", line], timeout_s=900)
    backend.submit([conformance._assignment(1, call)])
    started = until(backend, Started, 1)
    assert isinstance(started, Started)
    assert wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), 30)
    orphan = psutil.Process(int((tmp_path / "pid").read_text()))
    worker = psutil.Process(started.worker.pid)
    host, below = (
        worker.parent(),
        [p for p in worker.children() if "supervisor" in str(p.cmdline())],
    )
    assert host is not None
    for process in [host, worker, *below]:
        process.suspend()
    for process in [host, worker, *below]:
        process.kill()
    assert isinstance(until(backend, Lost, 1), Lost)
    backend.submit([conformance._assignment(2, tasks.echo(5))])
    until(backend, Finished, 2)
    assert is_gone(orphan)


def test_object_damaged_on_its_way_is_a_loss_not_a_result(
    backend: RayBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    from weft.backends import raylink

    real = raylink.RayWorker._ask

    def flip(answer: object) -> object:
        real_answer = real(answer)
        return (
            b"X" + real_answer[1:]
            if isinstance(real_answer, bytes) and real_answer
            else real_answer
        )

    monkeypatch.setattr(raylink.RayWorker, "_ask", staticmethod(flip))
    backend.submit([conformance._assignment(1, tasks.stored("some bytes"))])
    end = until(backend, Lost, 1)
    assert isinstance(end, Lost)
    assert end.reason == "object-damaged"
