"""The attacks Weft knows, by name."""

from __future__ import annotations

from weft.prng.attack import Attack
from weft.prng.attacks import lanes

ALL: tuple[Attack, ...] = (lanes.ATTACK,)


def attack_named(name: str) -> Attack:
    """Return an attack; names come from plans, so a wrong one is our mistake."""
    return {attack.name: attack for attack in ALL}[name]
