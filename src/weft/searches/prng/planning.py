"""Which attacks to execute on which stream, in which order, and what stays uncovered.

Likelihood per cost decides. Every plan is cut into ranges; a range counts what its plan will have
cost up to its end, times how rare the call is that makes such draws (`apis`) and how seldom the
attack is needed. Ranges are grouped into waves by that number: first the beginnings of all plans
(every state without skips, small seeds, seeds that are times), then all 32-bit seeds of the calls
that people make, then states with many skips, likely seeds with skips, and what is exotic. A wave
runs side by side and is begun only when none before it has found the generator.

All seeds of usual calls are a promise; a budget ends the rest. Everything is decided before the
first attack starts, so the verdict can say what was covered, what was not, and what goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from weft.searches.prng.apis import rarity
from weft.searches.prng.attack import AttackPlan, Gap
from weft.searches.prng.attacks import ALL
from weft.searches.prng.families import FAMILIES, family_named
from weft.searches.prng.family import EVERYDAY, EXOTIC, USUAL
from weft.searches.prng.generate import greatest_modulus
from weft.searches.prng.history import History
from weft.searches.prng.request import AnalyseRequest, ExcludedPart

EXACT_MS = 25
"""What is tried alone before everything else costs at most, in milliseconds of one core."""
UNCOMPILED = ("linear-exact", "twister-words")
"""Attacks that load no compiled code, which takes longer than they do: they are tried first."""
UNCOMPILED_WAVE, EXACT_WAVE = -2, -1
FIRST_WAVE_MS = 100
"""What a usual plan may have cost at the end of the first wave, in milliseconds of one core."""
WAVE_RATIO = 3
SELDOM_NEEDED: Mapping[str, int] = {
    "likely": 4,
    "dates": 64,
    "varying": 16,
    "varying-lanes": 4,
}
"""How many times less often these attacks are what is needed: skips, starts, skips that vary."""
BY_SKIP = ("linear-words", "twister-state", "twister-rejection")
"""Attacks whose units are skips and cost seconds each; small skips are likelier than great ones."""
SKIPS_ALIKE = 4
LAST_RESORT = 64
"""How many times its cost brute force counts over the seeds of what programs do not seed."""
NAMED_MS = 3_600_000
"""What one plan for a call that the user has named may cost and still be carried out whole."""
PROMISED_MS = {EVERYDAY: 900_000, USUAL: 60_000}
"""What brute force over all seeds of one such call may cost and still be promised."""
STATES_BY_SKIP = ("lattice", "lanes", "twister-state", "twister-rejection")
PROMISED_STATES_MS = 40_000
"""What these may cost up to a skip, times how rare the call is, and still be promised."""
SHARED_BY_SEEDS = "brute"
"""The attack that tests each of several calls; others attack what the calls have in common."""
TESTS_PERCENT = 7
"""What a further call costs of what a seeding costs that it shares."""
TOO_GREAT = "its bound is below 2^31, the modulus is greater"


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """A plan for one stream of the history."""

    stream: str
    plan: AttackPlan
    weight: int = 1
    """How many times its cost it counts, because it is unusual."""
    done: int = 0
    """Units that an earlier run has covered: the first ones."""

    def weighted_cost_ms(self, hi: int) -> int:
        """Return what the plan will have cost at the end of unit `hi`, times its weight."""
        cost_ms = self.weight * self.plan.cost_ms * hi // self.plan.units
        return cost_ms * (1 + hi // SKIPS_ALIKE) if self.plan.attack in BY_SKIP else cost_ms

    def wave_of(self, hi: int) -> int:
        """Return the wave of the range that ends with unit `hi`."""
        wave, most = 0, FIRST_WAVE_MS
        cost_ms = self.weighted_cost_ms(hi)
        if cost_ms <= EXACT_MS:
            return UNCOMPILED_WAVE if self.plan.attack in UNCOMPILED else EXACT_WAVE
        while cost_ms > most:
            wave, most = wave + 1, most * WAVE_RATIO
        return wave

    def range_cost_ms(self, lo: int, hi: int) -> int:
        """Return what a range is estimated to cost on one core."""
        return -(-self.plan.cost_ms * (hi - lo) // self.plan.units)


Range = tuple[int, int, int]
"""Number of the plan, first unit, end."""


@dataclass(frozen=True, slots=True)
class PlanLimits:
    """What ends a plan: a cost for all that is not exempt from it; None ends nothing."""

    max_cost_ms: int | None = None
    all_seeds: bool = False
    """Exempt brute force over the seeds of everyday and usual calls, up to PROMISED_MS each."""
    all_named: bool = False
    """Exempt all seeds and states, up to NAMED_MS: the user has named the call."""

    @classmethod
    def of(cls, request: AnalyseRequest) -> PlanLimits:
        """Return the limits of a request."""
        return cls(request.max_cost_ms, request.all_seeds, request.all_seeds and request.is_named)

    def exempts(self, planned: StreamPlan, hi: int) -> bool:
        """Whether a plan is carried out up to unit `hi` whatever the others cost."""
        plan = planned.plan
        if self.all_named and plan.attack not in SELDOM_NEEDED:
            return plan.cost_ms <= NAMED_MS
        if self.all_seeds and plan.attack in STATES_BY_SKIP:
            return planned.weighted_cost_ms(hi) <= PROMISED_STATES_MS
        promised = PROMISED_MS.get(planned.weight, 0) if plan.attack == "brute" else 0
        return self.all_seeds and plan.cost_ms <= promised


NO_LIMITS = PlanLimits()


def waves(plans: Sequence[StreamPlan], limits: PlanLimits = NO_LIMITS) -> list[list[Range]]:
    """Return the ranges of all plans, wave by wave, in the order of the plans; none is empty.

    A plan ends, for good, with the first range that its limits do not leave room for.
    """
    remaining_ms, ended = limits.max_cost_ms, set[int]()
    ranges: list[list[Range]] = []
    for wave in _all_waves(plans):
        ranges.append([])
        for number, lo, hi in wave:
            if remaining_ms is not None and not limits.exempts(plans[number], hi):
                cost_ms = plans[number].range_cost_ms(lo, hi)
                if number in ended or cost_ms > remaining_ms:
                    ended.add(number)
                    continue
                remaining_ms -= cost_ms
            ranges[-1].append((number, lo, hi))
    return [wave for wave in ranges if wave]


def uncompiled_ranges(plans: Sequence[StreamPlan]) -> list[Range]:
    """Return what is tried first and needs no compiled code, in the order of the plans."""
    return [
        (number, lo, hi)
        for number, planned in enumerate(plans)
        if planned.plan.attack in UNCOMPILED
        for lo, hi in planned.plan.ranges()
        if planned.wave_of(hi) == UNCOMPILED_WAVE
    ]


def _all_waves(plans: Sequence[StreamPlan]) -> list[list[Range]]:
    """Group all ranges that no earlier run has covered."""
    grouped: dict[int, list[Range]] = {}
    for number, planned in enumerate(plans):
        for lo, hi in planned.plan.ranges():
            if hi > planned.done:
                item = (number, max(lo, planned.done), hi)
                grouped.setdefault(planned.wave_of(hi), []).append(item)
    return [grouped[wave] for wave in sorted(grouped)]


def cost_ms(plans: Sequence[StreamPlan], ranges: Iterable[Range]) -> int:
    """Return what ranges are estimated to cost on one core."""
    return sum(plans[number].range_cost_ms(lo, hi) for number, lo, hi in ranges)


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
                    covered = _done(stream, item, request.excluded)
                    plans.append(StreamPlan(stream, item, _weight(item, request), covered))
    return _with_shared_seedings(sorted(plans, key=_order)), list(dict.fromkeys(gaps))


def _with_shared_seedings(plans: Sequence[StreamPlan]) -> list[StreamPlan]:
    """Join plans that need the same seeds and are tried at the same place of the order.

    The first, which is the most usual, stands for all. What no library offers stays alone, so
    that usual calls are not delayed by it; a state is solved for once, whoever has it.
    """
    groups: dict[object, list[StreamPlan]] = {}
    for number, planned in enumerate(plans):
        plan = planned.plan
        is_exotic = plan.attack == SHARED_BY_SEEDS and planned.weight >= EXOTIC
        alone = number if not plan.seeding or planned.done == plan.units else None
        place = (plan.units, plan.covers, planned.done, is_exotic)
        groups.setdefault((planned.stream, plan.seeding, *place, alone), []).append(planned)
    return [_joined(group) for group in groups.values()]


def _joined(group: Sequence[StreamPlan]) -> StreamPlan:
    """Return one plan for all of a group: a seeding, and the tests of each call."""
    first = group[0]
    if len(group) == 1:
        return first
    percent = TESTS_PERCENT if first.plan.attack == SHARED_BY_SEEDS else 0
    tests = (len(group) - 1) * first.plan.cost_ms * percent // 100
    joined = replace(
        first.plan,
        tried=sum(planned.plan.tried for planned in group),
        cost_ms=first.plan.cost_ms + tests,
        also=tuple(call for planned in group[1:] for call in planned.plan.calls),
    )
    return replace(first, plan=joined)


def _weight(plan: AttackPlan, request: AnalyseRequest) -> int:
    """Return how many times its cost a plan counts; nothing is rare that the user has named."""
    rare = 1 if request.families or request.outputs else rarity(plan.family, plan.output)
    if plan.attack == "brute" and not family_named(plan.family).is_seeded:
        rare *= LAST_RESORT
    return rare * SELDOM_NEEDED.get(plan.attack, 1)


def _done(stream: str, plan: AttackPlan, excluded: Sequence[ExcludedPart]) -> int:
    """Return how many units of the same plan an earlier run has covered."""
    same = (stream, plan.attack, plan.family, plan.output, plan.covers, plan.units)
    return max((part.done for part in excluded if part.identity() == same), default=0)


_PLACES = {family.name: place for place, family in enumerate(FAMILIES)}


def _order(planned: StreamPlan) -> tuple[int, int, int, str, str, str]:
    """The usual generators first: two of them may make the same draws."""
    plan = planned.plan
    place = _PLACES.get(plan.family, len(_PLACES))
    return planned.weight, place, plan.cost_ms, plan.attack, plan.output, planned.stream
