"""Math.random() of Safari and Firefox: Vigna's xorshift128+, including the sum.

Both take the low 53 bits of the sum of the two words. JavaScriptCore seeds every global object with
32 bits, so all its seeds can be tried; SpiderMonkey takes 128 bits from the system, so only its
state identifies it. V8, which omits the sum, is in `v8`.
"""

from __future__ import annotations

from weft.searches.prng.families.maps import linear_jump, plain_maps, scaled_map
from weft.searches.prng.families.splitmix import expand
from weft.searches.prng.family import USUAL, Api, Family, State
from weft.searches.prng.forms import CompiledSeeding

M64 = (1 << 64) - 1
M53 = (1 << 53) - 1
M32 = (1 << 32) - 1
ZERO = 0
ONE = 1
ALIKE = 6
"""Number of outputs after which small seeds no longer look alike."""


def seeding(seed: int) -> State:
    """Return the state that WebKit's WeakRandom has for a seed of 32 bits; 0 counts as 1."""
    state = [0, 0]
    fill(seed, state)
    return state


def fill(seed: int, state: State) -> None:
    """Fill the state as `seeding` does, following the rule for steps."""
    word = seed & M32
    if word == ZERO:
        word = ONE
    state[0] = word
    state[1] = word
    turn(state)


def turn(state: State) -> None:
    """Take one step of the linear engine."""
    first = state[0]
    second = state[1]
    first ^= (first << 23) & M64
    state[0] = second
    state[1] = first ^ second ^ (first >> 17) ^ (second >> 26)


def step(state: State) -> int:
    """Return the next 64 bits: the sum of the words."""
    turn(state)
    return (state[0] + state[1]) & M64


def step_53(state: State) -> int:
    """Return the 53 bits that Math.random() uses."""
    return step(state) & M53


SAFARI = Family(
    name="jsc",
    title="Math.random() of JavaScriptCore (Safari)",
    word_bits=64,
    state_words=2,
    state_word_bits=64,
    seed_bits=32,
    seeding=seeding,
    step=step,
    outputs={"scaled": scaled_map(step_53, 53), **plain_maps(step, 64)},
    jump=linear_jump(turn, 2, 64),
    rank=61,
    seed_form=CompiledSeeding(fill, seeds_per_ms=60_000, alike=ALIKE),
    apis={"scaled": Api("JavaScript Math.floor(Math.random() * m) in Safari", USUAL)},
)


def seeding_firefox(seed: int) -> State:
    """Spread a seed over the state; Firefox itself takes its state from the system."""
    return expand(seed, 2)


FIREFOX = Family(
    name="spidermonkey",
    title="Math.random() of SpiderMonkey (Firefox)",
    word_bits=64,
    state_words=2,
    state_word_bits=64,
    seed_bits=64,
    is_seeded=False,
    seeding=seeding_firefox,
    step=step,
    outputs={"scaled": scaled_map(step_53, 53), **plain_maps(step, 64)},
    jump=linear_jump(turn, 2, 64),
    rank=62,
    apis={"scaled": Api("JavaScript Math.floor(Math.random() * m) in Firefox", USUAL)},
)
FAMILIES = (SAFARI, FIREFOX)
