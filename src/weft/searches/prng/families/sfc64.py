"""sfc64 of Doty-Humphrey (PractRand): three words mixed with a counter.

The seed fills each of the three words, the counter starts at 1, and twelve outputs are discarded.
"""

from __future__ import annotations

from weft.searches.prng.families.maps import plain_maps, scaled_map, shifted
from weft.searches.prng.family import Family, State
from weft.searches.prng.forms import CompiledSeeding

M64 = (1 << 64) - 1
ONE = 1
WARM_UP = 12


def seeding(seed: int) -> State:
    """Fill and warm up as PractRand does with one 64-bit seed."""
    state = [seed & M64, seed & M64, seed & M64, 1]
    for _ in range(WARM_UP):
        step(state)
    return state


def fill(seed: int, state: State) -> None:
    """Fill the state as `seeding` does, following the rule for steps."""
    state[0] = state[1] = state[2] = seed
    state[3] = ONE
    for _ in range(12):
        step(state)


def step(state: State) -> int:
    """Return the next 64 bits."""
    word = (state[0] + state[1] + state[3]) & M64
    turned = state[2]
    state[3] = state[3] + ONE & M64
    state[0] = state[1] ^ state[1] >> 11
    state[1] = turned + (turned << 3) & M64
    state[2] = ((turned << 24) & M64 | turned >> 40) + word & M64
    return word


FAMILY = Family(
    name="sfc64",
    title="sfc64",
    word_bits=64,
    state_words=4,
    state_word_bits=64,
    seed_bits=64,
    seeding=seeding,
    step=step,
    outputs={**plain_maps(step, 64), "scaled": scaled_map(shifted(step, 11), 53)},
    rank=140,
    seed_form=CompiledSeeding(fill),
)
FAMILIES = (FAMILY,)
