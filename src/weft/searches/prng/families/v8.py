"""Math.random() of V8 (Node, Chrome): xorshift128+ without the plus, served backwards.

V8 generates 64 numbers ahead and serves them last first. The state is the two words and how many
numbers of the block are left. If none are left, the words are those at the end of a block; else
they are those of the next number. Numbers have 52 bits (`scaled`) or, in newer versions, 53
(`scaled53`).
"""

from __future__ import annotations

from weft.searches.prng.bit_forms import BitReading, LinearForm
from weft.searches.prng.families.maps import plain_maps, scaled_map, shifted
from weft.searches.prng.family import Family, State
from weft.searches.prng.forms import CompiledSeeding
from weft.searches.prng.linear import bit_power

BLOCK = 64
ZERO = 0
ONE = 1
M64 = (1 << 64) - 1
MIX_1 = 0xFF51AFD7ED558CCD
MIX_2 = 0xC4CEB9FE1A85EC53


def seeding(seed: int) -> State:
    """Return the state after `node --random_seed`: the hashes of the seed and its complement."""
    return [_mixed(seed & M64), _mixed(~seed & M64), 0]


def fill(seed: int, state: State) -> None:
    """Fill the state as `seeding` does, following the rule for steps."""
    state[0] = _mixed(seed)
    state[1] = _mixed(seed ^ M64)
    state[2] = ZERO


def _mixed(word: int) -> int:
    """Return the 64-bit finaliser of MurmurHash3."""
    word = (word ^ (word >> 33)) * MIX_1 & M64
    word = (word ^ (word >> 33)) * MIX_2 & M64
    return word ^ (word >> 33)


def step(state: State) -> int:
    """Return the 64 bits behind the next Math.random()."""
    if state[2] == ZERO:
        forward_by(state, 64)
        state[2] = BLOCK
    word = state[0]
    state[2] -= ONE
    if state[2] > ZERO:
        backward(state)
    else:
        forward_by(state, 63)
    return word


def forward(state: State) -> None:
    """Take one step of the recurrence."""
    forward_by(state, 1)


def forward_by(state: State, steps: int) -> None:
    """Take `steps` steps of the recurrence."""
    first, second = state[0], state[1]
    for _ in range(steps):
        mixed = first ^ (first << 23) & M64
        mixed ^= mixed >> 17
        first = second
        second = mixed ^ first ^ (first >> 26)
    state[0] = first
    state[1] = second


def backward(state: State) -> None:
    """Undo one step of the recurrence."""
    mixed = state[1] ^ state[0] ^ (state[0] >> 26)
    mixed ^= mixed >> 17 ^ mixed >> 34 ^ mixed >> 51
    mixed ^= (mixed << 23) & M64 ^ (mixed << 46) & M64
    state[1] = state[0]
    state[0] = mixed


def block_start(state: State) -> None:
    """Go back to the start of the block, before any of its numbers was served."""
    for _ in range(state[2]):
        backward(state)
    state[2] = ZERO


def jump(state: State, steps: int) -> None:
    """Skip whole blocks by the matrix, then go directly to the place in the last one."""
    remaining = state[2]
    if steps < remaining:
        for _ in range(steps):
            backward(state)
        state[2] -= steps
        return
    outputs_served = (BLOCK - remaining if remaining else 0) + steps
    block_start(state)
    state[:2] = bit_power(forward, 2, 64, state[:2], outputs_served // BLOCK * BLOCK)
    if outputs_served % BLOCK:
        state[2] = BLOCK - outputs_served % BLOCK
        forward_by(state, state[2])


FAMILY = Family(
    name="v8",
    title="Math.random() of V8",
    word_bits=64,
    state_words=3,
    state_word_bits=64,
    seed_bits=64,
    is_seeded=False,
    seeding=seeding,
    step=step,
    outputs={
        "scaled": scaled_map(shifted(step, 12), 52),
        "scaled53": scaled_map(shifted(step, 11), 53),
        **plain_maps(step, 64),
    },
    jump=jump,
    common=True,
    rank=60,
    linear=LinearForm(2, {"scaled": BitReading("high", 64)}, BLOCK, block_start),
    seed_form=CompiledSeeding(fill, seeds_per_ms=2_000),
)
FAMILIES = (FAMILY,)
