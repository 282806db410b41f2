"""Compile the kernels of a search before its workers start, several at a time.

Kernels are compiled once per version of their sources; afterwards they are loaded from the
user's cache folder in a moment.

    python -m weft.wiring.kernels        compile now
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from weft.arc.kernels.compiled import KERNELS
from weft.arc.warm import PARTS
from weft.errors import WorldError
from weft.wiring import world


def compile_arc_kernels(say: Callable[[str], None]) -> None:
    """Compile what is missing; `say` gets a line when there is something to wait for."""
    if KERNELS.is_built():
        return
    say(f"compiling {len(PARTS)} families of kernels, once; this takes half a minute")
    with ThreadPoolExecutor(world.cpu_count()) as pool:
        for _ in pool.map(_compile, PARTS):
            pass
    KERNELS.mark_built()


def _compile(part: int) -> None:
    """Compile one part in a process of its own: numba compiles one thing at a time."""
    argv = [sys.executable, "-m", "weft.arc.warm", str(part)]
    done = subprocess.run(
        argv, check=False, capture_output=True, text=True, env=world.worker_environment()
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise WorldError(f"the kernels cannot be compiled: {last[:300]}", hint="weft doctor")


if __name__ == "__main__":
    compile_arc_kernels(lambda line: print(line, file=sys.stderr))
