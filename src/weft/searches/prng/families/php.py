"""PHP's mt_rand in its three forms: since 7.1, from 5.2.1 to 7.0, and up to 5.2.0.

mt_rand() drops the lowest bit. The form of 5.2.1 takes the wrong neighbour's low bit in the twist;
`mt_srand($seed, MT_RAND_PHP)` still selects it. Up to 5.2.0 the block was filled by an LCG that
ignores the lowest bit of the seed. The two old forms scale to a range, the new one rejects. Since
7.1 rand() and srand() are aliases of mt_rand() and mt_srand().
"""

from __future__ import annotations

from dataclasses import replace

from weft.searches.prng.bit_forms import BitReading, TwisterForm
from weft.searches.prng.families import mt19937
from weft.searches.prng.families.maps import ceiling_map, mod_map, plain_maps, scaled_map, shifted
from weft.searches.prng.family import Draw, Family, Seeding, State, Step
from weft.searches.prng.forms import TwisterSeeding, WordReading

SIZE = 624
ONE = 1
UPPER = 0x80000000
LOWER = 0x7FFFFFFF
MATRIX = 0x9908B0DF
OLD_MULTIPLIER = 69069
M32 = 0xFFFFFFFF
TWO32 = 1 << 32


def seeding_52(seed: int) -> State:
    """Fill the block as PHP 3.0.7 to 5.2.0 did."""
    words = [(seed | 1) & M32]
    for _ in range(SIZE - 1):
        words.append(words[-1] * OLD_MULTIPLIER & M32)
    return [*words, SIZE]


def mixed_legacy(word: int, following: int) -> int:
    """Return the mix of two neighbours, with the low bit of the wrong one."""
    joined = (word & UPPER) | (following & LOWER)
    return (joined >> 1) ^ ((word & ONE) * MATRIX)


step_legacy = mt19937.twister(mixed_legacy)


SHORT = WordReading("span", dropped=1, bits=31)
LOW_OF_SHORT = BitReading("low", 32, dropped=1)
READINGS = {
    "raw": WordReading("raw"),
    "mod": WordReading("mod", dropped=1, bits=31),
    "high": WordReading("span"),
    "bounded": SHORT,
}


def _family(name: str, title: str, seeding: Seeding, step: Step, **maps: Draw) -> Family:
    """Assemble one form: remainders are of mt_rand(), `raw` and `high` of the whole word."""
    return Family(
        name=name,
        title=title,
        word_bits=32,
        state_words=SIZE + 1,
        state_word_bits=32,
        seed_bits=32,
        seeding=seeding,
        step=step,
        outputs={**plain_maps(step, 32), "mod": mod_map(shifted(step, 1)), **maps},
        rank=30,
        twister=TwisterForm(),
        seed_form=TwisterSeeding(),
        readings=READINGS,
    )


MODERN = replace(
    _family(
        "php_mt",
        "PHP mt_rand and rand since 7.1",
        mt19937.seeding,
        mt19937.step,
        bounded=ceiling_map(mt19937.step, TWO32),
        scaled=scaled_map(shifted(mt19937.step, 1), 31),
    ),
    aliases=("php_rand",),
    common=True,
    twister=TwisterForm(
        outputs={"mod": LOW_OF_SHORT, "bounded": mt19937.LOW, "scaled": mt19937.HIGH}
    ),
    readings={**READINGS, "bounded": WordReading("mod"), "scaled": SHORT},
)
LEGACY = replace(
    _family(
        "php_mt_legacy",
        "PHP mt_rand from 5.2.1 to 7.0, and MT_RAND_PHP",
        mt19937.seeding,
        step_legacy,
        bounded=scaled_map(shifted(step_legacy, 1), 31),
    ),
    twister=TwisterForm(misplaced=True, outputs={"mod": LOW_OF_SHORT, "bounded": mt19937.HIGH}),
)
FIRST_FORM = replace(  # it differs from today's only in the seeding
    _family(
        "php_mt_52",
        "PHP mt_rand up to 5.2.0",
        seeding_52,
        mt19937.step,
        bounded=scaled_map(shifted(mt19937.step, 1), 31),
    ),
    twister=TwisterForm(outputs={"mod": LOW_OF_SHORT, "bounded": mt19937.HIGH}),
    seed_form=TwisterSeeding(product=True),
)
FAMILIES = (MODERN, LEGACY, FIRST_FORM)
