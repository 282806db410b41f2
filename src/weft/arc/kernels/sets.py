"""Kernels on ordered sets of objects."""

from __future__ import annotations

from weft.arc.kernels.compiled import kernel
from weft.arc.kernels.layout import FAIL, U8


@kernel
def run_sets(
    k: int, src: U8, at: int, inp: U8, inp_at: int, p: int, q: int, out: U8, to: int
) -> int:
    """Run the kernel with number `k` (400 and above)."""
    return FAIL
