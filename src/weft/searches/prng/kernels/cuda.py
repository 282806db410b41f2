"""The sieves on a GPU: the same seeds in, the same survivors out, many more at a time.

CUDA source is written for one target, with its constants in it, and compiled by CuPy's NVRTC;
CuPy keeps the result on disk. A thread tries one seed and stops at the draw that makes enough
hits impossible. The CPU sieves of the same names define what these do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from weft.searches.prng.kernels.glibc import DEGREE
from weft.searches.prng.kernels.hits import INVERSE, LEAST, LIMIT, SHIFT, TURN
from weft.searches.prng.kernels.mt import FIRST_FORM, LEGACY

THREADS = 256
BLOCKS = 132 * 64
"""Enough for the largest card; a thread takes every so-manyth seed."""

HEAD = """
typedef unsigned int u32; typedef unsigned long long u64;
static __device__ __forceinline__ u32 turned(u32 z, int turn) {
    return __funnelshift_r(z, z, turn);
}
static __device__ __forceinline__ u32 twisted(u32 first, u32 second, u32 far, u32 low) {
    u32 joined = (first & 0x80000000u) | (second & 0x7fffffffu);
    u32 y = far ^ (joined >> 1) ^ ((low & 1u) * 0x9908b0dfu);
    y ^= y >> 11; y ^= (y << 7) & 0x9d2c5680u; y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}
extern "C" __global__ void sieve(u64 lo, u64 hi, u64 *out, u32 most, u32 *count) {
    u64 step = (u64) gridDim.x * blockDim.x;
    for (u64 seed = lo + (u64) blockIdx.x * blockDim.x + threadIdx.x; seed < hi; seed += step) {
        u32 hits = 0, y;
"""
TAIL = """
        u32 at = atomicAdd(count, 1u);
        if (at < most) out[at] = seed;
    }
}
"""


@lru_cache(maxsize=1)
def is_available() -> bool:
    """Whether CuPy is installed and sees a GPU."""
    if find_spec("cupy") is None:
        return False
    import cupy  # noqa: PLC0415 - an extra

    try:
        return bool(cupy.cuda.runtime.getDeviceCount() > 0)
    except cupy.cuda.runtime.CUDARuntimeError:
        return False


def chosen(device: str) -> str:
    """Return `cpu` or `gpu` for what was asked for: a GPU only where there is one.

    A task that failed for want of a GPU would be recorded, and the ledger be another one.
    """
    return "gpu" if device != "cpu" and is_available() else "cpu"


def lcg_source(seeding: Any, dropped: Any, affine: Any, tests: Any, enough: int) -> Iterator[str]:
    """Write the body for a linear congruential generator: every draw from the first state."""
    scramble, place, below, mask = (int(word) for word in seeding)
    yield f"u64 state = ((seed ^ {scramble}ull) << {place}) | {below}ull;"
    for number, (a, c) in enumerate(affine):
        yield f"y = (u32) (((state * {int(a)}ull + {int(c)}ull) & {mask}ull) >> {int(dropped)});"
        yield _judge(tests, number, enough)


def mt_source(form: int, needed: Any, rows: Any, tests: Any, enough: int) -> Iterator[str]:
    """Write the body for MT19937: carry one word on, judge a draw when its words are there."""
    yield f"u32 w = (u32) seed{' | 1u' if form == FIRST_FORM else ''};"
    at, judged = 0, 0
    for row, word in enumerate(needed):
        yield _carry_on(form, at, int(word))
        yield f"u32 k{row} = w;"
        at = int(word)
        while judged < len(tests) and max(rows[judged]) <= row:
            first, second, far = (int(one) for one in rows[judged])
            low = first if form == LEGACY else second
            yield f"y = twisted(k{first}, k{second}, k{far}, k{low});"
            yield _judge(tests, judged, enough)
            judged += 1


def _carry_on(form: int, at: int, to: int) -> str:
    modern = "w = 1812433253u * (w ^ (w >> 30)) + (u32) i;"
    step = "w *= 69069u;" if form == FIRST_FORM else modern
    return f"#pragma unroll 16\nfor (int i = {at + 1}; i <= {to}; ++i) {{ {step} }}"


def glibc_source(weights: Any, tests: Any, enough: int) -> Iterator[str]:
    """Write the body for rand() of the GNU C library: a weighted sum of 31 words."""
    yield "u64 x = seed ? seed : 1;"
    yield f"u32 w[{DEGREE}]; w[0] = (u32) x;"
    yield "if (x & 0x80000000ull) x += 0x7fffffffull * 3 - 0x100000000ull;"
    yield "#pragma unroll"
    yield f"for (int i = 1; i < {DEGREE}; ++i) {{"
    yield "  u64 p = x * 16807ull; x = (p & 0x7fffffffull) + (p >> 31);"
    yield "  if (x >= 0x7fffffffull) x -= 0x7fffffffull; w[i] = (u32) x; }"
    for number, row in enumerate(weights):
        terms = " + ".join(f"{int(weight)}u * w[{at}]" for at, weight in enumerate(row))
        yield f"y = {terms};"
        yield _judge(tests, number, enough)


def _judge(tests: Any, number: int, enough: int) -> str:
    """Write the test of one draw, and the way out when enough hits are out of reach."""
    test = [int(value) for value in tests[number]]
    left = len(tests) - 1 - number
    value = f"(y >> {test[SHIFT]})"
    z = f"turned(({value} - {test[LEAST]}u) * {test[INVERSE]}u, {test[TURN]})"
    hit = f"{z} <= {test[LIMIT]}u"
    if test[LEAST]:
        hit = f"({hit} && {value} >= {test[LEAST]}u)"
    return f"hits += {hit}; if (hits + {left}u < {enough}u) continue;"


@lru_cache(maxsize=64)
def _compiled(source: str) -> Any:
    import cupy  # noqa: PLC0415 - an extra

    return cupy.RawKernel(HEAD + source + TAIL, "sieve")


def _run(source: str, lo: int, hi: int, out: Any) -> int:
    """Launch a sieve; the survivors in `out` are in rising order, as the CPU finds them."""
    import cupy  # noqa: PLC0415 - an extra

    found = cupy.empty(len(out), cupy.uint64)
    count = cupy.zeros(1, cupy.uint32)
    blocks = min(BLOCKS, -(-(hi - lo) // THREADS))
    args = (np.uint64(lo), np.uint64(hi), found, np.uint32(len(out)), count)
    _compiled(source)((blocks,), (THREADS,), args)
    total = int(count.get()[0])
    kept = min(total, len(out))
    out[:kept] = np.sort(found[:kept].get())
    return total


def _launching(source: Callable[..., Iterator[str]]) -> Callable[..., int]:
    """Return the twin of a CPU sieve: seeds from `lo` to `hi`, its arguments, room for seeds."""

    def sieve(lo: int, hi: int, *args: Any) -> int:
        return _run("\n".join(source(*args[:-1])), lo, hi, args[-1])

    return sieve


sieve_lcg = _launching(lcg_source)
sieve_mt = _launching(mt_source)
sieve_glibc = _launching(glibc_source)
