"""Compilers started side by side: their failure, and Ctrl-C while they run."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from tests.support.waiting import wait_until
from weft.cluster.host import cpu_count
from weft.errors import WorldError
from weft.runs.compile import compile_all

ENDLESS = """
import os, sys, time
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(os.getpid()))
os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(600)
"""


def test_compiler_that_fails_is_told_with_its_last_line() -> None:
    words = "import sys; print('first', file=sys.stderr); sys.exit('no compiler here')"
    with pytest.raises(WorldError, match="no compiler here"):
        compile_all([[sys.executable, "-c", words]])


def test_interrupted_compilers_are_gone(tmp_path: Path) -> None:
    """Those that run are killed, and those that wait for a core are never started."""
    named = [tmp_path / str(number) for number in range(cpu_count())]
    more = [tmp_path / "more", tmp_path / "most"]

    def interrupt() -> None:
        wait_until(lambda: all(path.exists() for path in named), "compilers")
        signal.pthread_kill(main, signal.SIGINT)

    main = threading.get_ident()
    watcher = threading.Thread(target=interrupt)
    watcher.start()
    with pytest.raises(KeyboardInterrupt):
        compile_all([[sys.executable, "-c", ENDLESS, str(path)] for path in named + more])
    watcher.join()
    for path in named:
        with pytest.raises(ProcessLookupError):
            os.kill(int(path.read_text()), 0)
    assert not any(path.exists() for path in more)
