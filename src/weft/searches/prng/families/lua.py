"""math.random of Lua: 5.4 uses xoshiro256** with its own seeding, 5.3 on Unix uses C's random().

5.4 fills the state with the seed, 0xff and zeros and discards 16 outputs; a bounded call takes the
low bits of a word and draws again until they are small enough. 5.3 discards one output after
seeding and scales.
"""

from __future__ import annotations

from dataclasses import replace

from weft.searches.prng.families import glibc
from weft.searches.prng.families.maps import linear_jump, plain_maps, scaled_map, shifted
from weft.searches.prng.families.xoshiro import step_star_star, turn
from weft.searches.prng.family import OCCASIONAL, USUAL, Api, Family, State
from weft.searches.prng.forms import AdditiveSeeding, CompiledSeeding

M64 = (1 << 64) - 1
SECOND_WORD = 0xFF
ZERO = 0
ONE = 1


def seeding(seed: int) -> State:
    """Return the state after math.randomseed(seed) of Lua 5.4 with an integer."""
    state = [seed & M64, SECOND_WORD, 0, 0]
    for _ in range(16):
        turn(state)
    return state


def fill(seed: int, state: State) -> None:
    """Fill the state as `seeding` does, following the rule for steps."""
    state[0] = seed
    state[1] = SECOND_WORD
    state[2] = ZERO
    state[3] = ZERO
    for _ in range(16):
        turn(state)


def project(state: State, modulus: int) -> int:
    """Return the draw of math.random(0, modulus - 1): low bits, drawn again if too great."""
    largest = modulus - ONE
    mask = largest
    for shift in range(5):
        mask |= mask >> (ONE << shift)
    word = step_star_star(state) & mask
    while word > largest:
        word = step_star_star(state) & mask
    return word


LUA54 = Family(
    name="lua54",
    title="math.random of Lua 5.4, with a seed",
    word_bits=64,
    state_words=4,
    state_word_bits=64,
    seed_bits=64,
    seeding=seeding,
    step=step_star_star,
    outputs={
        "bounded": project,
        "scaled": scaled_map(shifted(step_star_star, 11), 53),
        **plain_maps(step_star_star, 64),
    },
    jump=linear_jump(turn, 4, 64),
    rank=105,
    seed_form=CompiledSeeding(fill, seeds_per_ms=35_000),
    apis={
        "bounded": Api("Lua 5.4 math.random(m)", USUAL, ("Lua 5.4 math.random(a, b)",)),
        "scaled": Api("Lua 5.4 math.floor(math.random() * m)", OCCASIONAL),
    },
)


def seeding_53(seed: int) -> State:
    """Return the state of Lua 5.3 on Unix after math.randomseed(seed): srandom, then random."""
    state = glibc.RAND.seeding(seed)
    glibc.RAND.step(state)
    return state


_FORM = glibc.RAND.seed_form
assert isinstance(_FORM, AdditiveSeeding)
LUA53 = replace(
    glibc.RAND,
    name="lua53",
    title="math.random of Lua 5.3 on Linux, with a seed",
    aliases=(),
    seeding=seeding_53,
    outputs={"scaled": glibc.RAND.outputs["scaled"], **glibc.RAND.outputs},
    common=False,
    rank=106,
    seed_form=replace(_FORM, discarded=_FORM.discarded + 1),
    apis={"scaled": Api("Lua 5.3 math.random(m) on Linux", USUAL)},
)
FAMILIES = (LUA54, LUA53)
