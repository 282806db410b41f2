"""MT19937 of Matsumoto and Nishimura (1998), as in C++, NumPy's RandomState and Ruby.

The state is the block of 624 words and the index of the next one, as in Python's
`random.getstate()`: index 624 means that the block is used up, and the next step twists it. Seeds
are those of init_genrand. `php` and `cpython` build on this module.
"""

from __future__ import annotations

from collections.abc import Callable

from weft.searches.prng.bit_forms import BitReading, TwisterForm
from weft.searches.prng.families.maps import masked_map, plain_maps, scaled_pair_map
from weft.searches.prng.family import Family, State, Step
from weft.searches.prng.forms import TwisterSeeding, WordReading

SIZE = 624
SIZE_WORD = 624
ONE = 1
M32 = 0xFFFFFFFF
UPPER = 0x80000000
LOWER = 0x7FFFFFFF
MATRIX = 0x9908B0DF
TEMPER_B = 0x9D2C5680
TEMPER_C = 0xEFC60000
INIT = 1812433253
FIRST = 0


def seeding(seed: int) -> State:
    """Fill the block from the low 32 bits of a seed (init_genrand of 2002)."""
    words = [seed & M32]
    for at in range(1, SIZE):
        words.append((INIT * (words[-1] ^ (words[-1] >> 30)) + at) & M32)
    return [*words, SIZE]


def mixed(word: int, following: int) -> int:
    """Return the mix of two neighbours: the upper bit of one, the lower bits of the other."""
    joined = (word & UPPER) | (following & LOWER)
    return (joined >> 1) ^ ((following & ONE) * MATRIX)


def temper(word: int) -> int:
    """Return the output of a word of the block; tempering can be undone."""
    word ^= word >> 11
    word ^= (word << 7) & TEMPER_B
    word ^= (word << 15) & TEMPER_C
    return word ^ (word >> 18)


def twister(mix: Callable[[int, int], int]) -> Step:
    """Return the step of a twister that mixes neighbours by `mix`."""

    def twist(state: State) -> None:
        """Compute the next block of the recurrence in place."""
        for at in range(227):
            state[at] = state[at + 397] ^ mix(state[at], state[at + 1])
        for at in range(227, 623):
            state[at] = state[at - 227] ^ mix(state[at], state[at + 1])
        state[623] = state[396] ^ mix(state[623], state[0])

    def step(state: State) -> int:
        """Return the next 32 bits."""
        if state[624] == SIZE_WORD:
            twist(state)
            state[624] = FIRST
        word = state[state[624]]
        state[624] += ONE
        return temper(word)

    return step


step = twister(mixed)


def multiply_and_reject(state: State, modulus: int) -> int:
    """Return the draw of std::uniform_int_distribution in libstdc++ 11 and later (Lemire 2019)."""
    product = step(state) * modulus
    if product & M32 < modulus:
        least = (M32 - modulus + ONE) % modulus
        while product & M32 < least:
            product = step(state) * modulus
    return product >> 32


masked = masked_map(step)
"""The draw of numpy.random.RandomState.randint, of Ruby and of libc++."""


LOW, HIGH = BitReading("low", 32), BitReading("high", 32)
HIGH_OF_PAIR = BitReading("high", 32, steps=2)
FAMILY = Family(
    name="mt19937",
    title="MT19937, seeded with 32 bits (C++ std::mt19937, NumPy RandomState)",
    word_bits=32,
    state_words=SIZE + 1,
    state_word_bits=32,
    seed_bits=32,
    seeding=seeding,
    step=step,
    outputs={
        **plain_maps(step, 32),
        "bounded": multiply_and_reject,
        "masked": masked,
        "scaled": scaled_pair_map(step),
    },
    common=True,
    rank=20,
    twister=TwisterForm(
        outputs={"mod": LOW, "high": HIGH, "bounded": HIGH, "scaled": HIGH_OF_PAIR},
        rejecting={"masked": "low"},
    ),
    seed_form=TwisterSeeding(),
    readings={
        "raw": WordReading("raw"),
        "mod": WordReading("mod"),
        "high": WordReading("span"),
        "bounded": WordReading("span"),
        "scaled": WordReading("span", dropped=5, bits=27, steps=2, sharp=False),
    },
)
FAMILIES = (FAMILY,)
