"""Marsaglia's xorshift generators (2003), and xorshift64* of Vigna.

For 32 and 64 bits the seed is the state; a state of zero stays zero. xorshift128 is filled from 32
bits as Unity's Random.InitState does. The published sequences start from given states.
"""

from __future__ import annotations

from dataclasses import replace

from weft.searches.prng.bit_forms import BitReading, LinearForm
from weft.searches.prng.families.maps import (
    linear_jump,
    plain_maps,
    scaled_map,
    shifted,
    word_seeding,
)
from weft.searches.prng.family import Family, State, Step
from weft.searches.prng.forms import CompiledSeeding

M32 = (1 << 32) - 1
M64 = (1 << 64) - 1
FILL_MULTIPLIER = 1812433253
STAR = 2685821657736338717
ONE = 1


def step_32(state: State) -> int:
    """Return the next 32 bits: shifts 13, 17, 5."""
    word = state[0]
    word ^= (word << 13) & M32
    word ^= word >> 17
    word ^= (word << 5) & M32
    state[0] = word
    return word


def step_64(state: State) -> int:
    """Return the next 64 bits: shifts 13, 7, 17."""
    word = state[0]
    word ^= (word << 13) & M64
    word ^= word >> 7
    word ^= (word << 17) & M64
    state[0] = word
    return word


def seeding_128(seed: int) -> State:
    """Fill four words from 32 bits with MT19937's multiplier."""
    words = [seed & M32]
    for _ in range(3):
        words.append((FILL_MULTIPLIER * words[-1] + 1) & M32)
    return words


def fill_128(seed: int, state: State) -> None:
    """Fill the state as `seeding_128` does, following the rule for steps."""
    state[0] = seed & M32
    for at in range(1, 4):
        state[at] = (FILL_MULTIPLIER * state[at - 1] + ONE) & M32


def step_128(state: State) -> int:
    """Return the next 32 bits: shifts 11, 8, 19."""
    mixed = state[0] ^ (state[0] << 11) & M32
    word = state[3]
    state[0] = state[1]
    state[1] = state[2]
    state[2] = word
    state[3] = word ^ (word >> 19) ^ mixed ^ (mixed >> 8)
    return state[3]


def step_64_star(state: State) -> int:
    """Return the next 64 bits: shifts 12, 25, 27, then a product."""
    word = state[0]
    word ^= word >> 12
    word ^= (word << 25) & M64
    word ^= word >> 27
    state[0] = word
    return (word * STAR) & M64


def _linear(words: int, bits: int) -> LinearForm:
    """Return the form of outputs that are words of the state."""
    low, high = BitReading("low", bits), BitReading("high", bits)
    return LinearForm(words, {"mod": low, "high": high, "scaled": high})


def _by_state(name: str, title: str, bits: int, step: Step) -> Family:
    """Assemble a generator whose seed is its only state word."""
    unit = scaled_map(step, 32) if bits == 32 else scaled_map(shifted(step, 11), 53)
    return Family(
        name=name,
        title=title,
        word_bits=bits,
        state_words=1,
        state_word_bits=bits,
        seed_bits=bits,
        seeding=word_seeding(bits),
        step=step,
        outputs={**plain_maps(step, bits), "scaled": unit},
        jump=linear_jump(step, 1, bits),
        rank=70,
        linear=_linear(1, bits),
        seed_form=CompiledSeeding(),
    )


XORSHIFT32 = _by_state("xorshift32", "xorshift32 (13, 17, 5)", 32, step_32)
XORSHIFT64 = replace(_by_state("xorshift64", "xorshift64 (13, 7, 17)", 64, step_64), common=True)
XORSHIFT64_STAR = replace(
    _by_state("xorshift64star", "xorshift64*", 64, step_64_star),
    linear=LinearForm(
        1, {"mod": BitReading("low", 64, linear_bits=3)}, not_linear=("high", "scaled")
    ),  # the product leaves the three lowest bits linear
)
XORSHIFT128 = Family(
    name="xorshift128",
    title="xorshift128, seeded as in Unity",
    word_bits=32,
    state_words=4,
    state_word_bits=32,
    seed_bits=32,
    seeding=seeding_128,
    step=step_128,
    outputs={**plain_maps(step_128, 32), "scaled": scaled_map(step_128, 32)},
    jump=linear_jump(step_128, 4, 32),
    rank=70,
    linear=_linear(4, 32),
    seed_form=CompiledSeeding(fill_128),
)
FAMILIES = (XORSHIFT32, XORSHIFT64, XORSHIFT128, XORSHIFT64_STAR)
