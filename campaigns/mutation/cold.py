"""Serve forks that have imported pytest and the libraries of tests, but no part of Weft.

    python -m campaigns.mutation.cold FD FOLDER

A mutant that takes effect at import is tried in such a fork: it imports Weft like any new process,
and pytest collects the files of the requested tests.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import socket
import sys

import pytest

from campaigns.mutation.reach import OPTIONS
from campaigns.mutation.serving import OneRequest, Request, serve

LIBRARIES = ("numpy", "pandas", "pyarrow", "hypothesis.strategies", "hypothesis.stateful", "psutil",
             "sqlite3", "multiprocessing.connection", "concurrent.futures.thread", "asyncio",
             "rich.console")  # fmt: skip
"""Libraries that tests import; missing ones are skipped."""
REWRITING = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"


def main(fd: str, folder: str) -> None:
    """Import the libraries and serve."""
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if any(name.partition(".")[0] == "weft" for name in sys.modules):
        raise RuntimeError("a library has imported weft")
    os.environ.pop("WEFT_MUTATION", None)  # a fork must not serve in turn
    channel = socket.socket(fileno=int(fd))
    os.set_inheritable(channel.fileno(), False)

    def run(request: Request) -> None:
        files = sorted({name.partition("::")[0] for name in request["tests"]})
        words = [*OPTIONS, "-W", REWRITING, f"--basetemp={folder}", *files]
        pytest.main(words, plugins=[OneRequest(channel, request)])

    serve(channel, run, ready=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
