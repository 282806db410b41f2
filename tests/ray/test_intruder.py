"""Other users of a node get nothing; a node or the head that dies costs attempts.

One cluster of `weft nodes up` for the file, on two hosts whose homes everybody may enter; in the
end, its head is dead, and `down` leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.ray.hosts import Hosts, entry, hosts_in
from tests.ray.intruder import NOBODY
from tests.ray.test_faults import is_gone, wait_for
from tests.ray.test_nodes import (
    SIMULATED,
    Desk,
    check_nothing_is_left,
    check_same_ledger,
    files_below,
    write_scripts,
)
from tests.support.commands import COMMAND
from tests.support.tools import require_root, require_tool
from tests.support.waiting import HANG_S

NAMES = ("rig1", "rig2")
INTRUDER = Path(__file__).parent / "intruder.py"
UNLISTED = (  # Ray has no Python description of these
    "/ray.rpc.ObjectManagerService/Push",
    "/ray.rpc.ObjectManagerService/Pull",
    "/ray.rpc.ObjectManagerService/FreeObjects",
    "/ray.rpc.syncer.RaySyncer/StartSync",
)
JOB = "touch begun-$1; while [ -e hold ] && [ $1 = 1 ]; do sleep 0.1; done; echo '[\"'$1'\"]'"


@pytest.fixture(scope="module")
def up() -> Iterator[Desk]:
    """A desk whose cluster of two hosts is running."""
    require_tool("ssh")
    os.environ["PATH"] += ":/usr/sbin"
    require_tool("sshd")
    folders = [Path(tempfile.mkdtemp(prefix=f"w{kind}", dir="/tmp")) for kind in "hdw"]
    try:
        for folder in folders:
            folder.chmod(0o755)
        with hosts_in(folders[0]) as hosts:
            yield from _desk(hosts, *folders[1:])
    finally:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)


def _desk(hosts: Hosts, home: Path, folder: Path) -> Iterator[Desk]:
    for name in NAMES:
        hosts.start(name)
    desk = Desk(hosts, home, folder)
    write_scripts(desk, *NAMES)
    allowed = [str(folder)]  # its jobs work in the desk's own folder on every host
    usual = {"cpu_count": 1, "allow_paths": allowed, "script_path": "~/scripts"}
    desk.write(*(entry(name, gpus, **usual) for name, gpus in zip(NAMES, (2, 12), strict=True)))
    before = [files_below(hosts.home(name)) for name in NAMES]
    try:
        started = desk.nodes("up")
        assert started.code == 0, started.err
        yield desk
    finally:
        ended = desk.nodes("down")
    assert (ended.code, ended.err) == (0, "")
    assert [files_below(hosts.home(name)) for name in NAMES] == before
    check_nothing_is_left(desk)


def checked(desk: Desk) -> Any:
    """The report of `weft nodes check`, by node name and for the head."""
    answer = desk.nodes("check", "--json").json
    return {report["node"]: report for report in [*answer["nodes"], answer["head"]]}


def processes_of(*homes: Path) -> list[psutil.Process]:
    """Processes of clusters below the homes; some of Ray's overwrite their environment."""
    by_pid: dict[int, psutil.Process] = {}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            folder = process.environ().get("RAY_TMPDIR", "")
            if any(folder.startswith(f"{home}/") for home in homes):
                below = process.children(recursive=True)
                by_pid |= {each.pid: each for each in (process, *below)}
    return list(by_pid.values())


def server(home: Path, name: str) -> psutil.Process:
    """The only process with this name below a home."""
    [process] = [process for process in processes_of(home) if process.name() == name]
    return process


def listening(pids: set[int]) -> list[tuple[str, int]]:
    """Addresses and ports on which the processes listen, according to `ss`."""
    result = subprocess.run(
        [require_tool("ss"), "-Hltnp"], capture_output=True, text=True, check=True
    ).stdout
    ports = []
    for line in result.splitlines():
        address, _, port = line.split()[3].rpartition(":")
        if pids & {int(pid) for pid in re.findall(r"pid=(\d+)", line)}:
            ports.append((address.strip("[]").removeprefix("::ffff:"), int(port)))
    return sorted(ports)


def reachable(ports: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The ports with an address to connect to."""
    return [("127.0.0.1" if address in ("*", "::") else address, port) for address, port in ports]


def methods() -> list[str]:
    """Every method of every Ray service."""
    from ray.core import generated

    names = list(UNLISTED)
    for module in pkgutil.iter_modules(generated.__path__):
        if module.name.endswith("_pb2"):
            described = importlib.import_module(f"{generated.__name__}.{module.name}").DESCRIPTOR
            for service in described.services_by_name.values():
                names += [f"/{service.full_name}/{method.name}" for method in service.methods]
    return sorted(names)


def intrude(paths: list[Path], ports: list[tuple[str, int]], **more: Any) -> Any:
    """What a process of user `nobody` gets."""
    targets = {"paths": [str(path) for path in paths], "ports": ports, "token": "", **more}
    result = subprocess.run(
        [sys.executable, str(INTRUDER)],
        input=json.dumps({"methods": [], **targets}),
        capture_output=True,
        text=True,
        check=True,
    )
    report = json.loads(result.stdout)
    assert report["user"] == NOBODY
    return report


def everything_below(*folders: Path) -> list[Path]:
    return [path for folder in folders for path in (folder, *folder.rglob("*"))]


def test_check_lists_every_port_that_ss_sees(up: Desk) -> None:
    reports = checked(up)
    homes = {"head": up.home, **{name: up.hosts.home(name) for name in NAMES}}
    for name, home in homes.items():
        pids = {process.pid for process in processes_of(home)}
        open_ports = [port for _, port in listening(pids)]
        reported = [int(port.split()[0].rpartition(":")[2]) for port in reports[name]["ports"]]
        assert open_ports
        assert sorted(reported) == sorted(open_ports), name
        names = {port.split()[1] for port in reports[name]["ports"]}
        assert names <= {"gcs_server", "raylet", "ray::RuntimeEnvAgent", "ray::IDLE"}


def test_another_user_reads_writes_and_runs_nothing(up: Desk) -> None:
    require_root()
    homes = [up.home / ".weft", *(up.hosts.home(name) / ".weft" for name in NAMES)]
    paths = everything_below(*homes)
    assert any(path.stat().st_mode & 0o777 == 0o777 for path in paths if path.is_dir()), (
        "Ray opens its folder no more"
    )
    processes = processes_of(up.home, *(up.hosts.home(name) for name in NAMES))
    paths += [Path(f"/proc/{process.pid}/environ") for process in processes]
    ports = reachable(listening({process.pid for process in processes}))
    report = intrude(paths, ports, methods=methods())
    assert report["opened"] == []
    assert report["answered"] == []
    assert not [process for process in processes if is_gone(process)]


def test_intruder_with_the_token_gets_answers(up: Desk) -> None:
    """A control: without it, getting no answer would prove nothing."""
    require_root()
    [path] = (up.home / ".weft").glob("*/cluster.json")
    port = listening({server(up.home, "gcs_server").pid})
    called = ["/ray.rpc.NodeInfoGcsService/GetAllNodeInfo"]
    token = json.loads(path.read_text())["token"]
    report = intrude([up.folder], reachable(port), methods=called, token=token)
    assert len(report["answered"]) == 1
    assert report["opened"] == [f"reads {up.folder}"]


def test_jobs_on_the_nodes_give_the_ledger_of_jobs_here(up: Desk) -> None:
    check_same_ledger(up, "jobs", ("jobs", "run", "jobs.json"), SIMULATED)


def test_up_starts_a_dead_node_again_and_leaves_the_others_alone(up: Desk) -> None:
    dead, alive = (server(up.hosts.home(name), "raylet") for name in NAMES)
    dead.kill()
    assert wait_for(lambda: is_gone(dead), 30)
    result = up.nodes("check")
    assert result.code == 1
    assert "problem node rig1: Ray does not run there, though the cluster is up; weft" in result.out
    assert "ok      rig2: " in result.out
    assert "ok      head: " in result.out
    repaired = up.nodes("up")
    assert repaired.code == 0, repaired.err
    assert server(up.hosts.home("rig2"), "raylet") == alive
    assert up.nodes("check").code == 0
    up.nodes("up").check_one_line(75, "is already up, and every node is alive")


def test_loss_of_the_head_ends_a_run_with_75_and_resume_gives_the_same_ledger(
    up: Desk, chaos: bool
) -> None:
    """The recovery, `up` and resume on the nodes, takes a minute: under `make chaos` only."""
    jobs = [{"job_id": f"j{i}", "argv": ["sh", "-c", JOB, "x", str(i)], "cwd": str(up.folder)}
            for i in range(4)]  # fmt: skip
    (up.folder / "held.json").write_text(json.dumps([{**job, "gpu": 0} for job in jobs]))
    assert up.weft("jobs", "run", "held.json", "--out", "here", *SIMULATED, "-q").code == 0
    (up.folder / "hold").touch()
    (up.folder / "begun-1").unlink()
    on_ray = ["--backend", "ray", "--nodes", "nodes.json", "-q"]
    argv = [*COMMAND, "jobs", "run", "held.json", "--out", "lost", *on_ray]
    with subprocess.Popen(
        argv, cwd=up.folder, env=up.environment(), stderr=subprocess.PIPE, text=True
    ) as run:
        try:
            if not wait_for((up.folder / "begun-1").exists, 120):
                run.kill()
                pytest.fail(f"the job did not start: {run.communicate()[1]}")
            server(up.home, "gcs_server").kill()
            _, message = run.communicate(timeout=HANG_S)
        finally:
            run.kill()
    assert (run.returncode, message.count("\n")) == (75, 1), message
    assert message.startswith("weft: the head of the Ray cluster at ")
    assert "weft nodes up" in message
    (up.folder / "hold").unlink()
    check = up.nodes("check")
    assert check.code == 1
    assert "problem the head of Ray on this machine is gone; weft nodes up nodes.json" in check.out
    assert up.weft("verify", "lost").out.startswith("status  interrupted")
    if not chaos:
        return
    assert up.nodes("up").code == 0
    result = up.weft("resume", "lost", *on_ray)
    assert result.code == 0, result.err
    assert up.ledger("lost") == up.ledger("here")


# -- without a cluster --------------------------------------------------------------------------


def test_local_ray_listens_on_the_loopback_and_opens_nothing(tmp_path: Path) -> None:
    """While a job of a run with `--ray-address local` runs, with a temporary /tmp."""
    require_root()
    shared = Path(tempfile.mkdtemp(prefix="wl", dir="/tmp"))
    shared.chmod(0o1777)
    (tmp_path / "hold").touch()
    line = "touch begun; while [ -e hold ]; do sleep 0.1; done; echo '[1]'"
    job = {"job_id": "a", "argv": ["sh", "-c", line], "cwd": str(tmp_path), "gpu": 0}
    (tmp_path / "jobs.json").write_text(json.dumps([job]))
    (tmp_path / "nodes.json").write_text(json.dumps({"nodes": [entry("localhost", cpu_count=1)]}))
    words = ["jobs", "run", "jobs.json", "--nodes", "nodes.json", "--out", "x", "-q"]
    ours = {n: v for n, v in os.environ.items() if not n.startswith(("RAY_", "WEFT_"))}
    run = subprocess.Popen(
        [*COMMAND, *words, "--backend", "ray", "--ray-address", "local"],
        cwd=tmp_path,
        env={**ours, "TMPDIR": str(shared), "HOME": str(tmp_path)},
        stdout=subprocess.DEVNULL,
    )
    try:
        assert wait_for(lambda: (tmp_path / "begun").exists() or run.poll() is not None, 120)
        processes = [psutil.Process(run.pid), *psutil.Process(run.pid).children(recursive=True)]
        ports = listening({process.pid for process in processes})
        assert len(ports) > 3
        assert {address for address, _ in ports} == {"127.0.0.1"}
        [folder] = shared.iterdir()
        environs = [Path(f"/proc/{process.pid}/environ") for process in processes]
        report = intrude([*everything_below(folder), *environs], ports, methods=methods())
        assert (report["opened"], report["answered"]) == ([], [])
        (tmp_path / "hold").unlink()
        assert run.wait(120) == 0
        assert list(shared.iterdir()) == []
        assert not (tmp_path / ".ray").exists()
    finally:
        run.kill()
        run.wait()
        shutil.rmtree(shared, ignore_errors=True)
