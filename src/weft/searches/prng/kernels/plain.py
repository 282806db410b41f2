"""A sieve by seed made of a family's own definitions: seeding, then calls of the output map.

The step and the map are the reference, compiled. So is the seeding where it can be; else the
family declares a `fill` by the rule for steps, and a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from weft.searches.prng.family import Family
from weft.searches.prng.forms import CompiledSeeding
from weft.searches.prng.kernels.compiled import KERNELS, step_kernel

SEED: Any = None
FILL: Any = None
DRAW: Any = None
Definition = Callable[..., Any]


def sieve_plain(family: Family, output: str) -> Callable[..., int]:
    """Return `sieve(lo, hi, modulus, gaps, draws, enough, state, out)` for an output map.

    It writes the seeds lo..hi-1 with at least `enough` hits to `out` and returns how many;
    before draw i, `gaps[i]` calls are left out. `state` is room for the state.
    """
    assert isinstance(family.seed_form, CompiledSeeding)
    fill = family.seed_form.fill
    return _sieve_for(family.name, output, fill, family.seeding, family.outputs[output])


@lru_cache(maxsize=256)
def _sieve_for(
    family: str, output: str, fill: Definition | None, seeding: Definition, draw: Definition
) -> Callable[..., int]:
    compiled = step_kernel(fill) if fill else _wrapped(f"fill_{family}", seeding)
    name = f"sieve_{family}_{output}"
    return KERNELS.around(_sieve, name, FILL=compiled, DRAW=step_kernel(draw))


def _wrapped(name: str, seeding: Definition) -> Any:
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
