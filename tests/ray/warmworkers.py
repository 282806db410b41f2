"""Ray's own worker processes, forked from a process that has imported ray and weft.

A raylet starts `python warmworkers.py …` instead of Ray's `default_worker.py`. It asks a server
for a fork that becomes the worker: a separate process with the arguments, folder, environment
and output that the raylet gave, without the second that `import ray` takes. The clusters of
`weft nodes up` start theirs in the usual way.
"""

from __future__ import annotations

import json
import os
import socket
import sys

SOCKET = "WEFT_TEST_WARM_WORKERS"
"""The environment variable that names the server's socket."""


def ask() -> None:
    """Have the server fork a worker in place of this process."""
    here = os.getcwd()  # noqa: PTH109 - pathlib would be another module to load
    body = {"argv": sys.argv[1:], "cwd": here, "env": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(os.environ[SOCKET])
        socket.send_fds(server, [b"!"], [0, 1, 2])
        server.sendall(json.dumps(body).encode())
        server.shutdown(socket.SHUT_WR)
        server.recv(1)


if __name__ == "__main__":
    ask()
