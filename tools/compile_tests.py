"""Compile the tests as pytest does, with rewritten assertions, before several processes need them.

    python tools/compile_tests.py tests

pytest caches what it compiles unless PYTHONDONTWRITEBYTECODE is set, but processes that start at
the same time all compile everything: 7 CPU seconds each. This fills the same cache once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from _pytest.assertion import AssertionState, rewrite
from _pytest.config import Config, get_config

REWRITTEN = ("test_*.py", "conftest.py")
"""Files that pytest rewrites by default."""
PROCESSES = 2


def main(folders: Sequence[str]) -> int:
    """Compile what is not in the cache; return the exit code."""
    files = [path for folder in folders for name in REWRITTEN for path in Path(folder).rglob(name)]
    with ProcessPoolExecutor(PROCESSES) as pool:
        list(pool.map(compile_all, [sorted(files)[n::PROCESSES] for n in range(PROCESSES)]))
    return 0


def compile_all(files: Sequence[Path]) -> None:
    """Compile these files, and the plugins that pytest imports on startup."""
    sys.dont_write_bytecode = False
    config = get_config()
    config.parse(["--collect-only"])
    for file in files:
        compile_one(file.resolve(), config)


def compile_one(file: Path, config: Config) -> None:
    """Add a file to pytest's cache unless it is there."""
    state = AssertionState(config, "rewrite")
    folder = rewrite.get_cache_dir(file)
    cached = folder / (file.name[:-3] + rewrite.PYC_TAIL)
    if rewrite._read_pyc(file, cached) is None and rewrite.try_makedirs(folder):
        stat, code = rewrite._rewrite_test(file, config)
        rewrite._write_pyc(state, code, stat, cached)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
