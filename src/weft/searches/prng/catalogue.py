"""The list of generators: what each is, and what the attacks cover for a typical history.

The coverage is not hard-coded: it is what the attacks plan for a history of EXAMPLE_DRAWS draws
with the default ranges of skips, starts and wrong draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap

from weft.model.codec import to_json
from weft.model.values import Value
from weft.searches.prng.attack import AttackPlan, Case
from weft.searches.prng.attacks import ALL as ATTACKS
from weft.searches.prng.families import FAMILIES
from weft.searches.prng.family import Family

WIDTH = 96
EXAMPLE_DRAWS = 8000
EXAMPLE = Case((0,) * EXAMPLE_DRAWS, 1000)
ROWS = tuple(family.name for family in FAMILIES if family.rows is not None)
ROW_EXAMPLES = (
    Case((*range(52), *range(52)), 52, families=ROWS, row_maps=("shuffle",)),
    Case((0,) * 120, 49, families=ROWS, row_maps=("sample6", "distinct6", "deal6")),
)
"""Example cases for generators of rows: two decks, and twenty rows of 6 of 49."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What one attack covers of a family, for which output maps; the cost is the highest."""

    attack: str
    outputs: tuple[str, ...]
    cost_ms: int
    covers: str


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """A generator and the attacks that apply to it."""

    family: Family
    offers: tuple[Offer, ...]

    def to_dict(self) -> dict[str, Value]:
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
            "attacks": [to_json(offer) for offer in self.offers],
        }

    def lines(self) -> Iterator[str]:
        """Describe the entry for people; each attack with the seconds of its costliest plan."""
        costs_ms: dict[str, int] = {}
        for offer in self.offers:
            costs_ms[offer.attack] = max(costs_ms.get(offer.attack, 0), offer.cost_ms)
        attacks = ", ".join(f"{name} {-(-cost // 1000):,}" for name, cost in costs_ms.items())
        family = self.family
        bits = f"{family.state_bits:,} and {family.seed_bits} bits"
        yield f"{family.name:16} {family.title}"
        yield f"    state, seed  {bits}"
        yield from _wrapped("    maps         ", " ".join(family.outputs))
        yield from _wrapped("    attacks      ", attacks or "likely seeds")


def _wrapped(label: str, text: str) -> list[str]:
    """Wrap a text, with its label in front, into lines that fit a terminal."""
    return wrap(text, WIDTH, initial_indent=label, subsequent_indent=" " * len(label))


def catalogue() -> list[CatalogueEntry]:
    """Return every family with its offers, cheapest first."""
    items = [item for attack in ATTACKS for item in attack.plan(EXAMPLE)]
    rows = [item for case in ROW_EXAMPLES for attack in ATTACKS for item in attack.plan(case)]
    items += [item for item in rows if item.family in ROWS]
    plans = [item for item in items if isinstance(item, AttackPlan)]
    return [
        CatalogueEntry(family, _offers([plan for plan in plans if plan.family == family.name]))
        for family in FAMILIES
    ]


def _offers(plans: Sequence[AttackPlan]) -> tuple[Offer, ...]:
    grouped: dict[tuple[str, str], list[AttackPlan]] = {}
    for plan in plans:
        grouped.setdefault((plan.attack, plan.covers), []).append(plan)
    offers = [
        Offer(attack, tuple(p.output for p in group), max(p.cost_ms for p in group), covers)
        for (attack, covers), group in grouped.items()
    ]
    return tuple(sorted(offers, key=lambda offer: (offer.cost_ms, offer.attack, offer.covers)))
