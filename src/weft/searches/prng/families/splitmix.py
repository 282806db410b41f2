"""splitmix64 (Steele, Lea and Flood 2014), the generator of Java's SplittableRandom.

It hashes a counter with an odd increment. Other generators take their first states from it:
`expand`.
"""

from __future__ import annotations

from weft.searches.prng.families.maps import plain_maps, scaled_map, shifted, word_seeding
from weft.searches.prng.family import OCCASIONAL, USUAL, Api, Family, State
from weft.searches.prng.forms import CompiledSeeding

M64 = (1 << 64) - 1
GAP = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB
SHORT_MIX_1, SHORT_MIX_2 = 0x62A9D9ED799705F5, 0xCB24D0A5C88C35B3
ONE, ZERO = 1, 0
TWO31 = 1 << 31


seeding = word_seeding(64)


def fill(seed: int, state: State) -> None:
    """Fill the state as `seeding` does, following the rule for steps."""
    state[0] = seed


def step(state: State) -> int:
    """Return the next 64 bits."""
    state[0] = (state[0] + GAP) & M64
    return mixed(state[0])


def mixed(word: int) -> int:
    """Return the hash of a counter."""
    word = ((word ^ (word >> 30)) * MIX_1) & M64
    word = ((word ^ (word >> 27)) * MIX_2) & M64
    return word ^ (word >> 31)


def jump(state: State, steps: int) -> None:
    """Advance the counter by `steps` increments."""
    state[0] = (state[0] + GAP * steps) & M64


def expand(seed: int, count: int) -> State:
    """Return the first outputs from a seed: the state of a larger generator."""
    source = seeding(seed)
    return [step(source) for _ in range(count)]


FAMILY = Family(
    name="splitmix64",
    title="splitmix64 (Java SplittableRandom)",
    word_bits=64,
    state_words=1,
    state_word_bits=64,
    seed_bits=64,
    seeding=seeding,
    step=step,
    outputs={**plain_maps(step, 64), "scaled": scaled_map(shifted(step, 11), 53)},
    jump=jump,
    rank=150,
    seed_form=CompiledSeeding(fill, seeds_per_ms=110_000),
)


def mixed_short(word: int) -> int:
    """Return the shorter hash of a counter, of 32 bits."""
    word = ((word ^ (word >> 33)) * SHORT_MIX_1) & M64
    word = ((word ^ (word >> 28)) * SHORT_MIX_2) & M64
    return word >> 32


def step_short(state: State) -> int:
    """Return the 32 bits of SplittableRandom.nextInt()."""
    state[0] = (state[0] + GAP) & M64
    return mixed_short(state[0])


def next_int(state: State, modulus: int) -> int:
    """Return the draw of SplittableRandom.nextInt(modulus)."""
    if modulus & (modulus - ONE) == ZERO:
        return step_short(state) & (modulus - ONE)
    value = step_short(state) >> 1
    while value - value % modulus + modulus > TWO31:
        value = step_short(state) >> 1
    return value % modulus


SPLITTABLE = Family(
    name="java_splittable",
    title="java.util.SplittableRandom, with a seed",
    word_bits=32,
    state_words=1,
    state_word_bits=64,
    seed_bits=64,
    seeding=seeding,
    step=step_short,
    outputs={
        "bounded": next_int,
        "scaled": scaled_map(shifted(step, 11), 53),
        **plain_maps(step_short, 32),
    },
    jump=jump,
    rank=92,
    seed_form=CompiledSeeding(fill, seeds_per_ms=110_000),
    apis={
        "bounded": Api("Java SplittableRandom.nextInt(m)", USUAL),
        "scaled": Api("Java (int) (SplittableRandom.nextDouble() * m)", OCCASIONAL),
    },
)
FAMILIES = (FAMILY, SPLITTABLE)
