"""Compile ARC's kernels before workers start, several parts at a time.

They are compiled once per version of their sources; afterwards they are loaded from the user's
cache folder in a moment.

    python -m weft.searches.arc.compile        compile now
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from weft.runs.compile import compile_all
from weft.searches.arc.kernels.compiled import KERNELS
from weft.searches.arc.warm import PARTS


def compile_kernels(say: Callable[[str], None]) -> None:
    """Compile what is missing; `say` gets a line when there is something to wait for."""
    if KERNELS.is_built():
        return
    say(f"compiling {len(PARTS)} families of kernels, once; this takes half a minute")
    compile_all([[sys.executable, "-m", "weft.searches.arc.warm", str(part)] for part in PARTS])
    KERNELS.mark_built()


if __name__ == "__main__":
    compile_kernels(lambda line: print(line, file=sys.stderr))
