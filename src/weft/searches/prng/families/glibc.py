"""The GNU C library: rand() (TYPE_3, additive feedback), rand_r() and drand48().

rand() adds two of the last 31 words and drops a bit; its state is those words and the index of the
next. rand_r() joins three outputs of an LCG. drand48() is an LCG modulo 2^48; its `mod` is the
remainder of lrand48(), its word the 32 bits of mrand48(), unsigned. PHP before 7.1 used this rand()
and scaled it: `scaled`.
"""

from __future__ import annotations

from weft.searches.prng.families.maps import (
    additive_step,
    affine_jump,
    mod_map,
    plain_maps,
    scaled_map,
    shifted,
    word_seeding,
)
from weft.searches.prng.family import Family, State
from weft.searches.prng.forms import (
    AdditiveSeeding,
    CompiledSeeding,
    LatticeForm,
    LcgForm,
    LcgSeeding,
    WordReading,
)

DEGREE = 31
SEPARATION = 3
WARM_UP = 310
M31 = 0x7FFFFFFF
M32 = 0xFFFFFFFF
SCHRAGE_Q = 127773
FILL_MULTIPLIER = 16807
FILL_REST = 2836

MULTIPLIER_R = 1103515245
INCREMENT_R = 12345
M10 = 0x3FF
M11 = 0x7FF

MULTIPLIER_48 = 0x5DEECE66D
INCREMENT_48 = 0xB
LOW_SEED_48 = 0x330E
M48 = (1 << 48) - 1
UNIT_48 = 2.0**-48


def seeding(seed: int) -> State:
    """Return the state after srand(seed): fill by Schrage's form of minstd, then run 310 steps."""
    word = seed & M32 or 1
    word -= (word >> 31) << 32  # the fill treats the seed as signed
    words = [word]
    for _ in range(DEGREE - 1):
        quotient = int(abs(word) // SCHRAGE_Q) * (1 if word >= 0 else -1)
        rest = word - quotient * SCHRAGE_Q
        word = FILL_MULTIPLIER * rest - FILL_REST * quotient
        word += M31 if word < 0 else 0
        words.append(word)
    state = [*(value & M32 for value in words), SEPARATION]
    for _ in range(WARM_UP):
        step(state)
    return state


step = additive_step(DEGREE, SEPARATION)
"""Returns the 31 bits of rand()."""


def step_r(state: State) -> int:
    """Return rand_r(): 11, 10 and 10 bits of three steps of an LCG."""
    first = (state[0] * MULTIPLIER_R + INCREMENT_R) & M32
    second = (first * MULTIPLIER_R + INCREMENT_R) & M32
    third = (second * MULTIPLIER_R + INCREMENT_R) & M32
    state[0] = third
    high = (first >> 16 & M11) << 20
    return high ^ (second >> 16 & M10) << 10 ^ third >> 16 & M10


def seeding_48(seed: int) -> State:
    """Return the state after srand48(seed): 32 bits above a constant."""
    return [(seed & M32) << 16 | LOW_SEED_48]


def step_48(state: State) -> int:
    """Return mrand48(), unsigned."""
    state[0] = (state[0] * MULTIPLIER_48 + INCREMENT_48) & M48
    return state[0] >> 16


def drand48_scaled(state: State, modulus: int) -> int:
    """Return the draw of (int) (drand48() * modulus)."""
    state[0] = (state[0] * MULTIPLIER_48 + INCREMENT_48) & M48
    return int(state[0] * UNIT_48 * modulus)


RAND = Family(
    name="glibc",
    title="rand() and random() of the GNU C library",
    word_bits=31,
    state_words=DEGREE + 1,
    state_word_bits=32,
    seed_bits=32,
    seeding=seeding,
    step=step,
    outputs={**plain_maps(step, 31), "scaled": scaled_map(step, 31)},
    aliases=("php_rand_70",),
    common=True,
    rank=50,
    seed_form=AdditiveSeeding(SEPARATION, WARM_UP),
    readings={
        "mod": WordReading("mod", dropped=1, bits=31),
        "high": WordReading("span", dropped=1, bits=31),
        "scaled": WordReading("span", dropped=1, bits=31),
    },
)
RAND_R = Family(
    name="glibc_rand_r",
    title="rand_r() of the GNU C library",
    word_bits=31,
    state_words=1,
    state_word_bits=32,
    seed_bits=32,
    seeding=word_seeding(32),
    step=step_r,
    outputs={**plain_maps(step_r, 31), "scaled": scaled_map(step_r, 31)},
    jump=affine_jump(MULTIPLIER_R, INCREMENT_R, 1 << 32, steps_each=3),
    rank=50,
    seed_form=CompiledSeeding(),
)
DRAND48 = Family(
    name="drand48",
    title="drand48() and lrand48() of C libraries",
    word_bits=32,
    state_words=1,
    state_word_bits=48,
    seed_bits=32,
    seeding=seeding_48,
    step=step_48,
    outputs={
        "scaled": drand48_scaled,
        **plain_maps(step_48, 32),
        "mod": mod_map(shifted(step_48, 1)),
    },
    jump=affine_jump(MULTIPLIER_48, INCREMENT_48, 1 << 48),
    lcg_forms=(LcgForm("drand48", "mod", MULTIPLIER_48, INCREMENT_48, dropped=17, width=31),),
    rank=50,
    lattice_forms=(
        LatticeForm("high", "span", MULTIPLIER_48, INCREMENT_48, 1 << 48),
        LatticeForm("scaled", "span", MULTIPLIER_48, INCREMENT_48, 1 << 48, edge=1),
    ),
    seed_form=LcgSeeding(MULTIPLIER_48, INCREMENT_48, 48, place=16, below=LOW_SEED_48),
    readings={
        "mod": WordReading("mod", dropped=1, bits=31),
        "high": WordReading("span"),
        "scaled": WordReading("span", sharp=False),
    },
)
FAMILIES = (RAND, RAND_R, DRAND48)
