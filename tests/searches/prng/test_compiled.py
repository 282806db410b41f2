"""Compiled kernels are made once on a machine, not once in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from weft.compiled import Kernels

FILL = """
import numpy as np
from weft.searches.prng.families import family_named
from weft.searches.prng.kernels.bulk import rows, rows_kernel
one, java = np.ones(1, np.int64), family_named("java")
rows(java, "bounded", 1000, one, one, one, 5)
stats = rows_kernel(java, "bounded").stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


def test_second_process_takes_a_loop_around_a_step_from_the_disk(tmp_path: Path) -> None:
    around = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    told = [
        subprocess.run([sys.executable, "-c", FILL], env=around, capture_output=True, check=True)
        for _ in range(2)
    ]
    assert [one.stdout.split() for one in told] == [[b"0", b"1"], [b"1", b"0"]]


def test_kernel_that_closes_over_something_is_refused(tmp_path: Path) -> None:
    step = np.uint64(3)

    def loop(count: int) -> int:
        return int(count * step)

    with pytest.raises(AssertionError, match="loop closes over something"):
        Kernels("tested", tmp_path).entry(loop)
