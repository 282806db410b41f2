"""Workers forked from a preloaded process satisfy the contract; without one, they start alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from tests.backends.test_conformance import name
from tests.backends.test_conformance import setup as plain_setup  # noqa: F401 - a fixture
from tests.support.waiting import wait_until
from weft.backends.forkserver import ForkServer
from weft.backends.local import LocalBackend
from weft.backends.process import WorkerProcess, WorkerSetup
from weft.model.slots import local_nodes, slots_of
from weft.testing import conformance

PRELOAD = "gc:collect"


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    server = ForkServer.loading(PRELOAD, dict(os.environ))
    yield server
    server.close()


@pytest.mark.parametrize("check", conformance.CHECKS + conformance.PROCESS_CHECKS, ids=name)
def test_forked_workers_keep_the_contract(check, server, plain_setup):  # noqa: F811
    setup = replace(plain_setup, fork_server=server)
    check(lambda: LocalBackend(setup, slots_of(local_nodes(2)), 256))


def test_forked_worker_is_a_child_in_its_own_session(server, plain_setup):  # noqa: F811
    setup = replace(plain_setup, fork_server=server)
    with started(setup) as worker:
        process = psutil.Process(worker.identity.pid)
        assert process.ppid() == os.getpid()
        wait_until(lambda: os.getsid(process.pid) == process.pid, "its own session")
        assert "weft.worker.forkserver" in process.cmdline()
        worker.kill()
        assert worker.wait() == -signal.SIGKILL


@pytest.mark.parametrize("preload", ["weft.absent:load", "os:abort"])
def test_server_that_cannot_load_is_done_without(preload, plain_setup):  # noqa: F811
    server = ForkServer.loading(preload, dict(os.environ))
    try:
        with started(replace(plain_setup, fork_server=server)) as worker:
            process = psutil.Process(worker.identity.pid)
            wait_until(lambda: "weft.worker" in process.cmdline(), "a worker of its own")
            assert "weft.worker.forkserver" not in process.cmdline()
    finally:
        server.close()


SERVERS = [f"ForkServer.loading({PRELOAD!r}, dict(os.environ))", "ForkServer.copying()"]


@pytest.mark.parametrize("server", SERVERS, ids=["loading", "copying"])
def test_killed_coordinator_takes_server_and_workers_with_it(server: str) -> None:
    code = f"""
import os, socket, sys
from weft.backends.forkserver import ForkServer
server = {server}
ours, theirs = socket.socketpair()
with open(os.devnull, "wb") as log:
    words = [str(theirs.fileno()), str(os.getpid())]
    worker = server.start(words, dict(os.environ), log.fileno(), [theirs.fileno()])
print(worker.pid, server._process.pid, flush=True)
sys.stdin.read()
"""
    words = [sys.executable, "-c", code]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as coordinator:
        assert coordinator.stdout is not None
        pids = [int(word) for word in coordinator.stdout.readline().split()]
        assert len(pids) == 2
        coordinator.kill()
    wait_until(lambda: not any(map(psutil.pid_exists, pids)), "the end of what it started")


COPYING = """
import os, sys
from pathlib import Path
from weft.backends.forkserver import ForkServer
from weft.backends.local import LocalBackend
from weft.backends.orphans import Marks
from weft.backends.process import WorkerSetup
from weft.model.slots import local_nodes, slots_of
from weft.testing import conformance

print("printed by the coordinator")
server, place = ForkServer.copying(), Path(sys.argv[1])
setup = WorkerSetup(
    conformance.RUN_SEED, place / "objects", place / "objects" / "staging", place / "logs",
    place / "attempts", list(sys.path), dict(os.environ), Marks.of(str(place)), fork_server=server,
)
for check in conformance.CHECKS + conformance.PROCESS_CHECKS:
    check(lambda: LocalBackend(setup, slots_of(local_nodes(2)), 256))
assert server._channel.fileno() >= 0, "it is asked until it fails"
server.close()
"""


def test_workers_of_a_copied_coordinator_keep_the_contract(tmp_path: Path) -> None:
    words = [sys.executable, "-c", COPYING, str(tmp_path)]
    result = subprocess.run(words, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, "printed by the coordinator\n"), result.stderr
    assert not any(b"by the coordinator" in log.read_bytes() for log in tmp_path.rglob("*.log"))


def test_copied_coordinator_names_its_workers(tmp_path: Path) -> None:
    code = f"""
import os, socket, sys
from pathlib import Path
from weft.backends.forkserver import ForkServer
server = ForkServer.copying()
ours, theirs = socket.socketpair()
with open({str(tmp_path / "log")!r}, "wb") as log:
    words = [str(theirs.fileno()), str(os.getpid())]
    worker = server.start(words, dict(os.environ), log.fileno(), [theirs.fileno()])
print(Path(f"/proc/{{worker.pid}}/comm").read_text().strip())
worker.kill()
worker.wait()
server.close()
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "weft.worker\n"


@pytest.mark.parametrize(
    "busy",
    [
        "import numpy",
        "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()",
    ],
)
def test_process_with_threads_is_not_copied(busy: str) -> None:
    code = f"{busy}\nfrom weft.backends.forkserver import ForkServer\nprint(ForkServer.copying())"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "None\n"


@contextmanager
def started(setup: WorkerSetup) -> Iterator[WorkerProcess]:
    """A worker, killed at the end."""
    worker = WorkerProcess(1, setup, slots_of(local_nodes(1))[0])
    try:
        yield worker
    finally:
        worker.kill()
        worker.wait()


SECOND_FORK_FAILS = """
import os
from weft.worker import forkserver

fork, calls = os.fork, []

def limited():
    calls.append(1)
    if len(calls) == 2:
        raise OSError(11, "no process can be started")
    return fork()

os.fork = limited
request = {"arguments": [], "environment": {}, "places": []}
print(forkserver.fork_worker(request, []), flush=True)
"""


def test_worker_that_cannot_be_forked_leaves_no_second_server() -> None:
    result = subprocess.run(
        [sys.executable, "-c", SECOND_FORK_FAILS], check=True, capture_output=True, text=True
    )
    assert (result.stdout, result.stderr) == ("0\n", "")
