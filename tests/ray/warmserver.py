"""The server behind `warmworkers.py`: imports what ray and weft need, then forks the workers.

Ray itself is imported by the worker, since its library reads the environment when it is loaded.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from tests.ray.warmworkers import SOCKET

PROGRAM = "ray._private.workers.default_worker"
LOADED = ("weft.backends.raynode", "weft.backends.process", "weft.worker.outcomes")
LIST = f"import sys, {PROGRAM}; print(*sys.modules)"


@contextmanager
def warm_workers(folder: str) -> Iterator[str]:
    """Serve forks from a separate process; yield the path of the program raylets run as workers."""
    place = f"{folder}/warm"
    os.environ[SOCKET] = place
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(place)
        door.listen(64)
        argv = [sys.executable, "-m", __name__, str(door.fileno())]
        server = subprocess.Popen(argv, pass_fds=[door.fileno()])
    try:
        yield str(Path(__file__).with_name("warmworkers.py"))
    finally:
        server.kill()
        server.wait()
        del os.environ[SOCKET]


def serve(door: socket.socket) -> None:
    """Fork for every request; nobody waits for a worker, its raylet watches its socket."""
    for name in (*LOADED, *needed_by_ray()):
        with suppress(ImportError):  # some are parts that only their package can import
            import_module(name)
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "threads cannot be forked"
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    while True:
        asking, _ = door.accept()
        with asking:
            _, ends, _, _ = socket.recv_fds(asking, 1, 3)
            body = json.loads(b"".join(iter(lambda asking=asking: asking.recv(1 << 16), b"")))
            if os.fork() == 0:
                door.close()
                asking.close()
                become(body, ends)
            for end in ends:
                os.close(end)


def needed_by_ray() -> list[str]:
    """Modules outside Ray that a Ray worker loads."""
    listed = subprocess.run(
        [sys.executable, "-c", LIST], capture_output=True, text=True, check=True
    )
    return [name for name in listed.stdout.split() if name.split(".")[0] not in ("ray", "__main__")]


def become(body: dict[str, Any], ends: list[int]) -> NoReturn:
    """Become a worker, as Ray's own program does, until its end."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    for place, end in enumerate(ends):
        os.dup2(end, place)
        os.close(end)
    os.chdir(body["cwd"])
    os.environ.clear()
    os.environ.update(body["env"])
    spec = find_spec(PROGRAM)
    assert spec is not None
    program = str(spec.origin)
    sys.argv = [program, *body["argv"]]
    code = 0
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    os._exit(code)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
