"""The sieves on a GPU: the same seeds in and out as on the CPU, many more at a time.

    program ── CUDA source, and the constants it is given before each launch
    launch  ── compiles it once (CuPy's NVRTC caches the result on disk) and sieves a range

The source depends on the generator and on the positions of the draws, hardly ever on their values:
another history reuses the compiled program. A thread tries one seed after another, entirely in
registers, and stops at the draw that makes enough hits impossible. The sources are in
`cuda_sources`; the CPU sieves of the same names are their reference.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from weft.searches.prng.kernels import cuda_sources
from weft.searches.prng.kernels.cuda_sources import SieveProgram

THREADS = 256
BLOCKS = 132 * 64
"""Enough for the largest card; the stride of a thread is the number of all threads."""


@lru_cache(maxsize=1)
def is_available() -> bool:
    """Whether CuPy is installed, can be imported, and sees a GPU."""
    if find_spec("cupy") is None:
        return False
    try:
        import cupy  # noqa: PLC0415 - an extra
    except ImportError:
        return False
    try:
        return bool(cupy.cuda.runtime.getDeviceCount() > 0)
    except cupy.cuda.runtime.CUDARuntimeError:
        return False


def chosen(device: str) -> str:
    """Return the device to use for a request, `cpu` or `gpu`: a GPU only if there is one.

    A task that failed for lack of a GPU would be recorded, and the ledger would differ.
    """
    return "gpu" if device != "cpu" and is_available() else "cpu"


@lru_cache(maxsize=64)
def _compiled(source: str) -> Any:
    import cupy  # noqa: PLC0415 - an extra

    return cupy.RawModule(code=source)


def launch(program: SieveProgram, lo: int, hi: int, out: Any) -> int:
    """Sieve a range; the seeds written to `out` are in rising order, as on the CPU."""
    import cupy  # noqa: PLC0415 - an extra

    module = _compiled(program.source)
    for name, words in program.constants.items():
        place = module.get_global(name)
        cupy.ndarray(words.shape, words.dtype, place).set(words)
    found = cupy.empty(len(out), cupy.uint64)
    count = cupy.zeros(1, cupy.uint32)
    blocks = min(BLOCKS, -(-(hi - lo) // THREADS))
    args = (np.uint64(lo), np.uint64(hi), found, np.uint32(len(out)), count)
    module.get_function("sieve")((blocks,), (THREADS,), args)
    total = int(count.get()[0])
    kept = min(total, len(out))
    out[:kept] = np.sort(found[:kept].get())
    return total


def _launching(program: Callable[..., SieveProgram]) -> Callable[..., int]:
    """Return the GPU twin of a CPU sieve, taking `lo`, `hi`, the sieve's arguments and `out`."""

    def sieve(lo: int, hi: int, *args: Any) -> int:
        return launch(program(*args[:-1]), lo, hi, args[-1])

    return sieve


sieve_lcg = _launching(cuda_sources.lcg)
sieve_mt = _launching(cuda_sources.mt)
scan_mt = _launching(cuda_sources.redrawing_mt)
sieve_glibc = _launching(cuda_sources.glibc)
sieve_dotnet = _launching(cuda_sources.dotnet)
sieve_go = _launching(cuda_sources.go)
