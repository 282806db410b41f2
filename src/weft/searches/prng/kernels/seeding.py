"""First states of Mersenne Twisters for many seeds, compiled; `Family.seeding` is the reference.

The reference fills 624 words in Python, which takes longer than all that is done with the state
afterwards. Other families have few words or their own kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.searches.prng.arrays import Words
from weft.searches.prng.family import Family
from weft.searches.prng.forms import TwisterSeeding
from weft.searches.prng.kernels.compiled import KERNELS

SIZE = 624
M32 = np.uint64(0xFFFFFFFF)
INIT = np.uint64(1812433253)
PRODUCT = np.uint64(69069)
BASE_SEED = np.uint64(19650218)
FIRST_MIX, SECOND_MIX = np.uint64(1664525), np.uint64(1566083941)
U30, U32 = np.uint64(30), np.uint64(32)
TOP = np.uint64(0x80000000)


def first_states(family: Family, seeds: Sequence[int]) -> Words:
    """Return the states of seeds below 2^64, a row for each."""
    form = family.seed_form
    if not family.is_twister_seeded:
        return np.array([family.seeding(seed) for seed in seeds], np.uint64)
    assert isinstance(form, TwisterSeeding)
    states = np.empty((len(seeds), SIZE + 1), np.uint64)
    if form.by_array:
        fill_by_array(np.array(seeds, np.uint64), states)
    else:
        fill_by_word(np.array(seeds, np.uint64), form.product, states)
    return states


@KERNELS.kernel
def fill_words(word: Any, state: Any) -> None:
    """Fill the block with init_genrand of 2002."""
    state[0] = word & M32
    for at in range(1, SIZE):
        before = state[at - 1] ^ (state[at - 1] >> U30)
        state[at] = (INIT * before + np.uint64(at)) & M32


@KERNELS.entry
def fill_by_word(seeds: Any, product: bool, states: Any) -> None:
    """Fill blocks from the low 32 bits of seeds; with `product`, as PHP did up to 5.2.0."""
    for row in range(len(seeds)):
        state = states[row]
        if product:
            state[0] = (seeds[row] | np.uint64(1)) & M32
            for at in range(1, SIZE):
                state[at] = state[at - 1] * PRODUCT & M32
        else:
            fill_words(seeds[row], state)
        state[SIZE] = np.uint64(SIZE)


@KERNELS.entry
def fill_by_array(seeds: Any, states: Any) -> None:
    """Mix the one or two words of each seed into its block (init_by_array of 2002)."""
    for row in range(len(seeds)):
        mix_in(seeds[row], states[row])


@KERNELS.kernel
def mix_in(seed: Any, state: Any) -> None:
    """Mix the words of one seed into its block."""
    fill_words(BASE_SEED, state)
    words = 2 if seed >> U32 else 1
    at = 1
    for turn in range(SIZE):
        part = turn % words
        key = (seed >> U32 if part else seed) & M32
        before = state[at - 1] ^ (state[at - 1] >> U30)
        state[at] = ((state[at] ^ (before * FIRST_MIX)) + key + np.uint64(part)) & M32
        at = following(state, at)
    for _ in range(SIZE - 1):
        before = state[at - 1] ^ (state[at - 1] >> U30)
        state[at] = ((state[at] ^ (before * SECOND_MIX)) - np.uint64(at)) & M32
        at = following(state, at)
    state[0] = TOP
    state[SIZE] = np.uint64(SIZE)


@KERNELS.kernel
def following(state: Any, at: int) -> int:
    """Return the index of the next word; after the last, copy it to the first and return 1."""
    if at + 1 < SIZE:
        return at + 1
    state[0] = state[SIZE - 1]
    return 1
