"""xoshiro256++ and xoshiro256** of Blackman and Vigna (2018), seeded by splitmix64."""

from __future__ import annotations

from weft.searches.prng.bit_forms import LinearForm
from weft.searches.prng.families import splitmix
from weft.searches.prng.families.maps import linear_jump, plain_maps, scaled_map, shifted
from weft.searches.prng.families.splitmix import GAP, mixed
from weft.searches.prng.family import Family, State, Step
from weft.searches.prng.forms import CompiledSeeding

M64 = (1 << 64) - 1
FIVE = 5
NINE = 9


def seeding(seed: int) -> State:
    """Fill four words as the authors recommend."""
    return splitmix.expand(seed, 4)


def fill(seed: int, state: State) -> None:
    """Fill the state as `seeding` does, following the rule for steps."""
    word = seed
    for at in range(4):
        word = (word + GAP) & M64
        state[at] = mixed(word)


def step_plus_plus(state: State) -> int:
    """Return the next 64 bits: rotl(a + d, 23) + a."""
    both = (state[0] + state[3]) & M64
    word = ((both << 23) & M64 | both >> 41) + state[0] & M64
    turn(state)
    return word


def step_star_star(state: State) -> int:
    """Return the next 64 bits: rotl(b · 5, 7) · 9."""
    five = state[1] * FIVE & M64
    word = ((five << 7) & M64 | five >> 57) * NINE & M64
    turn(state)
    return word


def turn(state: State) -> None:
    """Take one step of the linear engine."""
    shifted_word = (state[1] << 17) & M64
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted_word
    state[3] = (state[3] << 45) & M64 | state[3] >> 19


def _family(name: str, title: str, step: Step) -> Family:
    return Family(
        name=name,
        title=title,
        word_bits=64,
        state_words=4,
        state_word_bits=64,
        seed_bits=64,
        seeding=seeding,
        step=step,
        outputs={**plain_maps(step, 64), "scaled": scaled_map(shifted(step, 11), 53)},
        jump=linear_jump(turn, 4, 64),
        rank=110,
        linear=LinearForm(4, not_linear=("mod",)),
        seed_form=CompiledSeeding(fill),
    )


FAMILIES = (
    _family("xoshiro256pp", "xoshiro256++", step_plus_plus),
    _family("xoshiro256ss", "xoshiro256**", step_star_star),
)
