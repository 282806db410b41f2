"""The generators as a list: what each is, and what the attacks promise for a usual history.

The promise is not written down anywhere else: it is what the attacks themselves plan for a
history of EXAMPLE_DRAWS draws with the usual ranges of skips, starts and wrong draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weft.prng.attack import Plan
from weft.prng.attacks import ALL as ATTACKS
from weft.prng.case import Case
from weft.prng.families import ALL as FAMILIES
from weft.prng.family import Family

EXAMPLE_DRAWS = 8000
EXAMPLE = Case((0,) * EXAMPLE_DRAWS, 1000)


@dataclass(frozen=True, slots=True)
class Offer:
    """What one attack covers of a family through which output maps, and the dearest's cost."""

    attack: str
    outputs: tuple[str, ...]
    cost_ms: int
    covers: str

    def to_dict(self) -> dict[str, Any]:
        """Return the form that `--json` prints."""
        return {
            "attack": self.attack,
            "outputs": list(self.outputs),
            "cost_ms": self.cost_ms,
            "covers": self.covers,
        }


@dataclass(frozen=True, slots=True)
class Entry:
    """One generator of the list."""

    family: Family
    offers: tuple[Offer, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the form that `--json` prints."""
        family = self.family
        return {
            "name": family.name,
            "aliases": list(family.aliases),
            "title": family.title,
            "state_bits": family.state_bits,
            "seed_bits": family.seed_bits,
            "word_bits": family.word_bits,
            "jump": family.jump is not None,
            "outputs": list(family.outputs),
            "attacks": [offer.to_dict() for offer in self.offers],
        }

    def row(self) -> tuple[str, ...]:
        """Return the cells for people; an attack with the seconds of its dearest plan."""
        dearest: dict[str, int] = {}
        for offer in self.offers:
            dearest[offer.attack] = max(dearest.get(offer.attack, 0), offer.cost_ms)
        attacks = ", ".join(f"{name} {-(-cost // 1000):,}" for name, cost in dearest.items())
        family = self.family
        bits = (str(family.state_bits), str(family.seed_bits))
        return (family.name, *bits, " ".join(family.outputs), attacks, family.title)


def catalogue() -> list[Entry]:
    """Return every family with what is offered, cheapest first."""
    said = [one for attack in ATTACKS for one in attack.plan(EXAMPLE)]
    plans = [one for one in said if isinstance(one, Plan)]
    return [
        Entry(family, _offers([plan for plan in plans if plan.family == family.name]))
        for family in FAMILIES
    ]


def _offers(plans: Sequence[Plan]) -> tuple[Offer, ...]:
    grouped: dict[tuple[str, str], list[Plan]] = {}
    for plan in plans:
        grouped.setdefault((plan.attack, plan.covers), []).append(plan)
    offers = [
        Offer(attack, tuple(p.output for p in group), max(p.cost for p in group), covers)
        for (attack, covers), group in grouped.items()
    ]
    return tuple(sorted(offers, key=lambda offer: (offer.cost_ms, offer.attack, offer.covers)))
