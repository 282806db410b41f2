"""`python -m weft.wiring.nodeagent`: start or stop Ray on the machine it runs on.

Reads one JSON object from stdin (the token never is an argument), prints one. Everything Ray
writes goes into one folder. Everything it starts carries a mark (weft.backends.strays), higher
than any run's, by which `stop` finds it, whatever became of it.
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
from typing import Any

import platformdirs
import psutil

from weft.backends.raynode import FOLDER_VARIABLE
from weft.backends.strays import CLEARED_S, TOP_US, Strays, carriers
from weft.model.keys import sha256_hex

MARK = "weft-node-agent "
LONGEST_FOLDER = 44
"""Ray makes sockets about 60 characters below its folder, and 107 is the system's limit."""
START_S = 90.0
MARK_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked of an agent."""

    do: str
    folder: str
    token: str = ""
    options: tuple[str, ...] = ()
    """For `ray start`."""

    def path(self) -> Path:
        """The folder on this machine."""
        return Path(self.folder).expanduser()


def node_mark(folder: Path) -> range:
    """Return the mark of everything that was started for a folder."""
    low = TOP_US + 1 + int(sha256_hex(str(folder))[:MARK_DIGITS], 16)
    return range(low, low + 1)


def start(order: Order) -> str:
    """Start Ray; return why it could not, or nothing."""
    folder = order.path()
    if len(str(folder)) > LONGEST_FOLDER:
        return f"{folder} is too long for Ray's sockets: at most {LONGEST_FOLDER} characters"
    if any(True for _ in carriers([node_mark(folder)])):
        return f"Ray runs in {folder} already"
    _make_folder(folder, order.token)
    if (compiled := platformdirs.user_cache_path("weft")).is_dir():
        shutil.copytree(compiled, folder / "cache" / "weft", dirs_exist_ok=True)
    mark = node_mark(folder)[0]
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_RTTIME, (mark, mark))
    argv = [sys.executable, "-m", "ray.scripts.scripts", "start", "--temp-dir", str(folder)]
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
    said = [line for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    return f"ray start ended with {code}: {' | '.join(said[-3:])[:400]}"


def stop(order: Order) -> str:
    """Kill everything that was started for a folder and remove the folder."""
    folder = order.path()
    marks = [node_mark(folder)]
    below = [p for carrier in carriers(marks) for p in _below(carrier.process)]
    strays = Strays()
    strays.expect(*marks)
    strays.finish()
    _, left = psutil.wait_procs(below, timeout=CLEARED_S)  # workers end with their actors
    for process in left:
        with contextlib.suppress(psutil.Error):
            process.kill()
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
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with os.fdopen(os.open(folder / "token", flags, 0o600), "w") as file:
        file.write(token)


def _environment(folder: Path) -> dict[str, str]:
    return {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(folder / "token"),
        "RAY_TMPDIR": str(folder),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        "RAY_health_check_period_ms": "1000",  # a lost node is noticed within some ten seconds
        FOLDER_VARIABLE: str(folder / "runs"),
        "XDG_CACHE_HOME": str(folder / "cache"),  # of workers; commands keep the user's own
    }


def main() -> None:
    """Carry out the order on stdin."""
    raw: dict[str, Any] = json.loads(sys.stdin.read())
    order = Order(**{**raw, "options": tuple(raw.get("options", ()))})
    begun_s = time.monotonic()
    try:
        problem = {"start": start, "stop": stop}[order.do](order)
    except subprocess.TimeoutExpired:
        problem = f"ray start took longer than {START_S:.0f} s"
    except OSError as error:
        problem = f"{error.filename or order.folder}: {error.strerror}"
    print(MARK + json.dumps({"problem": problem, "seconds": time.monotonic() - begun_s}))


if __name__ == "__main__":
    main()
