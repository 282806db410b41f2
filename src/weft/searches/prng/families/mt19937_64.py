"""MT19937-64 of Nishimura and Matsumoto (2004), C++ std::mt19937_64.

The state is the block of 312 words and the index of the next one. A word is computed on demand: the
recurrence in place gives the same words one by one as a block at a time.
"""

from __future__ import annotations

from weft.searches.prng.families.maps import masked_map, plain_maps
from weft.searches.prng.family import SELDOM, USUAL, Api, Family, State
from weft.searches.prng.forms import WideTwisterSeeding

SIZE = 312
SIZE_WORD = 312
FAR = 156
ZERO = 0
ONE = 1
M32 = (1 << 32) - 1
M64 = (1 << 64) - 1
UPPER = 0xFFFFFFFF80000000
LOWER = 0x7FFFFFFF
MATRIX = 0xB5026F5AA96619E9
TEMPER_A = 0x5555555555555555
TEMPER_B = 0x71D67FFFEDA60000
TEMPER_C = 0xFFF7EEE000000000
INIT = 6364136223846793005


def seeding(seed: int) -> State:
    """Fill the block from 64 bits (init_genrand64)."""
    words = [seed & M64]
    for at in range(1, SIZE):
        words.append((INIT * (words[-1] ^ (words[-1] >> 62)) + at) & M64)
    return [*words, SIZE]


def step(state: State) -> int:
    """Return the next 64 bits."""
    at = state[312]
    if at == SIZE_WORD:
        at = ZERO
    following = at + ONE if at + ONE < SIZE_WORD else ZERO
    far = at + FAR if at + FAR < SIZE_WORD else at + FAR - SIZE_WORD
    joined = (state[at] & UPPER) | (state[following] & LOWER)
    word = state[far] ^ (joined >> 1) ^ ((joined & ONE) * MATRIX)
    state[at] = word
    state[312] = at + ONE
    word ^= (word >> 29) & TEMPER_A
    word ^= (word << 17) & TEMPER_B
    word ^= (word << 37) & TEMPER_C
    return word ^ (word >> 43)


def multiply_and_reject(state: State, modulus: int) -> int:
    """Return the draw of std::uniform_int_distribution in libstdc++ 11 and later (Lemire 2019)."""
    word = step(state)
    low = word * modulus & M64
    if low < modulus:
        least = (M64 - modulus + ONE) % modulus
        while low < least:
            word = step(state)
            low = word * modulus & M64
    return ((word >> 32) * modulus + ((word & M32) * modulus >> 32)) >> 32


FAMILY = Family(
    name="mt19937_64",
    title="MT19937-64 (C++ std::mt19937_64)",
    word_bits=64,
    state_words=SIZE + 1,
    state_word_bits=64,
    seed_bits=64,
    seeding=seeding,
    step=step,
    outputs={**plain_maps(step, 64), "bounded": multiply_and_reject, "masked": masked_map(step)},
    rank=21,
    seed_form=WideTwisterSeeding({"mod": "remainder", "bounded": "high", "high": "high",
                                  "masked": "low"}),
    apis={
        "bounded": Api("C++ uniform_int_distribution with mt19937_64", USUAL),
        "mod": Api("C++ mt19937_64() % m", USUAL),
        "masked": Api("C++ uniform_int_distribution with mt19937_64 and libc++", SELDOM),
    },
)  # fmt: skip
FAMILIES = (FAMILY,)
