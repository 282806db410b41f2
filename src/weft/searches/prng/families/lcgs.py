"""Congruential generators of compilers and textbooks: one word of state, x → a·x + c.

`LCGS` holds the constants by family name. The seed is the state, except for minstd and minstd0,
which are modulo the prime 2^31 − 1 and replace 0 by 1, as C++ specifies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from weft.searches.prng.families.maps import affine_jump, plain_maps, scaled_map, word_seeding
from weft.searches.prng.family import SELDOM, USUAL, Api, Draw, Family, State, Step
from weft.searches.prng.forms import LatticeForm, LcgForm

PRIME = (1 << 31) - 1
STATES, ONE, ZERO = PRIME - 2, 1, 0
"""Range of minstd's outputs: the greatest less the least, which is 1."""
PRIME_DOUBLE = 2147483647.0


NO_APIS: Mapping[str, Api] = {}
VBA_SOURCE = "Microsoft Support 231847, How Visual Basic generates pseudo-random numbers"
UNREAL_SOURCE = "Unreal Engine source, Core/Public/Math/RandomStream.h"


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
    "vba": Lcg(1140671485, 12820163, 1 << 24, 0, 24),
    "unreal": Lcg(196314165, 907633515, 1 << 32, 9, 23),
    "minstd": Lcg(48271, 0, PRIME, 0, 31),
    "minstd0": Lcg(16807, 0, PRIME, 0, 31),
}


def _seeding_prime(seed: int) -> State:
    return [seed % PRIME or 1]


def _step(lcg: Lcg) -> Step:
    """Return the step, which updates the state and returns the bits of it that are shown."""
    multiplier, increment, modulus, low = lcg.multiplier, lcg.increment, lcg.modulus, lcg.low
    shown = (1 << lcg.width) - 1

    def step(state: State) -> int:
        state[0] = (state[0] * multiplier + increment) % modulus
        return state[0] >> low & shown

    return step


def _scaled_by_prime(step: Step) -> Draw:
    """Return the map floor(u · modulus), u = state / (2^31 − 1), as Park and Miller write it."""

    def scaled(state: State, modulus: int) -> int:
        return int(step(state) / PRIME_DOUBLE * modulus)

    return scaled


def _bounded_by_prime(step: Step) -> Draw:
    """Return the map of libstdc++'s std::uniform_int_distribution: states in equal parts.

    A state of 0, which no seed gives, stays 0 forever; it gives draws of 0.
    """

    def bounded(state: State, modulus: int) -> int:
        part = STATES // modulus
        word = step(state)
        while word > part * modulus:
            word = step(state)
        return (word - ONE) // part if word > ZERO else ZERO

    return bounded


def _lattice_forms(lcg: Lcg) -> tuple[LatticeForm, ...]:
    """Return the lattice forms, modulo the whole state or its bits up to the highest shown."""
    whole = min(lcg.modulus, 1 << (lcg.low + lcg.width))
    constants = (lcg.multiplier, lcg.increment)
    spans = [
        LatticeForm(output, "span", *constants, whole, edge=1 << lcg.low)
        for output in ("high", "scaled")
    ]
    if lcg.modulus == PRIME:  # rounded parts shift the spans by about the modulus: up to 2^16
        spans.append(LatticeForm("bounded", "span", *constants, whole, edge=1 << 16))
    bare = () if lcg.low else (LatticeForm("mod", "remainder", *constants, lcg.modulus),)
    return (*spans, *bare)


def _family(
    name: str,
    title: str,
    usual: str = "mod",
    *,
    common: bool = False,
    apis: Mapping[str, Api] = NO_APIS,
) -> Family:
    lcg = LCGS[name]
    step = _step(lcg)
    prime = lcg.modulus == PRIME
    maps = plain_maps(step, lcg.width)
    maps["scaled"] = _scaled_by_prime(step) if prime else scaled_map(step, lcg.width)
    if prime:
        maps["bounded"] = _bounded_by_prime(step)
    return Family(
        name=name,
        title=title,
        word_bits=lcg.width,
        state_words=1,
        state_word_bits=32,
        seed_bits=min(32, (lcg.modulus - 1).bit_length()),
        seeding=_seeding_prime if prime else word_seeding((lcg.modulus - 1).bit_length()),
        step=step,
        outputs={usual: maps[usual], **maps},
        jump=affine_jump(lcg.multiplier, lcg.increment, lcg.modulus),
        lcg_forms=()
        if lcg.modulus & (lcg.modulus - 1)
        else (LcgForm(name, "mod", lcg.multiplier, lcg.increment, lcg.low, lcg.width),),
        lattice_forms=_lattice_forms(lcg),
        common=common,
        apis=apis,
        rank=80,
    )


FAMILIES = (
    _family("msvc", "rand() of Microsoft C", common=True),
    _family("borland", "rand() of Borland C"),
    _family("delphi", "Random() of Delphi and Turbo Pascal", usual="high"),
    _family("lcg32", "the quick generator of Numerical Recipes"),
    _family(
        "vba",
        "Rnd of Visual Basic and VBA",
        usual="high",
        apis={"high": Api("VBA Int(Rnd * m)", USUAL, vectors=VBA_SOURCE)},
    ),
    _family(
        "unreal",
        "FRandomStream of Unreal Engine",
        usual="high",
        apis={"high": Api("Unreal FRandomStream.RandHelper(m)", SELDOM, vectors=UNREAL_SOURCE)},
    ),
    _family(
        "minstd",
        "minstd, multiplier 48271 (C++ std::minstd_rand)",
        apis={
            "mod": Api("C++ minstd_rand() % m", SELDOM),
            "bounded": Api("C++ uniform_int_distribution with minstd_rand", SELDOM),
        },
    ),
    _family(
        "minstd0",
        "minstd0, multiplier 16807 (C++ std::minstd_rand0)",
        apis={
            "mod": Api("C++ minstd_rand0() % m", SELDOM),
            "bounded": Api(
                "C++ uniform_int_distribution with default_random_engine of libstdc++", USUAL
            ),
        },
    ),
)
