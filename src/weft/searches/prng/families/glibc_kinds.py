"""random() of the GNU C library with other states: initstate() of 8, 32, 64 and 256 bytes.

TYPE_0 is a congruential generator; TYPE_1, 2 and 4 add two of the last 7, 15 and 63 words, as
rand() (TYPE_3) does with 31. The older random() of FreeBSD and macOS has the same types but fills
its state differently and is not covered.
"""

from __future__ import annotations

from collections.abc import Callable

from weft.searches.prng.families.maps import (
    additive_step,
    affine_jump,
    plain_maps,
    scaled_map,
)
from weft.searches.prng.family import SELDOM, Api, Family, Seeding, State, Step
from weft.searches.prng.forms import CompiledSeeding, LcgForm

MULTIPLIER, INCREMENT = 1103515245, 12345
M31 = 0x7FFFFFFF
M32 = 0xFFFFFFFF
TWO32 = 1 << 32
TOP = 31
FILL_MULTIPLIER = 16807
ZERO = 0
ONE = 1


def seeding_0(seed: int) -> State:
    """Return the state after srandom_r(seed) with a state of one word; 0 counts as 1."""
    return [seed & M32 or 1]


def step_0(state: State) -> int:
    """Return 31 bits."""
    state[0] = (state[0] * MULTIPLIER + INCREMENT) & M31
    return state[0]


def additive(degree: int, lag: int) -> tuple[Callable[[int, State], None], Seeding, Step]:
    """Return fill, seeding and step of a type that adds two of the last `degree` words."""
    size, warm_up = degree, 10 * degree
    step = additive_step(degree, lag)

    def fill(seed: int, state: State) -> None:
        word = seed & M32
        if word == ZERO:
            word = ONE
        state[0] = word
        if word >> TOP == ONE:  # the fill treats the seed as signed
            word = M31 + M31 + M31 - (TWO32 - word)
        at = ONE
        while at < size:
            word = word * FILL_MULTIPLIER % M31
            state[at] = word
            at += ONE
        state[size] = lag
        at = ZERO
        while at < warm_up:
            step(state)
            at += ONE

    def seeding(seed: int) -> State:
        state = [0] * (size + 1)
        fill(seed, state)
        return state

    return fill, seeding, step


def _family(kind: int, degree: int, lag: int, seeds_per_ms: int, bytes_: int) -> Family:
    fill, seeding, step = additive(degree, lag)
    return Family(
        name=f"glibc_type{kind}",
        title=f"random() of the GNU C library, TYPE_{kind}",
        word_bits=31,
        state_words=degree + 1,
        state_word_bits=32,
        seed_bits=32,
        seeding=seeding,
        step=step,
        outputs={**plain_maps(step, 31), "scaled": scaled_map(step, 31)},
        rank=51,
        seed_form=CompiledSeeding(fill, seeds_per_ms),
        apis={"mod": Api(f"C random() % m with glibc after initstate of {bytes_} bytes", SELDOM)},
    )


TYPE_0 = Family(
    name="glibc_type0",
    title="random() of the GNU C library, TYPE_0",
    word_bits=31,
    state_words=1,
    state_word_bits=32,
    seed_bits=32,
    seeding=seeding_0,
    step=step_0,
    outputs={**plain_maps(step_0, 31), "scaled": scaled_map(step_0, 31)},
    jump=affine_jump(MULTIPLIER, INCREMENT, 1 << 31),
    lcg_forms=(LcgForm("glibc_type0", "mod", MULTIPLIER, INCREMENT, dropped=0, width=31),),
    rank=51,
    seed_form=CompiledSeeding(seeds_per_ms=30_000),
    apis={"mod": Api("C random() % m with glibc after initstate of 8 bytes", SELDOM)},
)
FAMILIES = (
    TYPE_0,
    _family(1, 7, 3, 12_000, 32),
    _family(2, 15, 1, 5_000, 64),
    _family(4, 63, 1, 1_200, 256),
)
