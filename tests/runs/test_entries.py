"""Kernels of which only the entry points are compiled, loaded by a process that never compiles."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

KERNELS = """
import sys
from pathlib import Path
import numpy as np
from weft.compiled import Kernels, compile_entries_only

KERNELS = Kernels("entries", Path(__file__))

@KERNELS.kernel
def doubled(numbers):
    copy = np.empty(len(numbers), np.int64)
    for i in range(len(numbers)):
        copy[i] = 2 * numbers[i]
    return copy

@KERNELS.kernel
def doubled_twice(numbers):
    return doubled(doubled(numbers))

@KERNELS.entry
def total(numbers):
    return doubled_twice(numbers).sum()

if sys.argv[1:] == ["compile"]:
    compile_entries_only()
print(total(np.arange(5)), sum(total.stats.cache_hits.values()))
"""


def test_entry_compiled_alone_is_loaded_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "lab.py").write_text(KERNELS)

    def run(*words: str) -> list[str]:
        argv = [sys.executable, str(tmp_path / "lab.py"), *words]
        env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
        result = subprocess.run(argv, env=env, capture_output=True, text=True, check=True)
        return result.stdout.split()

    assert run("compile") == ["40", "0"]
    assert run() == ["40", "1"]
