"""numpy.random.default_rng(seed): PCG64 (XSL RR 128/64, O'Neill 2014) seeded by SeedSequence.

SeedSequence hashes the 32-bit words of the seed into a pool of four and draws eight words from it:
the state and the stream of PCG64. Integers below 2^32 take half a word: the low half first, the
high half at the next call. The state is that of the LCG, its increment, whether a half is left, and
that half. Integers and floats are separate maps; a program that mixes them carries a half across
calls of the other kind.
"""

from __future__ import annotations

from weft.searches.prng.families.maps import plain_maps, scaled_map, shifted
from weft.searches.prng.family import OCCASIONAL, USUAL, Api, Family, State
from weft.searches.prng.forms import CompiledSeeding

M32 = (1 << 32) - 1
M64 = (1 << 64) - 1
ZERO = 0
ONE = 1
SIXTY_FOUR = 64
INIT_A, MULT_A = 0x43B0D7E5, 0x931E8875
INIT_B, MULT_B = 0x8B51F9DD, 0x58F38DED
MIX_L, MIX_R = 0xCA01F9DD, 0x4973F715
MULTIPLIER_HIGH, MULTIPLIER_LOW = 0x2360ED051FC65DA4, 0x4385DF649FCCF645


def product_high(left: int, right: int) -> int:
    """Return the high 64 bits of the product of two words."""
    low, high = left & M32, left >> 32
    other_low, other_high = right & M32, right >> 32
    first = low * other_low
    second = high * other_low + (first >> 32)
    third = low * other_high + (second & M32)
    return (high * other_high + (second >> 32) + (third >> 32)) & M64


def advance_state(state: State) -> None:
    """Advance the LCG modulo 2^128 by one step."""
    high = product_high(state[1], MULTIPLIER_LOW)
    high += (state[1] * MULTIPLIER_HIGH & M64) + (state[0] * MULTIPLIER_LOW & M64)
    low = state[1] * MULTIPLIER_LOW & M64
    total = (low + state[3]) & M64
    carry = ONE if total < low else ZERO
    state[0] = ((high & M64) + state[2] + carry) & M64
    state[1] = total


def step(state: State) -> int:
    """Return the next 64 bits; a half word that is left stays for later."""
    advance_state(state)
    word = state[0] ^ state[1]
    places = state[0] >> 58
    if places == ZERO:
        return word
    return (word >> places | word << (SIXTY_FOUR - places)) & M64


def half(state: State) -> int:
    """Return the next 32 bits."""
    if state[4] != ZERO:
        state[4] = ZERO
        return state[5]
    word = step(state)
    state[4] = ONE
    state[5] = word >> 32
    return word & M32


def integers(state: State, modulus: int) -> int:
    """Return the draw of Generator.integers(modulus): Lemire's method on half words."""
    product = half(state) * modulus
    if product & M32 < modulus:
        least = (M32 - modulus + ONE) % modulus
        while product & M32 < least:
            product = half(state) * modulus
    return product >> 32


def seeding(seed: int) -> State:
    """Return the state after default_rng(seed) with an integer of up to 128 bits."""
    entropy = [seed >> (32 * at) & M32 for at in range(4)]
    return _pcg(_generated(_pool(entropy)))


def _pool(entropy: list[int]) -> list[int]:
    constant, pool = INIT_A, []

    def hashed(value: int) -> int:
        nonlocal constant
        value ^= constant
        constant = constant * MULT_A & M32
        value = value * constant & M32
        return value ^ value >> 16

    pool = [hashed(word) for word in entropy]
    for source in range(4):
        for target in range(4):
            if source != target:
                mixed = (MIX_L * pool[target] - MIX_R * hashed(pool[source])) & M32
                pool[target] = mixed ^ mixed >> 16
    return pool


def _generated(pool: list[int]) -> list[int]:
    constant, words = INIT_B, []
    for at in range(8):
        value = pool[at % 4] ^ constant
        constant = constant * MULT_B & M32
        value = value * constant & M32
        words.append(value ^ value >> 16)
    return words


def _pcg(words: list[int]) -> State:
    """Start the LCG: the first four words are the state, the rest the stream, high word first."""
    initial = [words[1] << 32 | words[0], words[3] << 32 | words[2]]
    stream = [words[5] << 32 | words[4], words[7] << 32 | words[6]]
    increment = ((stream[0] << 64 | stream[1]) << 1 | 1) & (M64 << 64 | M64)
    state = [0, 0, increment >> 64, increment & M64, 0, 0]
    advance_state(state)
    total = ((state[0] << 64 | state[1]) + (initial[0] << 64 | initial[1])) & (M64 << 64 | M64)
    state[0], state[1] = total >> 64, total & M64
    advance_state(state)
    return state


def hash_word(value: int, constant: int) -> int:
    """Return a word of the pool, hashed with the constant before and after its update."""
    value = ((value ^ constant) * (constant * MULT_A & M32)) & M32
    return value ^ value >> 16


def fill(seed: int, state: State) -> None:
    """Fill the state as `seeding` does, following the rule for steps, for seeds of up to 64 bits.

    The first four words of the state hold the pool until the words are drawn from it.
    """
    constant = INIT_A
    state[0] = seed & M32
    state[1] = seed >> 32
    state[2] = ZERO
    state[3] = ZERO
    for at in range(4):
        state[at] = hash_word(state[at], constant)
        constant = constant * MULT_A & M32
    for source in range(4):
        for target in range(4):
            if source != target:
                mixed = hash_word(state[source], constant) * MIX_R & M32
                constant = constant * MULT_A & M32
                mixed = (MIX_L * state[target] & M32) + M32 + ONE - mixed
                mixed &= M32
                state[target] = mixed ^ mixed >> 16
    start_from_pool(state)


def drawn_pair(low: int, high: int, constant: int) -> int:
    """Return two words drawn from the pool, joined with the second above the first."""
    following = constant * MULT_B & M32
    first = ((low ^ constant) * following) & M32
    second = ((high ^ following) * (following * MULT_B & M32)) & M32
    return (second ^ second >> 16) << 32 | (first ^ first >> 16)


def start_from_pool(state: State) -> None:
    """Set the state and the increment from words drawn from the pool, and take two steps."""
    constant = INIT_B
    squared = MULT_B * MULT_B & M32
    initial_high = drawn_pair(state[0], state[1], constant)
    constant = constant * squared & M32
    initial_low = drawn_pair(state[2], state[3], constant)
    constant = constant * squared & M32
    stream_high = drawn_pair(state[0], state[1], constant)
    constant = constant * squared & M32
    stream_low = drawn_pair(state[2], state[3], constant)
    state[2] = ((stream_high << ONE) & M64) | stream_low >> 63
    state[3] = ((stream_low << ONE) & M64) | ONE
    state[0] = ZERO
    state[1] = ZERO
    advance_state(state)
    total = (state[1] + initial_low) & M64
    carry = ONE if total < initial_low else ZERO
    state[0] = (state[0] + initial_high + carry) & M64
    state[1] = total
    advance_state(state)
    state[4] = ZERO
    state[5] = ZERO


FAMILY = Family(
    name="numpy_pcg64",
    title="NumPy default_rng (PCG64), with a seed",
    word_bits=64,
    state_words=6,
    state_word_bits=64,
    seed_bits=64,
    seeding=seeding,
    step=step,
    outputs={
        "bounded": integers,
        "scaled": scaled_map(shifted(step, 11), 53),
        **plain_maps(step, 64),
    },
    rank=95,
    seed_form=CompiledSeeding(fill, seeds_per_ms=18_000),
    apis={
        "bounded": Api("NumPy default_rng(seed).integers(m)", USUAL),
        "scaled": Api("NumPy int(default_rng(seed).random() * m)", OCCASIONAL),
    },
)
FAMILIES = (FAMILY,)
