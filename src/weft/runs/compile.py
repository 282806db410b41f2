"""Compile the kernels of a search before its workers start, several at a time.

Kernels are compiled once per version of their sources; afterwards they are loaded from the
user's cache folder in a moment.

    python -m weft.runs.compile        compile now
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from weft.errors import WorldError
from weft.runs import world
from weft.searches.arc.kernels.compiled import KERNELS
from weft.searches.arc.warm import PARTS


def compile_arc_kernels(say: Callable[[str], None]) -> None:
    """Compile what is missing; `say` gets a line when there is something to wait for."""
    if KERNELS.is_built():
        return
    say(f"compiling {len(PARTS)} families of kernels, once; this takes half a minute")
    compile_all([[sys.executable, "-m", "weft.searches.arc.warm", str(part)] for part in PARTS])
    KERNELS.mark_built()


def compile_all(commands: Sequence[Sequence[str]]) -> None:
    """Run compilers, as many at a time as there are cores; none outlives an interruption."""
    started: list[subprocess.Popen[str]] = []
    with ThreadPoolExecutor(world.cpu_count()) as pool:
        try:
            for _ in pool.map(lambda argv: _compile(argv, started), commands):
                pass
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in started:
                process.kill()
            raise


def _compile(argv: Sequence[str], started: list[subprocess.Popen[str]]) -> None:
    """Compile one part in a process of its own: numba compiles one thing at a time."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        argv, stdout=pipe, stderr=pipe, text=True, env=world.worker_environment()
    ) as process:
        started.append(process)
        _, said = process.communicate()
    if process.returncode:
        last = (said.strip().splitlines() or ["no message"])[-1]
        raise WorldError(f"the kernels cannot be compiled: {last[:300]}", hint="weft doctor")


if __name__ == "__main__":
    compile_arc_kernels(lambda line: print(line, file=sys.stderr))
