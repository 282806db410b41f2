"""The attacks Weft knows, by name."""

from __future__ import annotations

from weft.searches.prng.attack import Attack
from weft.searches.prng.attacks import brute, lanes, lattice, likely, varying, varying_lanes
from weft.searches.prng.attacks.linear_rejection import TwisterRejection
from weft.searches.prng.attacks.linear_twister import TwisterState
from weft.searches.prng.attacks.linear_words import LinearExact, LinearWords
from weft.searches.prng.attacks.twister_words import TwisterWords

ALL: tuple[Attack, ...] = (
    lattice.ATTACK,
    lanes.ATTACK,
    LinearExact(),
    LinearWords(),
    TwisterWords(),
    TwisterRejection(),
    TwisterState(),
    likely.TYPED,
    likely.DATED,
    brute.ATTACK,
    varying.ATTACK,
    varying_lanes.ATTACK,
)


def attack_named(name: str) -> Attack:
    """Return the attack with this name; plans supply the name, so an unknown one is a bug."""
    return {attack.name: attack for attack in ALL}[name]
