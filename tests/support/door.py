"""A `weft` for shell lines that need not import weft first.

    door = Door(*modules)  ─►  PATH={door.folder}:…  ─►  bash -c 'weft verify RUN | head -1'

The program in the folder passes its words, folder, environment and open files to a server that
has loaded weft; a fork of the server becomes the command, and the program ends with its exit
code. Commands may run side by side, as in a pipe, and fork their workers. For single commands
without a shell see `forked`.
"""

from __future__ import annotations

import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.forked import ROOT, become, close_all, load, receive_asked, to_bytes
from tests.support.forkedworkers import fork_workers_of_this_command
from weft.backends.orphans import WORKER

PROGRAM = """\
#!{python} -IS
import json, os, socket, sys

asked = {{"words": sys.argv[1:], "cwd": os.getcwd(), "env": dict(os.environ), "path": {scripts!r}}}
body = json.dumps(asked).encode()
with socket.socket(socket.AF_UNIX) as channel:
    channel.connect({place!r})
    socket.send_fds(channel, [len(body).to_bytes(8, "big")], [0, 1, 2])
    channel.sendall(body)
    code = int.from_bytes(channel.recv(8, socket.MSG_WAITALL), "big", signed=True)
sys.exit(code if code >= 0 else 128 - code)
"""


class Door:
    """A folder with the program, and the server behind it."""

    def __init__(self, *more: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="weft-"))  # short: socket paths are limited
        place = str(self.folder / "socket")
        scripts = str(Path(sys.executable).parent)
        program = self.folder / "weft"
        text = PROGRAM.format(python=sys.executable, scripts=scripts, place=place)
        program.write_text(text, "utf-8")
        program.chmod(0o755)
        self._alive, theirs = socket.socketpair()
        with theirs, socket.socket(socket.AF_UNIX) as listener:
            listener.bind(place)
            listener.listen()
            numbers = [listener.fileno(), theirs.fileno()]
            self._process = subprocess.Popen(
                # the last word distinguishes workers from processes they left behind
                [sys.executable, "-m", __name__, *map(str, numbers), *more, WORKER],
                cwd=ROOT,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
                stdin=subprocess.DEVNULL,
                pass_fds=numbers,
            )

    def close(self) -> None:
        """Stop the server; a command in progress continues to its end."""
        self._alive.close()
        self._process.wait()
        shutil.rmtree(self.folder)


def serve(listener: socket.socket, alive: socket.socket) -> None:
    """Fork for every connecting program, until the other end of `alive` is closed."""
    children: list[int] = []
    while alive not in select.select([listener, alive], [], [])[0]:
        channel, _ = listener.accept()
        pid = os.fork()
        if pid == 0:
            listener.close()
            alive.close()
            answer(channel)
        channel.close()
        children = [child for child in (*children, pid) if os.waitpid(child, os.WNOHANG)[0] == 0]


def answer(channel: socket.socket) -> None:
    """Run the command that one program requests, and send it the exit code."""
    request = receive_asked(channel)
    if request is None:
        os._exit(1)
    pid = os.fork()
    if pid == 0:
        channel.close()
        fork_workers_of_this_command()
        become(*request)
    close_all(request[1])
    _, status = os.waitpid(pid, 0)
    channel.sendall(to_bytes(os.waitstatus_to_exitcode(status)))
    os._exit(0)


if __name__ == "__main__":
    load(sys.argv[3:])
    serve(*(socket.socket(fileno=int(number)) for number in sys.argv[1:3]))
