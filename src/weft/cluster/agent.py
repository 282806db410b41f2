"""`python -m weft.cluster.agent`: starts, inspects or stops Ray on the machine it runs on.

Reads one JSON object from stdin (the token is never an argument), prints one. Everything Ray
writes goes into one private folder: Ray opens its own folder to everybody, so that one is inside
ours. Everything it starts carries a mark (weft.backends.orphans), higher than any run's, by which
`inspect` and `stop` find it in any case. Inside a command of a run, whose mark cannot be raised,
the mark is a lower one, which a file in the folder names.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, TypedDict

import platformdirs
import psutil

from weft.backends.orphans import CLEARED_S, LEAST_US, TOP_US, WORKER_BITS, Orphans, carriers
from weft.backends.privatefolders import private_folder
from weft.backends.raynode import FOLDER_VARIABLE
from weft.errors import WorldError
from weft.model.keys import sha256_hex

MARK = "weft-node-agent "
MARK_FILE = "mark"
RAY_FOLDER = "r"
"""Ray's own folder, inside ours: Ray makes it writable for everybody."""
LONGEST_FOLDER = 42
"""Paths of Ray's sockets are about 60 characters longer, and 107 is the system's limit."""
SERVER = {"head": "gcs_server", "node": "raylet"}
"""The process without which a head or a node is dead."""
NO_METRICS = {"RAY_enable_metrics_collection": "0"}
START_S = 90.0
MARK_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Order:
    """A request to an agent."""

    do: str
    folder: str
    token: str = ""
    options: tuple[str, ...] = ()
    """Options for `ray start`."""

    def path(self) -> Path:
        """Return the folder on this machine."""
        return Path(self.folder).expanduser()

    def checked(self, *, make: bool) -> Path:
        """Return the folder, checked to be private; raises WorldError if it is not."""
        if self.folder.startswith("~/"):
            return private_folder(Path.home(), *Path(self.folder).parts[1:], make=make)
        return private_folder(self.path().parent, self.path().name, make=make)


class AgentAnswer(TypedDict):
    """What an agent prints."""

    problem: str
    """Why the order could not be executed; empty if it was."""
    seconds: float
    running: NotRequired[list[str]]
    """Those of `head` and `node` that are alive."""
    ports: NotRequired[list[tuple[str, int, str]]]
    """Address, port and process name of each listening socket."""


def node_marks(folder: Path) -> list[range]:
    """Return the marks of everything started for a folder: its own, and a lower one if used."""
    own = TOP_US + 1 + int(sha256_hex(str(folder))[:MARK_DIGITS], 16)
    marks = [range(own, own + 1)]
    with contextlib.suppress(OSError, ValueError):
        lower = int((folder / MARK_FILE).read_text("ascii"))
        marks += [range(lower, lower + 1)] if LEAST_US <= lower < TOP_US else []
    return marks


def _put_mark(folder: Path) -> None:
    """Mark this process and all that it starts; does nothing on systems without the limit.

    A lower mark is still above those that `Marks.of` gives to runs started here.
    """
    (own,), *_ = node_marks(folder)
    lower = resource.getrlimit(resource.RLIMIT_RTTIME)[1] - 1 - own % 2 ** (WORKER_BITS - 1)
    for mark in (own, lower):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_RTTIME, (mark, mark))
            (folder / MARK_FILE).write_text(str(mark), "ascii")
            return


def start(order: Order) -> str:
    """Start Ray; return why that failed, empty if it did not."""
    folder = order.checked(make=False)
    if len(str(folder)) > LONGEST_FOLDER:
        return f"{folder} is too long for Ray's sockets: at most {LONGEST_FOLDER} characters"
    if any(True for _ in carriers(node_marks(folder))):
        return f"Ray runs in {folder} already"
    _make_folder(order.checked(make=True), order.token)
    if (kernel_cache := platformdirs.user_cache_path("weft")).is_dir():
        shutil.copytree(kernel_cache, folder / "cache" / "weft", dirs_exist_ok=True)
    _put_mark(folder)
    temporary = str(folder / RAY_FOLDER)
    argv = [sys.executable, "-m", "ray.scripts.scripts", "start", "--temp-dir", temporary]
    log = folder / "start.log"
    with log.open("wb") as out:
        code = subprocess.run(
            [*argv, *order.options],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env={**os.environ, **_environment(folder)},
            timeout=START_S,
            check=False,
        ).returncode
    if code == 0:
        return ""
    output = [line for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    return f"ray start ended with {code}: {' | '.join(output[-3:])[:400]}"


def inspect(order: Order, answer: AgentAnswer) -> None:
    """Answer whether Ray runs for a folder, and on which ports its processes listen."""
    order.checked(make=False)
    marks = node_marks(order.path())
    processes = {
        process.pid: process
        for carrier in carriers(marks)
        for process in (carrier.process, *_below(carrier.process))
    }
    names = {name for process in processes.values() if (name := _name(process))}
    ports = {port for process in processes.values() for port in _ports(process)}
    answer["running"] = [kind for kind, server in sorted(SERVER.items()) if server in names]
    answer["ports"] = sorted(ports)


def _name(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.Error):
        return "" if process.status() == psutil.STATUS_ZOMBIE else process.name()
    return ""


def _ports(process: psutil.Process) -> list[tuple[str, int, str]]:
    """Return address, port and process name of each listening socket."""
    with contextlib.suppress(psutil.Error):
        return [
            (socket.laddr.ip, socket.laddr.port, process.name())
            for socket in process.net_connections("inet")
            if socket.status == psutil.CONN_LISTEN
        ]
    return []


def stop(order: Order) -> str:
    """Kill everything started for a folder and remove it; return why that failed, or nothing."""
    folder = order.path()
    marks = node_marks(folder)
    below = [p for carrier in carriers(marks) for p in _below(carrier.process)]
    orphans = Orphans()
    orphans.expect(*marks)
    orphans.finish()
    _, survivors = psutil.wait_procs(below, timeout=CLEARED_S)  # workers end with their actors
    for process in survivors:
        with contextlib.suppress(psutil.Error):
            process.kill()
    order.checked(make=False)
    shutil.rmtree(folder, ignore_errors=True)
    for parent in (folder.parent, folder.parent.parent):
        with contextlib.suppress(OSError):
            parent.rmdir()
    return f"{folder} could not be removed" if folder.exists() else ""


def _below(process: psutil.Process) -> list[psutil.Process]:
    with contextlib.suppress(psutil.Error):
        return process.children(recursive=True)
    return []


def _make_folder(folder: Path, token: str) -> None:
    private_folder(folder, "runs")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    with os.fdopen(os.open(folder / "token", flags, 0o600), "w") as file:
        file.write(token)


def _environment(folder: Path) -> dict[str, str]:
    return {
        **NO_METRICS,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(folder / "token"),
        "RAY_TMPDIR": str(folder / RAY_FOLDER),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        "RAY_health_check_period_ms": "1000",  # a lost node is noticed within some ten seconds
        FOLDER_VARIABLE: str(folder / "runs"),
        "XDG_CACHE_HOME": str(folder / "cache"),  # of workers; commands keep the user's own
    }


def main() -> None:
    """Execute the order on stdin."""
    raw = json.loads(sys.stdin.read())
    order = Order(**{**raw, "options": tuple(raw.get("options", ()))})
    begun_s = time.monotonic()
    answer: AgentAnswer = {"problem": "", "seconds": 0.0}
    try:
        if order.do == "inspect":
            inspect(order, answer)
        else:
            answer["problem"] = {"start": start, "stop": stop}[order.do](order)
    except subprocess.TimeoutExpired:
        answer["problem"] = f"ray start took longer than {START_S:.0f} s"
    except WorldError as error:
        answer["problem"] = str(error)
    except OSError as error:
        answer["problem"] = f"{error.filename or order.folder}: {error.strerror}"
    answer["seconds"] = time.monotonic() - begun_s
    print(MARK + json.dumps(answer))


if __name__ == "__main__":
    main()
