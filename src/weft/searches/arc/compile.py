"""Compile ARC's kernels before workers start, several parts at a time.

They are compiled once per version of their sources, and loaded from the user's cache folder
afterwards.

    python -m weft.searches.arc.compile        compile now
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from weft.cluster import host
from weft.runs.compile import compile_all
from weft.searches.arc.kernels.compiled import KERNELS
from weft.searches.arc.warm import PARTS


def compile_kernels(say: Callable[[str], None]) -> None:
    """Compile the kernels unless they are cached; `say` announces the wait."""
    if KERNELS.is_built():
        return
    say(f"compiling {len(PARTS)} families of kernels, once; this takes half a minute")
    compile_all(
        [
            [sys.executable, "-m", "weft.searches.arc.warm", *map(str, parts)]
            for parts in divided(host.cpu_count())
        ]
    )
    KERNELS.mark_built()


def divided(compilers: int) -> list[list[int]]:
    """Assign each part in turn to the compiler process with the least work so far.

    Parts in one process share imports, and kernels that several of them call.
    """
    shares: list[list[int]] = [[] for _ in range(min(compilers, len(PARTS)))]
    for part in PARTS:
        min(shares, key=lambda share: sum(PARTS[its] for its in share)).append(part)
    return shares


if __name__ == "__main__":
    compile_kernels(lambda line: print(line, file=sys.stderr))
