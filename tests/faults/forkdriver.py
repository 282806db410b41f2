"""Forks coordinators that have their modules already imported: `python forkdriver.py FD MODULES`.

MODULES is a file with a JSON list of the modules that such a command loads. FD is a socket. Each
request is answered twice: with the pid of the coordinator, which starts once it can read from
the pipe it was given, and with its exit status once it has ended. Except for its loaded modules,
a forked coordinator equals driver.py in its own process.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

import driver

REQUEST_BYTES = 1 << 16
FILES = 3
"""Standard output, standard error, and the pipe."""
CASE = "WEFT_FAULTS_CASE"
_PTRACER, _ANYONE = 0x59616D61, ctypes.c_ulong(-1)


def main() -> int:
    channel = socket.socket(fileno=int(sys.argv[1]))
    load(json.loads(Path(sys.argv[2]).read_text("utf-8")))
    while body := socket.recv_fds(channel, REQUEST_BYTES, FILES):
        text, files, _, _ = body
        if not text:
            break
        if (pid := os.fork()) == 0:
            channel.close()
            return become(json.loads(text), *files)
        for file in files:
            os.close(file)
        channel.send(str(pid).encode())
        channel.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())
    return 0


def load(modules: list[str]) -> None:
    from weft.worker.environment import use_one_thread

    use_one_thread()
    for name in modules:
        with contextlib.suppress(ImportError):  # some names in sys.modules are not importable
            importlib.import_module(name)


def become(request: dict[str, Any], stdout: int, stderr: int, pipe: int) -> int:
    """Become the requested coordinator."""
    environment = request["environment"]
    carry_name(environment[CASE])
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(request["folder"])
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    os.close(stdout)
    os.close(stderr)
    os.read(pipe, 1)  # any tracer has attached by then
    os.close(pipe)
    sys.argv = request["arguments"]
    return driver.main()


def carry_name(name: str) -> None:
    """Put the case's name where /proc shows it: /proc shows the initial environment only."""
    libc = ctypes.CDLL(None)
    libc.getenv.restype = ctypes.c_void_p
    place = libc.getenv(CASE.encode())
    ctypes.memmove(place, name.encode(), len(name))
    libc.prctl(_PTRACER, _ANYONE, 0, 0, 0)  # for systems where only a parent may trace otherwise


if __name__ == "__main__":
    sys.exit(main())
