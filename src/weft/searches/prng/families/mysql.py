"""RAND(seed) of MySQL and MariaDB: two words modulo 2^30 - 1, seeded by products."""

from __future__ import annotations

from weft.searches.prng.families.maps import plain_maps
from weft.searches.prng.family import OCCASIONAL, Api, Family, State
from weft.searches.prng.forms import CompiledSeeding

LARGEST = 0x3FFFFFFF
LARGEST_DOUBLE = 1073741823.0
THREE = 3
ADDED = 33
M32 = (1 << 32) - 1
FIRST_FACTOR, FIRST_ADDED, SECOND_FACTOR = 0x10001, 55555555, 0x10000001
SOURCE = "MySQL 8.0 Reference Manual, 12.6.2 Mathematical Functions, RAND(3)"


def seeding(seed: int) -> State:
    """Return the state of RAND(seed) for the low 32 bits of an integer."""
    low = seed & M32
    first = (low * FIRST_FACTOR + FIRST_ADDED) & M32
    second = (low * SECOND_FACTOR) & M32
    return [first % LARGEST, second % LARGEST]


def fill(seed: int, state: State) -> None:
    """Fill the state as `seeding` does, following the rule for steps."""
    state[0] = ((seed * FIRST_FACTOR + FIRST_ADDED) & M32) % LARGEST
    state[1] = (seed * SECOND_FACTOR & M32) % LARGEST


def step(state: State) -> int:
    """Return the word that RAND() divides by 2^30 - 1."""
    state[0] = (state[0] * THREE + state[1]) % LARGEST
    state[1] = (state[0] + state[1] + ADDED) % LARGEST
    return state[0]


def scaled(state: State, modulus: int) -> int:
    """Return the draw of FLOOR(RAND() * modulus)."""
    return int(step(state) / LARGEST_DOUBLE * modulus)


FAMILY = Family(
    name="mysql",
    title="RAND(seed) of MySQL and MariaDB",
    word_bits=30,
    state_words=2,
    state_word_bits=32,
    seed_bits=32,
    seeding=seeding,
    step=step,
    outputs={"scaled": scaled, **plain_maps(step, 30)},
    rank=115,
    seed_form=CompiledSeeding(fill, seeds_per_ms=30_000),
    apis={
        "scaled": Api("MySQL FLOOR(RAND(seed) * m)", OCCASIONAL, vectors=SOURCE),
    },
)
FAMILIES = (FAMILY,)
