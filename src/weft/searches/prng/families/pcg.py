"""pcg32 of O'Neill (2014): an LCG modulo 2^64 whose output is shifted and rotated.

The state is the word and the increment. A seed gives `pcg32 rng(seed)` of the C++ library, that is,
pcg32_srandom_r(seed, 721347520444481703) in C.
"""

from __future__ import annotations

from weft.searches.prng.families.maps import plain_maps, scaled_map, threshold_map
from weft.searches.prng.family import Family, State
from weft.searches.prng.forms import CompiledSeeding
from weft.searches.prng.linear import affine_power

MULTIPLIER = 6364136223846793005
INCREMENT = 1442695040888963407
M32 = (1 << 32) - 1
M64 = (1 << 64) - 1
WORD_BITS = 32
TURN = 31


def seeding(seed: int) -> State:
    """Add the seed to the increment and take a step."""
    return [((seed + INCREMENT) * MULTIPLIER + INCREMENT) & M64, INCREMENT]


def step(state: State) -> int:
    """Return the next 32 bits, computed from the state before the step."""
    old = state[0]
    state[0] = (old * MULTIPLIER + state[1]) & M64
    word = ((old >> 18 ^ old) >> 27) & M32
    places = old >> 59
    return (word >> places | word << ((WORD_BITS - places) & TURN)) & M32


def jump(state: State, steps: int) -> None:
    """Raise the affine map to the power of `steps`."""
    multiplier, increment = affine_power(MULTIPLIER, state[1], steps, 1 << 64)
    state[0] = (state[0] * multiplier + increment) & M64


FAMILY = Family(
    name="pcg32",
    title="pcg32 (XSH RR)",
    word_bits=32,
    state_words=2,
    state_word_bits=64,
    seed_bits=64,
    seeding=seeding,
    step=step,
    outputs={
        "bounded": threshold_map(step),
        **plain_maps(step, 32),
        "scaled": scaled_map(step, 32),
    },
    jump=jump,
    rank=120,
    seed_form=CompiledSeeding(),
)
FAMILIES = (FAMILY,)
