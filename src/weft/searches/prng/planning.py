"""Which attacks to execute on which stream, in which order, and what stays uncovered.

Every plan is cut into ranges, and ranges are grouped into waves by what their plan will have
cost up to their end: first the beginnings of all plans, where small skips and likely seeds are,
then what costs more. A wave runs side by side and is begun only when none before it has found the
generator. Everything is decided before the first attack starts, so the verdict can say what was
covered and what was not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.searches.prng.attack import AttackPlan, Gap
from weft.searches.prng.attacks import ALL, attack_named
from weft.searches.prng.families import FAMILIES, family_named
from weft.searches.prng.generate import greatest_modulus
from weft.searches.prng.history import History
from weft.searches.prng.request import AnalyseRequest

WAVE_COSTS_MS = (200, 1_000, 5_000, 20_000, 60_000, 200_000)
"""What a plan may have cost at the end of each wave, in milliseconds of one core."""
RARE = 8
"""A plan counts as so many times more expensive for each of: a generator that few programs use, an
output map that is not the usual one of its generator, an attack that needs luck."""
TOO_GREAT = "its bound is below 2^31, the modulus is greater"


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """A plan for one stream of the history."""

    stream: str
    plan: AttackPlan
    weight: int = 1
    """How many times its cost it counts, because it is unusual."""

    def weighted_cost_ms(self, hi: int) -> int:
        """Return what the plan will have cost at the end of unit `hi`, times its weight."""
        return self.weight * self.plan.cost_ms * hi // self.plan.units

    def wave_of(self, hi: int) -> int:
        """Return the wave of the range that ends with unit `hi`."""
        cost_ms = self.weighted_cost_ms(hi)
        last = len(WAVE_COSTS_MS)
        return next((i for i, most in enumerate(WAVE_COSTS_MS) if cost_ms <= most), last)


Range = tuple[int, int, int]
"""Number of the plan, first unit, end."""


def waves(plans: Sequence[StreamPlan], max_cost_ms: int | None = None) -> list[list[Range]]:
    """Return the ranges of all plans, wave by wave, in the order of the plans; none is empty.

    A plan ends with the last range at whose end it does not count more than `max_cost_ms`.
    """
    grouped: list[list[Range]] = [[] for _ in range(len(WAVE_COSTS_MS) + 1)]
    for number, planned in enumerate(plans):
        for lo, hi in planned.plan.ranges():
            if max_cost_ms is None or planned.weighted_cost_ms(hi) <= max_cost_ms:
                grouped[planned.wave_of(hi)].append((number, lo, hi))
    return [wave for wave in grouped if wave]


def make_plans(history: History, request: AnalyseRequest) -> tuple[list[StreamPlan], list[Gap]]:
    """Ask every attack what it would do for every stream; the usual generators come first."""
    plans: list[StreamPlan] = []
    gaps: list[Gap] = []
    for stream, draws in history.streams().items():
        for attack in ALL:
            for item in attack.plan(request.case(draws)):
                if not request.includes(item.family, item.output):
                    continue
                if isinstance(item, Gap):
                    gaps.append(item)
                elif request.modulus > greatest_modulus(item.output):
                    gaps.append(Gap(item.attack, item.family, item.output, TOO_GREAT))
                else:
                    plans.append(StreamPlan(stream, item, _weight(item)))
    return sorted(plans, key=_order), list(dict.fromkeys(gaps))


def _weight(plan: AttackPlan) -> int:
    family = family_named(plan.family)
    usual = next(iter(family.outputs))
    rare = (not family.common) + (plan.output != usual) + attack_named(plan.attack).needs_luck
    return int(RARE**rare)


_PLACES = {family.name: place for place, family in enumerate(FAMILIES)}


def _order(planned: StreamPlan) -> tuple[int, int, int, str, str, str]:
    """The usual generators first: two of them may make the same draws."""
    plan = planned.plan
    place = _PLACES.get(plan.family, len(_PLACES))
    return planned.weight, place, plan.cost_ms, plan.attack, plan.output, planned.stream
