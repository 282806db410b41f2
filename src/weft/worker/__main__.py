"""`python -u -m weft.worker FD PARENT`: receive blocks on the socket FD, run them, send results.

Dies with its coordinator: the kernel kills it when its parent ends, and it exits at end of file.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import signal
import socket
import sys

from weft.worker.loop import WorkerLoop
from weft.worker.processtree import become_subreaper, become_unreadable


def die_with_parent(parent: int) -> None:
    """Ask the kernel (Linux) to kill us when the coordinator ends, however it ends."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(0)


def main() -> None:
    """Serve the socket whose number is the first argument; the second is the parent's pid."""
    die_with_parent(int(sys.argv[2]))
    become_unreadable()
    become_subreaper()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the coordinator handles Ctrl-C
    faulthandler.enable()
    WorkerLoop(socket.socket(fileno=int(sys.argv[1]))).serve()


if __name__ == "__main__":
    main()
