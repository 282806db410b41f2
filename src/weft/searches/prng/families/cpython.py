"""CPython's `random`: MT19937 seeded by the 32-bit words of an integer (init_by_array).

randrange(n) takes as many high bits of a word as n has and draws again until they are below n.
random() joins two words into 53 bits.
"""

from __future__ import annotations

from weft.searches.prng.bit_forms import TwisterForm
from weft.searches.prng.families import mt19937
from weft.searches.prng.families.maps import plain_maps, scaled_pair_map
from weft.searches.prng.families.mt19937 import step
from weft.searches.prng.family import Family, State
from weft.searches.prng.forms import TwisterSeeding

SIZE = 624
M32 = 0xFFFFFFFF
ONE = 1
ZERO = 0
WORD_BITS = 32
BASE_SEED = 19650218
FIRST_MULTIPLIER = 1664525
SECOND_MULTIPLIER = 1566083941


def seeding(seed: int) -> State:
    """Return the state after random.seed(seed) with an integer: only its sign is dropped."""
    seed = abs(seed)
    count = max(1, -(-seed.bit_length() // 32))
    return by_array([seed >> (32 * at) & M32 for at in range(count)])


def by_array(key: list[int]) -> State:
    """Mix the words of a key into the block (init_by_array of 2002)."""
    words = mt19937.seeding(BASE_SEED)[:SIZE]
    at = 1
    for turn in range(max(SIZE, len(key))):
        part = turn % len(key)
        before = words[at - 1] ^ (words[at - 1] >> 30)
        words[at] = ((words[at] ^ (before * FIRST_MULTIPLIER)) + key[part] + part) & M32
        at = _following(words, at)
    for _ in range(SIZE - 1):
        before = words[at - 1] ^ (words[at - 1] >> 30)
        words[at] = ((words[at] ^ (before * SECOND_MULTIPLIER)) - at) & M32
        at = _following(words, at)
    return [1 << 31, *words[1:], SIZE]


def _following(words: list[int], at: int) -> int:
    """Return the index of the next word; after the last, copy it to the first and return 1."""
    if at + 1 < SIZE:
        return at + 1
    words[0] = words[SIZE - 1]
    return 1


def randrange(state: State, modulus: int) -> int:
    """Return the draw of random.randrange(modulus)."""
    dropped = WORD_BITS
    rest = modulus
    while rest > ZERO:
        rest >>= ONE
        dropped -= ONE
    word = step(state) >> dropped
    while word >= modulus:
        word = step(state) >> dropped
    return word


FAMILY = Family(
    name="cpython",
    title="CPython random, seeded with an integer",
    word_bits=32,
    state_words=SIZE + 1,
    state_word_bits=32,
    seed_bits=64,
    seeding=seeding,
    step=step,
    outputs={"bounded": randrange, **plain_maps(step, 32), "scaled": scaled_pair_map(step)},
    common=True,
    rank=40,
    twister=TwisterForm(
        outputs={"mod": mt19937.LOW, "high": mt19937.HIGH, "scaled": mt19937.HIGH_OF_PAIR},
        rejecting={"bounded": "high"},
    ),
    seed_form=TwisterSeeding(by_array=True),
    readings=mt19937.FAMILY.readings,
)
FAMILIES = (FAMILY,)
