"""A sieve by seed made of a family's own definitions: seeding, then calls of the output map.

The step and the map are the reference, compiled. So is the seeding where it can be; a few are
written again here in the rules of step functions, and a test compares them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from weft.searches.prng.families import sfc64, splitmix, v8, xorshift
from weft.searches.prng.family import Family
from weft.searches.prng.kernels.compiled import KERNELS, step_kernel

SEED: Any = None
FILL: Any = None
DRAW: Any = None
SPLITMIX = step_kernel(splitmix.step)
SFC64 = step_kernel(sfc64.step)
V8_MIXED = step_kernel(v8._mixed)
M32 = np.uint64(xorshift.M32)
M64 = np.uint64(v8.M64)
XORSHIFT_FILL = np.uint64(xorshift.FILL_MULTIPLIER)
ZERO, ONE = np.uint64(0), np.uint64(1)
DIRECT = (
    "glibc_rand_r", "xorshift32", "xorshift64", "xorshift64star", "pcg32", "philox4x32",
    "splitmix64",
)  # fmt: skip
"""Families whose seeding is compiled as it stands."""


@KERNELS.kernel
def fill_v8(seed: Any, state: Any) -> None:
    """Do as `families.v8.seeding` does."""
    state[0], state[1], state[2] = V8_MIXED(seed), V8_MIXED(seed ^ M64), ZERO


@KERNELS.kernel
def fill_xorshift128(seed: Any, state: Any) -> None:
    """Do as `families.xorshift.seeding_128` does."""
    state[0] = seed & M32
    for at in range(1, 4):
        state[at] = (XORSHIFT_FILL * state[at - 1] + ONE) & M32


@KERNELS.kernel
def fill_xoshiro(seed: Any, state: Any) -> None:
    """Do as `families.xoshiro.seeding` does."""
    source = np.empty(1, np.uint64)
    source[0] = seed
    for at in range(4):
        state[at] = SPLITMIX(source)


@KERNELS.kernel
def fill_sfc64(seed: Any, state: Any) -> None:
    """Do as `families.sfc64.seeding` does."""
    state[0], state[1], state[2], state[3] = seed, seed, seed, ONE
    for _ in range(12):
        SFC64(state)


@KERNELS.kernel
def in_range(value: Any) -> Any:
    """Keep 32 bits with their sign, and add 2^31 - 1 to what is negative."""
    value = ((value + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)
    return value + 0x7FFFFFFF if value < 0 else value


@KERNELS.kernel
def fill_dotnet(seed: Any, state: Any) -> None:
    """Do as `families.dotnet.seeding` does, for seeds below 2^31."""
    table = np.zeros(56, np.int64)
    table[55] = 161803398 - np.int64(seed)
    before, word = table[55], np.int64(1)
    for at in range(1, 55):
        table[21 * at % 55] = word
        before, word = word, np.int64(in_range(before - word))
    for _ in range(4):
        for at in range(1, 56):
            table[at] = in_range(table[at] - table[1 + (at + 30) % 55])
    for at in range(1, 56):
        state[at - 1] = np.uint64(table[at])
    state[55] = ZERO


FILLS = {
    "dotnet": fill_dotnet,
    "v8": fill_v8,
    "xorshift128": fill_xorshift128,
    "xoshiro256pp": fill_xoshiro,
    "xoshiro256ss": fill_xoshiro,
    "sfc64": fill_sfc64,
}


def has_sieve(family: Family) -> bool:
    """Whether the seeding of a family is compiled."""
    return family.name in FILLS or family.name in DIRECT


def sieve_plain(family: Family, output: str) -> Callable[..., int]:
    """Return `sieve(lo, hi, modulus, gaps, draws, enough, state, out)` for an output map.

    It writes the seeds lo..hi-1 with at least `enough` hits to `out` and returns how many;
    before draw i, `gaps[i]` calls are left out. `state` is room for the state.
    """
    name = f"sieve_{family.name}_{output}"
    sieve: Callable[..., int] = _sieve_for(
        name, family.name, family.seeding, family.outputs[output]
    )
    return sieve


@lru_cache(maxsize=256)
def _sieve_for(
    name: str, family: str, seeding: Callable[..., Any], draw: Callable[..., Any]
) -> Any:
    fill = FILLS.get(family) or _wrapped(f"fill_{family}", seeding)
    return KERNELS.around(_sieve, name, FILL=fill, DRAW=step_kernel(draw))


def _wrapped(name: str, seeding: Callable[..., Any]) -> Any:
    scope = {**globals(), "SEED": step_kernel(seeding)}
    return KERNELS.kernel(FunctionType(_fill.__code__, scope, name))


def _fill(seed: Any, state: Any) -> None:
    words = SEED(seed)
    for at in range(len(words)):
        state[at] = words[at]


def _sieve(
    lo: int, hi: int, modulus: Any, gaps: Any, draws: Any, enough: int, state: Any, out: Any
) -> int:
    count = 0
    allowed = len(draws) - enough
    for seed in range(lo, hi):
        FILL(np.uint64(seed), state)
        missed = 0
        for i in range(len(draws)):
            for _ in range(gaps[i]):
                DRAW(state, modulus)
            if DRAW(state, modulus) != draws[i]:
                missed += 1
                if missed > allowed:
                    break
        if missed <= allowed:
            if count < len(out):
                out[count] = seed
            count += 1
    return count
