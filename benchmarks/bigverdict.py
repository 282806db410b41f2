"""Compute the live page's verdict on a run, as for its first visitor; runs in its own process.

python -m benchmarks.bigverdict RUN
"""

from __future__ import annotations

import sys
from pathlib import Path

from weft.inspect.serve.rundirectory import RunDirectory
from weft.inspect.serve.views import Views
from weft.runs.run import real_place


def judge(run: Path) -> None:
    """Raise AssertionError unless the verdict is `finished, verified`."""
    [run_directory] = RunDirectory(run).runs()
    verdict = Views(real_place().heads).verdict(run_directory)
    if verdict["word"] != "finished, verified":
        raise AssertionError(verdict)


if __name__ == "__main__":
    judge(Path(sys.argv[1]))
