"""This machine: its names, its processors, its environment."""

from __future__ import annotations

import os
import socket

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def host_name() -> str:
    """This machine's name, for lock holders and the heads list."""
    return socket.gethostname()


def names_of_here() -> tuple[str, ...]:
    """What this machine may be called."""
    return (*LOOPBACK, host_name(), host_name().partition(".")[0])


def worker_environment() -> dict[str, str]:
    """What workers inherit from our environment."""
    return dict(os.environ)


def cpu_count() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0))
