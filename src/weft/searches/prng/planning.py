"""Decides which attacks to execute on which stream, in which order, and what stays uncovered.

Likelihood per cost decides. Every plan is divided into ranges; the weight of a range is the cost of
its plan up to its end, times the rarity of the call (`apis`) and how seldom the attack is needed.
Ranges are grouped into waves by that number: first the beginnings of all plans (every state
without skips, small seeds, seeds that are times), then all 32-bit seeds of common calls, then
states with many skips, likely seeds with skips, and exotic calls. The ranges of a wave run in
parallel; a wave starts only if no earlier one has found the generator.

All seeds of common calls are always tried; a budget limits the rest. Everything is decided before
the first attack starts, so the verdict can state what was covered and what was not.
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
"""Maximum weighted cost of ranges that run before all others, in milliseconds on one core."""
UNCOMPILED = ("linear-exact", "twister-words")
"""Attacks that run first because they avoid loading compiled code, which takes longer than they."""
UNCOMPILED_WAVE, EXACT_WAVE = -2, -1
FIRST_WAVE_MS = 100
"""Maximum weighted cost at the end of the first wave, in milliseconds on one core."""
WAVE_RATIO = 3
SELDOM_NEEDED: Mapping[str, int] = {
    "likely": 4,
    "dates": 64,
    "varying": 16,
    "varying-lanes": 4,
}
"""How many times less often these attacks (for skips, starts, varying skips) are needed."""
BY_SKIP = ("linear-words", "twister-state", "twister-rejection")
"""Attacks with one skip per unit, at seconds each; small skips are likelier than large ones."""
SKIPS_ALIKE = 4
LAST_RESORT = 64
"""Cost factor of brute force over the seeds of generators that programs do not seed."""
NAMED_MS = 3_600_000
"""Maximum cost of a plan that runs outside the budget because the user has named its call."""
PROMISED_MS = {EVERYDAY: 900_000, USUAL: 60_000}
"""Maximum cost of brute force outside the budget for one call, by the weight of its plan."""
STATES_BY_SKIP = ("lattice", "lanes", "twister-state", "twister-rejection")
PROMISED_STATES_MS = 40_000
"""Maximum weighted cost up to which these attacks run outside the budget."""
SHARED_BY_SEEDS = "brute"
"""The attack whose joined plans test each call; in others the calls share the whole work."""
TESTS_PERCENT = 7
"""Cost of testing one more call of a joined plan, in percent of the first call's cost."""
TOO_GREAT = "its bound is below 2^31, the modulus is greater"


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """A plan for one stream of the history."""

    stream: str
    plan: AttackPlan
    weight: int = 1
    """Factor on the cost for rare calls and seldom needed attacks."""
    done: int = 0
    """Number of units, from the first on, that an earlier run has covered."""

    def weighted_cost_ms(self, hi: int) -> int:
        """Return the cost of the plan up to the end of unit `hi`, times its weight."""
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
        """Return the estimated cost of a range on one core."""
        return -(-self.plan.cost_ms * (hi - lo) // self.plan.units)


Range = tuple[int, int, int]
"""Index of the plan, first unit, end of the units (exclusive)."""


@dataclass(frozen=True, slots=True)
class PlanLimits:
    """The limits of an analysis: a total cost for all ranges that are not exempt, or None."""

    max_cost_ms: int | None = None
    all_seeds: bool = False
    """Exempt brute force up to PROMISED_MS each and STATES_BY_SKIP up to PROMISED_STATES_MS."""
    all_named: bool = False
    """Exempt all seeds and states, up to NAMED_MS, because the user has named the call."""

    @classmethod
    def of(cls, request: AnalyseRequest) -> PlanLimits:
        """Return the limits of a request."""
        return cls(request.max_cost_ms, request.all_seeds, request.all_seeds and request.is_named)

    def exempts(self, planned: StreamPlan, hi: int) -> bool:
        """Whether a plan is executed up to unit `hi` regardless of the budget."""
        plan = planned.plan
        if self.all_named and plan.attack not in SELDOM_NEEDED:
            return plan.cost_ms <= NAMED_MS
        if self.all_seeds and plan.attack in STATES_BY_SKIP:
            return planned.weighted_cost_ms(hi) <= PROMISED_STATES_MS
        promised = PROMISED_MS.get(planned.weight, 0) if plan.attack == "brute" else 0
        return self.all_seeds and plan.cost_ms <= promised


NO_LIMITS = PlanLimits()


def waves(plans: Sequence[StreamPlan], limits: PlanLimits = NO_LIMITS) -> list[list[Range]]:
    """Return the ranges of all plans by wave, in the order of the plans; no wave is empty.

    After its first range that exceeds the remaining budget, a plan gets only exempt ranges.
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
    """Return the ranges that run first and need no compiled code, in the order of the plans."""
    return [
        (number, lo, hi)
        for number, planned in enumerate(plans)
        if planned.plan.attack in UNCOMPILED
        for lo, hi in planned.plan.ranges()
        if planned.wave_of(hi) == UNCOMPILED_WAVE
    ]


def _all_waves(plans: Sequence[StreamPlan]) -> list[list[Range]]:
    """Group into waves all ranges that no earlier run has covered."""
    grouped: dict[int, list[Range]] = {}
    for number, planned in enumerate(plans):
        for lo, hi in planned.plan.ranges():
            if hi > planned.done:
                item = (number, max(lo, planned.done), hi)
                grouped.setdefault(planned.wave_of(hi), []).append(item)
    return [grouped[wave] for wave in sorted(grouped)]


def cost_ms(plans: Sequence[StreamPlan], ranges: Iterable[Range]) -> int:
    """Return the estimated cost of ranges on one core."""
    return sum(plans[number].range_cost_ms(lo, hi) for number, lo, hi in ranges)


def make_plans(history: History, request: AnalyseRequest) -> tuple[list[StreamPlan], list[Gap]]:
    """Return the plans and gaps of every attack for every stream; common calls come first."""
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
    """Join plans that share a seeding and have the same units, coverage and progress.

    The first plan, for the most common call, represents all. In brute force, exotic calls are
    joined only with each other, so that they do not delay common ones.
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
    """Return one plan for a group: the cost is that of one seeding and the tests of each call."""
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
    """Return the factor on a plan's cost; calls are not rare if the user named families or maps."""
    rare = 1 if request.families or request.outputs else rarity(plan.family, plan.output)
    if plan.attack == "brute" and not family_named(plan.family).is_seeded:
        rare *= LAST_RESORT
    return rare * SELDOM_NEEDED.get(plan.attack, 1)


def _done(stream: str, plan: AttackPlan, excluded: Sequence[ExcludedPart]) -> int:
    """Return the number of units of the same plan that an earlier run has covered."""
    same = (stream, plan.attack, plan.family, plan.output, plan.covers, plan.units)
    return max((part.done for part in excluded if part.identity() == same), default=0)


_PLACES = {family.name: place for place, family in enumerate(FAMILIES)}


def _order(planned: StreamPlan) -> tuple[int, int, int, str, str, str]:
    """Return the sort key: common generators first, since two may produce the same draws."""
    plan = planned.plan
    place = _PLACES.get(plan.family, len(_PLACES))
    return planned.weight, place, plan.cost_ms, plan.attack, plan.output, planned.stream
