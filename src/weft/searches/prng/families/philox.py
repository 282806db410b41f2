"""philox4x32-10 of Salmon et al. (2011), as GPU libraries use it.

A counter of 128 bits is mixed with a key of 64 bits, which is the seed. The state is the key and
the counter, low words first, and the index of the next of the block's four words.
"""

from __future__ import annotations

from weft.searches.prng.families.maps import plain_maps, scaled_map
from weft.searches.prng.family import Family, State
from weft.searches.prng.forms import CompiledSeeding

M32 = (1 << 32) - 1
ZERO = 0
ONE = 1
TWO = 2
THREE = 3
MULTIPLIER_0 = 0xD2511F53
MULTIPLIER_1 = 0xCD9E8D57
WEYL_0 = 0x9E3779B9
WEYL_1 = 0xBB67AE85


def seeding(seed: int) -> State:
    """Take the seed as the key; the counter starts at 0."""
    return [seed & M32, seed >> 32 & M32, 0, 0, 0, 0, 0]


def step(state: State) -> int:
    """Return the next 32 bits; the block is recomputed for each of its words."""
    one, two, three, four = block(state)
    place = state[6]
    state[6] = place + ONE & THREE
    if place == ZERO:
        return one
    if place == ONE:
        return two
    if place == TWO:
        return three
    count(state)
    return four


def block(state: State) -> tuple[int, int, int, int]:
    """Mix the counter with the key in ten rounds."""
    a, b, c, d = state[2], state[3], state[4], state[5]
    key_0, key_1 = state[0], state[1]
    for _ in range(10):
        left, right = a * MULTIPLIER_0, c * MULTIPLIER_1
        a, b, c, d = right >> 32 ^ b ^ key_0, right & M32, left >> 32 ^ d ^ key_1, left & M32
        key_0, key_1 = key_0 + WEYL_0 & M32, key_1 + WEYL_1 & M32
    return a, b, c, d


def count(state: State) -> None:
    """Add 1 to the counter, with carries."""
    for at in range(2, 6):
        state[at] = state[at] + ONE & M32
        if state[at] != ZERO:
            break


def jump(state: State, steps: int) -> None:
    """Advance the counter; each of its values gives four words."""
    value = sum(state[at] << (32 * (at - 2)) for at in range(2, 6))
    blocks, state[6] = divmod(state[6] + steps, 4)
    for at in range(2, 6):
        state[at] = value + blocks >> (32 * (at - 2)) & M32


FAMILY = Family(
    name="philox4x32",
    title="philox4x32-10",
    word_bits=32,
    state_words=7,
    state_word_bits=32,
    seed_bits=64,
    seeding=seeding,
    step=step,
    outputs={**plain_maps(step, 32), "scaled": scaled_map(step, 32)},
    jump=jump,
    rank=130,
    seed_form=CompiledSeeding(),
)
FAMILIES = (FAMILY,)
