"""java.util.Random: a linear congruential generator modulo 2^48, as the JDK documents it.

nextInt(bound) takes 31 bits: the high ones if the bound is a power of two, else a remainder that is
drawn again if it would favour small values.
"""

from __future__ import annotations

from weft.searches.prng.families.maps import affine_jump, high_map, raw_map
from weft.searches.prng.family import Family, State
from weft.searches.prng.forms import LatticeForm, LcgForm, LcgSeeding, WordReading
from weft.searches.prng.linear import affine_power

MULTIPLIER = 0x5DEECE66D
INCREMENT = 0xB
MASK48 = (1 << 48) - 1
DROPPED = 16
MODULUS = 1 << 48
ZERO = 0
ONE = 1
TWO31 = 1 << 31
TWO32 = 1 << 32
TWO63 = 1 << 63
M64 = (1 << 64) - 1
TWO53_INVERSE = 2.0**-53


def seeding(seed: int) -> State:
    """Scramble a seed as the constructor does; only its low 48 bits matter."""
    return [(seed ^ MULTIPLIER) & MASK48]


def step(state: State) -> int:
    """Return next(32), unsigned."""
    state[0] = (state[0] * MULTIPLIER + INCREMENT) & MASK48
    return state[0] >> DROPPED


def next_int(state: State, bound: int) -> int:
    """Return the draw of nextInt(bound)."""
    if bound & (bound - ONE) == ZERO:
        return (bound * (step(state) >> 1)) >> 31
    while True:
        bits = step(state) >> 1
        value = bits % bound
        if bits - value + bound <= TWO31:
            return value


def next_int_mod(state: State, modulus: int) -> int:
    """Return the draw of Math.floorMod(nextInt(), modulus)."""
    word = step(state)
    if word < TWO31:
        return word % modulus
    return (word % modulus + modulus - TWO32 % modulus) % modulus


def next_int_abs(state: State, modulus: int) -> int:
    """Return the draw of Math.abs(nextInt()) % modulus; -2^31, which stays negative, is ignored."""
    word = step(state)
    if word < TWO31:
        return word % modulus
    return (TWO32 - word) % modulus


def next_long_abs(state: State, modulus: int) -> int:
    """Return the draw of Math.abs(nextLong() % modulus)."""
    word = next_long(state)
    if word < TWO63:
        return word % modulus
    return ((M64 - word) + ONE) % modulus


def next_long_mod(state: State, modulus: int) -> int:
    """Return the draw of Math.floorMod(nextLong(), modulus)."""
    word = next_long(state)
    if word < TWO63:
        return word % modulus
    return (word % modulus + modulus - (M64 % modulus + ONE) % modulus) % modulus


def next_long(state: State) -> int:
    """Return the 64 bits of nextLong(): two outputs, the second of which is signed."""
    high = step(state) << 32
    low = step(state)
    if low < TWO31:
        return high + low
    return (high + low - TWO32) & M64


def next_double_scaled(state: State, modulus: int) -> int:
    """Return the draw of (int) (nextDouble() * modulus), in the arithmetic of doubles."""
    high = step(state) >> 6
    low = step(state) >> 5
    return int(((high << 27) + low) * TWO53_INVERSE * modulus)


def _long_form(output: str, *, absolute: bool = False) -> LcgForm:
    """Return the form of a nextLong() map: two steps per call, the second for the low word."""
    back = pow(MULTIPLIER, -1, MODULUS)
    return LcgForm(
        "java", output, *affine_power(MULTIPLIER, INCREMENT, 2, MODULUS), dropped=16, width=32,
        signed=True, absolute=absolute, high_word=(back, -INCREMENT * back % MODULUS),
    )  # fmt: skip


FAMILY = Family(
    name="java",
    title="java.util.Random",
    word_bits=32,
    state_words=1,
    state_word_bits=48,
    seed_bits=48,
    seeding=seeding,
    step=step,
    outputs={
        "bounded": next_int,
        "mod": next_int_mod,
        "long": next_long_mod,
        "abs": next_int_abs,
        "abslong": next_long_abs,
        "scaled": next_double_scaled,
        "high": high_map(step, 32),
        "raw": raw_map(step),
    },
    jump=affine_jump(MULTIPLIER, INCREMENT, MODULUS),
    common=True,
    rank=10,
    lcg_forms=(
        LcgForm("java", "bounded", MULTIPLIER, INCREMENT, dropped=17, width=31, rejects=True),
        LcgForm("java", "mod", MULTIPLIER, INCREMENT, dropped=16, width=32, signed=True),
        LcgForm(
            "java", "abs", MULTIPLIER, INCREMENT, dropped=16, width=32, signed=True, absolute=True
        ),
        _long_form("long"),
        _long_form("abslong", absolute=True),
    ),
    lattice_forms=(
        LatticeForm("high", "span", MULTIPLIER, INCREMENT, MODULUS),
        LatticeForm("scaled", "span", MULTIPLIER, INCREMENT, MODULUS, steps=2, edge=1 << 22),
        LatticeForm("bounded", "span", MULTIPLIER, INCREMENT, MODULUS, powers_of_two_only=True),
    ),
    seed_form=LcgSeeding(MULTIPLIER, INCREMENT, 48, scramble=MULTIPLIER),
    readings={
        "raw": WordReading("raw"),
        "high": WordReading("span"),
        "mod": WordReading("mod", signed=True),
        "bounded": WordReading(
            "mod", dropped=1, bits=31, for_powers_of_two=WordReading("span", dropped=1, bits=31)
        ),
        "scaled": WordReading("span", dropped=6, bits=26, steps=2, sharp=False),
    },
)
FAMILIES = (FAMILY,)
