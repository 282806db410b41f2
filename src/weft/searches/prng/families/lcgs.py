"""Congruential generators of compilers and textbooks: one word of state, x → a·x + c.

`LCGS` holds the constants by the name of the family. The seed is the state, but for minstd and
minstd0, which are modulo the prime 2^31 − 1 and take 1 for 0, as C++ says.
"""

from __future__ import annotations

from dataclasses import dataclass

from weft.searches.prng.families.maps import affine_jump, plain_maps, scaled_map, word_seeding
from weft.searches.prng.family import Draw, Family, State, Step
from weft.searches.prng.forms import LatticeForm, LcgForm

PRIME = (1 << 31) - 1
PRIME_DOUBLE = 2147483647.0


@dataclass(frozen=True, slots=True)
class Lcg:
    """x → multiplier · x + increment modulo `modulus`; the output is bits low..low+width-1."""

    multiplier: int
    increment: int
    modulus: int
    low: int
    width: int


LCGS = {
    "msvc": Lcg(214013, 2531011, 1 << 32, 16, 15),
    "borland": Lcg(22695477, 1, 1 << 32, 16, 15),
    "delphi": Lcg(134775813, 1, 1 << 32, 0, 32),
    "lcg32": Lcg(1664525, 1013904223, 1 << 32, 0, 32),
    "minstd": Lcg(48271, 0, PRIME, 0, 31),
    "minstd0": Lcg(16807, 0, PRIME, 0, 31),
}


def _seeding_prime(seed: int) -> State:
    return [seed % PRIME or 1]


def _step(lcg: Lcg) -> Step:
    """Return the step: the new state, and the bits of it that are shown."""
    multiplier, increment, modulus, low = lcg.multiplier, lcg.increment, lcg.modulus, lcg.low
    shown = (1 << lcg.width) - 1

    def step(state: State) -> int:
        state[0] = (state[0] * multiplier + increment) % modulus
        return state[0] >> low & shown

    return step


def _scaled_by_prime(step: Step) -> Draw:
    """Make floor(u · modulus), u = state / (2^31 − 1), as Park and Miller write it."""

    def scaled(state: State, modulus: int) -> int:
        return int(step(state) / PRIME_DOUBLE * modulus)

    return scaled


def _lattice_forms(lcg: Lcg) -> tuple[LatticeForm, ...]:
    """Return what draws say of the state: all of it, or the bits up to the highest shown."""
    whole = min(lcg.modulus, 1 << (lcg.low + lcg.width))
    constants = (lcg.multiplier, lcg.increment)
    spans = [
        LatticeForm(output, "span", *constants, whole, edge=1 << lcg.low)
        for output in ("high", "scaled")
    ]
    bare = () if lcg.low else (LatticeForm("mod", "remainder", *constants, lcg.modulus),)
    return (*spans, *bare)


def _family(name: str, title: str, usual: str = "mod", *, common: bool = False) -> Family:
    lcg = LCGS[name]
    step = _step(lcg)
    prime = lcg.modulus == PRIME
    maps = plain_maps(step, lcg.width)
    maps["scaled"] = _scaled_by_prime(step) if prime else scaled_map(step, lcg.width)
    return Family(
        name=name,
        title=title,
        word_bits=lcg.width,
        state_words=1,
        state_word_bits=32,
        seed_bits=31 if prime else 32,
        seeding=_seeding_prime if prime else word_seeding(32),
        step=step,
        outputs={usual: maps[usual], **maps},
        jump=affine_jump(lcg.multiplier, lcg.increment, lcg.modulus),
        lcg_forms=()
        if lcg.modulus & (lcg.modulus - 1)
        else (LcgForm(name, "mod", lcg.multiplier, lcg.increment, lcg.low, lcg.width),),
        lattice_forms=_lattice_forms(lcg),
        common=common,
        rank=80,
    )


FAMILIES = (
    _family("msvc", "rand() of Microsoft C", common=True),
    _family("borland", "rand() of Borland C"),
    _family("delphi", "Random() of Delphi and Turbo Pascal", usual="high"),
    _family("lcg32", "the quick generator of Numerical Recipes"),
    _family("minstd", "minstd, multiplier 48271 (C++ std::minstd_rand)"),
    _family("minstd0", "minstd0, multiplier 16807 (C++ std::minstd_rand0)"),
)
