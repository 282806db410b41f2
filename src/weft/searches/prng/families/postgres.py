"""setseed() and random() of PostgreSQL since 15: xoroshiro128** of Blackman and Vigna.

A seed here is the argument of setseed() in billionths: n up to 10^9 means n / 10^9, and 10^9 + n
means -n / 10^9, so all arguments with nine decimals are seeds. setseed() multiplies its argument by
2^52 - 1 and seeds splitmix64 with the integer part; its first two outputs are the state. random()
takes 52 bits. Up to version 14 it was erand48, which `drand48` covers.
"""

from __future__ import annotations

from weft.searches.prng.families.maps import plain_maps, scaled_map, shifted
from weft.searches.prng.families.splitmix import GAP, mixed
from weft.searches.prng.family import OCCASIONAL, Api, Family, State
from weft.searches.prng.forms import CompiledSeeding

BILLION = 10**9
UNITS = 1e9
WHOLE = float(2**52 - 1)
M64 = (1 << 64) - 1
ZERO = 0
FIVE = 5
NINE = 9


def fill(seed: int, state: State) -> None:
    """Fill the state as setseed() does, by the rule for steps; it holds the product at first."""
    billionths = seed if seed <= BILLION else seed - BILLION
    state[0] = int(billionths / UNITS * WHOLE)
    word = state[0]
    if seed > BILLION:
        word = (ZERO - word) & M64
    word = (word + GAP) & M64
    state[0] = mixed(word)
    state[1] = mixed((word + GAP) & M64)


def seeding(seed: int) -> State:
    """Return the state after setseed()."""
    state = [0, 0]
    fill(seed, state)
    return state


def step(state: State) -> int:
    """Return the next 64 bits: rotl(a · 5, 7) · 9."""
    first = state[0]
    both = state[1] ^ first
    five = first * FIVE & M64
    state[0] = ((first << 24) & M64 | first >> 40) ^ both ^ ((both << 16) & M64)
    state[1] = (both << 37) & M64 | both >> 27
    return ((five << 7) & M64 | five >> 57) * NINE & M64


FAMILY = Family(
    name="postgres",
    title="random() of PostgreSQL since 15, after setseed()",
    word_bits=64,
    state_words=2,
    state_word_bits=64,
    seed_bits=31,
    seeding=seeding,
    step=step,
    outputs={"scaled": scaled_map(shifted(step, 12), 52), **plain_maps(step, 64)},
    rank=116,
    seed_form=CompiledSeeding(fill, seeds_per_ms=60_000),
    apis={"scaled": Api("PostgreSQL >= 15 floor(random() * m) after setseed(x)", OCCASIONAL)},
)
FAMILIES = (FAMILY,)
