"""Parallel bit extraction: the bits of a word that a mask selects, packed together.

`compressed` takes six steps on any machine (Hacker's Delight, 7-4). `extracted` is the PEXT
instruction on x86 with BMI2, else `compressed`.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import core
from numba.extending import intrinsic

from weft.searches.arc.kernels.compiled import kernel

STEPS = 6
_core: Any = core  # has no types


def has_pext() -> bool:
    """Whether this machine has the instruction, and code is compiled for this machine."""
    config: Any = numba.config
    is_host = config.CPU_NAME is None and config.CPU_FEATURES is None and not config.DISABLE_JIT
    features: str = _core.codegen.get_host_cpu_features() if is_host else ""
    return "+bmi2" in features.split(",")


@kernel
def compressed(
    word: np.uint64, mask: np.uint64, moves: npt.NDArray[np.uint64], at: int
) -> np.uint64:
    """Return the bits of a word that a mask selects; row `at` of `moves` belongs to the mask."""
    word &= mask
    for step in range(STEPS):
        moved = word & moves[at, step]
        word = (word ^ moved) | (moved >> np.uint64(1 << step))
    return word


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def pext(typing: Any, word: Any, mask: Any, moves: Any, at: Any) -> Any:
    """Do the same with the PEXT instruction; `moves` is not needed."""
    uint64: Any = _core.types.uint64

    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = ir.IntType(64)
        instruction = _core.cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(bits, [bits, bits]), "llvm.x86.bmi.pext.64"
        )
        return builder.call(instruction, args[:2])

    return uint64(uint64, uint64, moves, at), call


extracted: Any = pext if has_pext() else compressed
