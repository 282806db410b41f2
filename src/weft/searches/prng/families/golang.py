"""math/rand of Go: an additive lagged Fibonacci generator, x[n] = x[n−607] + x[n−273].

The state is the 607 words and the index of the next. Seeding XORs the words with a table that is
itself the state of the generator after 7.8 · 10^12 steps; `cooked` computes it with polynomials.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from weft.searches.prng.families.maps import M32, TWO32, ceiling_map, mod_map, plain_maps
from weft.searches.prng.family import Family, State
from weft.searches.prng.forms import SaltedSeeding, WordReading

LENGTH = 607
LENGTH_WORD = 607
TAP = 273
ZERO = 0
ONE = 1
M31 = (1 << 31) - 1
M63 = (1 << 63) - 1
M64 = (1 << 64) - 1
TWO31 = 1 << 31
UNIT_63 = 2.0**-63
WHOLE = 1.0
FILL_MULTIPLIER = 48271
FOR_ZERO = 89482311
WARM_UP = 20
COOKED_STEPS = 7_800_000_000_000
PACKED = 144
"""Bits that hold a sum of 607 products of 64-bit numbers."""


def seeding(seed: int) -> State:
    """Return the state after rand.NewSource(seed); seeds equal modulo 2^31 − 1 give one state."""
    signed = (seed & M64) - ((seed & 1 << 63) << 1)
    words = _filled(signed % M31 or FOR_ZERO, 40, 20)
    return [*(word ^ salt for word, salt in zip(words, cooked(), strict=True)), LENGTH - TAP]


def _filled(value: int, high: int, middle: int) -> list[int]:
    """Return words that are each three outputs of minstd, shifted and XORed."""
    words = []
    for _ in range(WARM_UP):
        value = value * FILL_MULTIPLIER % M31
    for _ in range(LENGTH):
        first = value * FILL_MULTIPLIER % M31
        second = first * FILL_MULTIPLIER % M31
        value = second * FILL_MULTIPLIER % M31
        words.append((first << high ^ second << middle ^ value) & M64)
    return words


@lru_cache(maxsize=1)
def cooked() -> tuple[int, ...]:
    """Return the table: the state from seed 1 after COOKED_STEPS steps."""
    table = _filled(1, 20, 10)
    order = [(LENGTH - TAP - 1 - at) % LENGTH for at in range(LENGTH)]
    sequence = [table[place] for place in order]
    for at in range(LENGTH):
        sequence.append((sequence[at] + sequence[at + LENGTH - TAP]) & M64)
    factors = _power_of_x(COOKED_STEPS)
    turned = COOKED_STEPS % LENGTH
    for at in range(LENGTH):
        total = sum(factors[k] * sequence[at + k] for k in range(LENGTH))
        table[order[(at + turned) % LENGTH]] = total & M64
    return tuple(table)


def _power_of_x(exponent: int) -> list[int]:
    """Return x^exponent modulo x^607 − x^334 − 1, coefficients modulo 2^64."""
    result = [1] + [0] * (LENGTH - 1)
    for bit in bin(exponent)[2:]:
        product = _squared(result)
        result = _reduced([0, *product] if bit == "1" else product)
    return result


def _squared(factors: list[int]) -> list[int]:
    """Square a polynomial as one large integer, with a separate field for each coefficient."""
    size = PACKED // 8
    packed = b"".join(factor.to_bytes(size, "little") for factor in factors)
    square = (int.from_bytes(packed, "little") ** 2).to_bytes(2 * LENGTH * size, "little")
    ends = range(0, (2 * LENGTH - 1) * size, size)
    return [int.from_bytes(square[at : at + size], "little") & M64 for at in ends]


def _reduced(factors: list[int]) -> list[int]:
    """Replace high powers: x^n = x^(n−273) + x^(n−607)."""
    factors = list(factors)
    for power in range(len(factors) - 1, LENGTH - 1, -1):
        factors[power - TAP] += factors[power]
        factors[power - LENGTH] += factors[power]
    return [factor & M64 for factor in factors[:LENGTH]]


def step(state: State) -> int:
    """Return Uint64()."""
    feed = state[607]
    feed = LENGTH_WORD - ONE if feed == ZERO else feed - ONE
    tap = feed + TAP
    if tap >= LENGTH_WORD:
        tap -= LENGTH_WORD
    state[feed] = (state[feed] + state[tap]) & M64
    state[607] = feed
    return state[feed]


def int63(state: State) -> int:
    """Return Int63(), which is Int() on 64-bit machines."""
    return step(state) & M63


def int31(state: State) -> int:
    """Return Int31()."""
    return step(state) >> 32 & M31


def scaled(state: State, modulus: int) -> int:
    """Return the draw of int(Float64() * modulus); 63 bits that round up to 1 are drawn again."""
    unit = int63(state) * UNIT_63
    while unit == WHOLE:
        unit = int63(state) * UNIT_63
    return int(unit * modulus)


def int31n(state: State, modulus: int) -> int:
    """Return the draw of Shuffle's internal int31n: Lemire's method on 32 bits of Int63()."""
    product = (step(state) >> 31 & M32) * modulus
    while product & M32 < TWO32 % modulus:
        product = (step(state) >> 31 & M32) * modulus
    return product >> 32


FAMILY = Family(
    name="go",
    title="math/rand of Go, with a seed",
    word_bits=64,
    state_words=LENGTH + 1,
    state_word_bits=64,
    seed_bits=31,
    seeding=seeding,
    step=step,
    outputs={
        "bounded": ceiling_map(int31, TWO31),
        **plain_maps(step, 64),
        "mod": mod_map(int63),
        "scaled": scaled,
    },
    rank=100,
    seed_form=SaltedSeeding(FILL_MULTIPLIER, WARM_UP, LENGTH, TAP, cooked),
    readings={
        "bounded": WordReading("mod", dropped=1, bits=31, moved=1),
        "scaled": WordReading("span", sharp=False, moved=1),
        "high": WordReading("span", sharp=False),
    },
)
SHUFFLING = replace(
    FAMILY, outputs={"int31n": int31n}, readings={"int31n": WordReading("span", moved=1)}
)
"""The generator with int31n, which callers cannot name; the sieve of shuffles uses it."""
FAMILIES = (FAMILY,)
