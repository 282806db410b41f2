"""rand() of musl, the C library of Alpine Linux: an LCG modulo 2^64 that starts from seed - 1."""

from __future__ import annotations

from weft.searches.prng.families.maps import affine_jump, plain_maps, scaled_map
from weft.searches.prng.family import OCCASIONAL, USUAL, Api, Family, State
from weft.searches.prng.forms import CompiledSeeding

MULTIPLIER = 6364136223846793005
M32, M64 = (1 << 32) - 1, (1 << 64) - 1
ONE = 1


def seeding(seed: int) -> State:
    """Return the state after srand(seed) with a seed of 32 bits."""
    return [((seed & M32) + M32) & M32]


def fill(seed: int, state: State) -> None:
    """Fill the state as `seeding` does, following the rule for steps."""
    state[0] = (seed + M32) & M32


def step(state: State) -> int:
    """Return rand(): the highest 31 bits."""
    state[0] = (state[0] * MULTIPLIER + ONE) & M64
    return state[0] >> 33


FAMILY = Family(
    name="musl",
    title="rand() of musl (Alpine Linux)",
    word_bits=31,
    state_words=1,
    state_word_bits=64,
    seed_bits=32,
    seeding=seeding,
    step=step,
    outputs={**plain_maps(step, 31), "scaled": scaled_map(step, 31)},
    jump=affine_jump(MULTIPLIER, 1, 1 << 64),
    rank=82,
    seed_form=CompiledSeeding(fill, seeds_per_ms=110_000),
    apis={
        "mod": Api("C rand() % m with musl (Alpine Linux)", USUAL),
        "scaled": Api("C rand() / (RAND_MAX + 1.0) * m with musl", OCCASIONAL),
    },
)
FAMILIES = (FAMILY,)
