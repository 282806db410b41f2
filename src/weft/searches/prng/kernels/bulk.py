"""Many outputs or draws at a time, compiled from the definitions of a family.

    words(family, state, n)              n raw outputs
    fill(family, output, state, m, gaps) draws, with a number of calls skipped before each
    streams(family, output, states, …)   the same for several states, a row for each
    rows(family, output, m, seeds, …)    draws of many seeds, a row for each
    sieve_plain(family, output)          a sieve by seed: seeding, then calls of the output map

Code is compiled for a family or output map on first use and cached on disk. `words` and `fill`
change the state as the reference definition does. A seeding that cannot be compiled as it is has a
second definition, `fill`, which follows the rule for steps; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from weft.searches.prng.arrays import Draws16, Ints, Words
from weft.searches.prng.family import Family, State
from weft.searches.prng.forms import CompiledSeeding
from weft.searches.prng.kernels.compiled import KERNELS, step_kernel

STEP: Any = None
DRAW: Any = None
SEED: Any = None
FILL: Any = None
Definition = Callable[..., Any]


def words(family: Family, state: State, count: int) -> Words:
    """Return the next `count` raw outputs and advance the state."""
    out = np.empty(count, np.uint64)
    array = np.array(state, np.uint64)
    _looped(_steps, f"words_{family.name}", "STEP", family.step)(array, out)
    state[:] = array.tolist()
    return out


def fill(family: Family, output: str, state: State, modulus: int, gaps: Ints) -> Words:
    """Return a draw for each gap, after skipping that many calls, and advance the state."""
    array = np.array([state], np.uint64)
    out = streams(family, output, array, modulus, gaps).reshape(gaps.size)
    state[:] = array[0].tolist()
    return out


def streams(family: Family, output: str, states: Words, modulus: int, gaps: Ints) -> Words:
    """Return a row of draws for each of several states, the rows of an array; see `fill`."""
    out = np.empty((len(states), gaps.size), np.uint64)
    loop = _looped(_draws, f"draws_{family.name}_{output}", "DRAW", family.outputs[output])
    loop(states, np.uint64(modulus), gaps, out)
    return out


def rows(
    family: Family, output: str, modulus: int, seeds: Words, leads: Ints, skips: Ints, count: int
) -> Draws16:
    """Return `count` draws of each seed, below a modulus of at most 2^16.

    Row r skips `leads[r]` calls before the first draw and `skips[r]` between two draws.
    """
    out = np.empty((len(seeds), count), np.uint16)
    states = np.array([family.seeding(int(seed)) for seed in seeds], np.uint64)
    states = states.reshape(len(seeds), family.state_words)
    rows_kernel(family, output)(states, np.uint64(modulus), leads, skips, out)
    return out


def rows_kernel(family: Family, output: str) -> Any:
    """Return the compiled loop that fills rows with a family's draws."""
    return _looped(_rows, f"rows_{family.name}_{output}", "DRAW", family.outputs[output])


@lru_cache(maxsize=512)
def _looped(loop: Any, name: str, inner: str, function: Callable[..., Any]) -> Any:
    """Compile a loop around one function."""
    return KERNELS.around(loop, name, **{inner: step_kernel(function)})


def _steps(state: Words, out: Words) -> None:
    for at in range(out.size):
        out[at] = STEP(state)


def _draws(states: Words, modulus: Any, gaps: Any, out: Words) -> None:
    for row in range(out.shape[0]):
        state = states[row]
        for at in range(out.shape[1]):
            for _ in range(gaps[at]):
                DRAW(state, modulus)
            out[row, at] = DRAW(state, modulus)


def _rows(states: Words, modulus: Any, leads: Ints, skips: Ints, out: Draws16) -> None:
    for row in range(out.shape[0]):
        state = states[row]
        for _ in range(leads[row]):
            DRAW(state, modulus)
        for column in range(out.shape[1]):
            out[row, column] = DRAW(state, modulus)
            for _ in range(skips[row]):
                DRAW(state, modulus)


def sieve_plain(family: Family, output: str) -> Callable[..., int]:
    """Return `sieve(lo, hi, modulus, gaps, draws, enough, state, out)` for an output map.

    It writes the seeds lo..hi-1 with at least `enough` hits to `out` and returns their number;
    `gaps[i]` calls are skipped before draw i. `state` is a buffer for the state.
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
    copy = FunctionType(_fill.__code__, scope, name)
    copy.__qualname__ = name  # code of two families must not share a name: see `compiled._digest`
    return KERNELS.kernel(copy)


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
