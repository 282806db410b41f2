"""System.Random of .NET with a seed: Knuth's subtractive generator, with a mistake in one lag.

The state is the table of 55 words and the index of the next. Next(n) scales a double.
"""

from __future__ import annotations

from weft.searches.prng.families.maps import plain_maps
from weft.searches.prng.family import Family, State
from weft.searches.prng.forms import SubtractiveSeeding, WordReading

SIZE = 55
SIZE_WORD = 55
LAG = 21
ZERO = 0
ONE = 1
BIG = (1 << 31) - 1
FIRST = 161803398
UNIT = 1.0 / 2147483647


def seeding(seed: int) -> State:
    """Return the state after new Random(seed) with a seed of 32 bits; its sign is dropped."""
    signed = (seed & 0xFFFFFFFF) - ((seed & 0x80000000) << 1)
    table = _filled(FIRST - min(abs(signed), BIG))
    for _ in range(4):
        for at in range(1, 56):
            table[at] = _positive(_int32(table[at] - table[1 + (at + 30) % 55]))
    return [*(word & 0xFFFFFFFF for word in table[1:]), 0]


def _filled(last: int) -> list[int]:
    """Spread the differences over places 1..55; place 0 is not used."""
    table = [0] * 55 + [last]
    before, word = last, 1
    for at in range(1, 55):
        place = 21 * at % 55
        table[place] = word
        before, word = word, _positive(_int32(before - word))
    return table


def _positive(value: int) -> int:
    return value + BIG if value < 0 else value


def _int32(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def step(state: State) -> int:
    """Return Next(): 0 to 2^31 − 2."""
    place = state[55]
    other = place + LAG
    if other >= SIZE_WORD:
        other -= SIZE_WORD
    word = state[place] + BIG - state[other]
    if word >= BIG:
        word -= BIG
    if word == BIG:
        word -= ONE
    state[place] = word
    place += ONE
    if place == SIZE_WORD:
        place = ZERO
    state[55] = place
    return word


def next_bounded(state: State, modulus: int) -> int:
    """Return the draw of Next(modulus)."""
    return int(step(state) * UNIT * modulus)


FAMILY = Family(
    name="dotnet",
    title="System.Random of .NET with a seed",
    word_bits=31,
    state_words=SIZE + 1,
    state_word_bits=32,
    seed_bits=31,
    seeding=seeding,
    step=step,
    outputs={"bounded": next_bounded, **plain_maps(step, 31)},
    rank=90,
    seed_form=SubtractiveSeeding(),
    readings={
        "raw": WordReading("raw"),
        "bounded": WordReading("span", bits=31, values=BIG, sharp=False),
        "high": WordReading("span", bits=31),
        "mod": WordReading("mod", bits=31),
    },
)
FAMILIES = (FAMILY,)
