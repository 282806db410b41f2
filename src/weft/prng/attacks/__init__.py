"""The attacks Weft knows, by name."""

from __future__ import annotations

from weft.prng.attack import Attack
from weft.prng.attacks import brute, lanes, likely

ALL: tuple[Attack, ...] = (lanes.ATTACK, likely.TYPED, likely.DATED, brute.ATTACK)


def attack_named(name: str) -> Attack:
    """Return an attack; names come from plans, so a wrong one is our mistake."""
    return {attack.name: attack for attack in ALL}[name]
