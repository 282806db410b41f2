"""Which attacks to carry out on which stream, in which order, and what stays uncovered.

Every plan is cut into ranges, and ranges are grouped into waves by what their plan will have
cost up to their end: first the beginnings of all plans, where small skips and likely seeds are,
then what is dearer. A wave runs side by side and is begun only when none before it has found the
generator. Everything is decided before the first attack starts, so the verdict can say what was
covered and what was not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weft.prng.attack import Gap, Plan
from weft.prng.attacks import ALL
from weft.prng.case import Case
from weft.prng.families import ALL as FAMILIES
from weft.prng.families import family_named
from weft.prng.generate import greatest_modulus
from weft.prng.history import History
from weft.prng.scoring import split

WAVE_COSTS = (200, 1_000, 5_000, 20_000, 60_000, 200_000)
"""What a plan may have cost at the end of each wave, in milliseconds of one core."""
RARE = 8
"""A plan counts as so many times dearer for each of: a generator that few programs use, an
output map that is not the usual one of its generator, an attack that needs luck."""
USUAL = ("java", "mt19937", "php_mt", "cpython", "glibc", "v8", "msvc", "xorshift64")
TOO_GREAT = "its bound is below 2^31, the modulus is greater"
LUCKY = ("dates", "likely", "varying")


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides the outcome beside the draws. `families` and `outputs` empty: all."""

    modulus: int
    families: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    skips: tuple[int, int] = (0, 500)
    starts: tuple[int, int] = (0, 1000)
    corrupt_percent: int = 10
    alpha_evidence: int = 3000
    max_cost: int | None = None
    """Milliseconds of one core after which a plan is left where it is, as it counts."""
    predict: int = 100

    def to_dict(self) -> dict[str, Any]:
        """Return the recorded form; `from_dict` undoes it."""
        return {
            "modulus": self.modulus,
            "families": list(self.families),
            "outputs": list(self.outputs),
            "skips": list(self.skips),
            "starts": list(self.starts),
            "corrupt_percent": self.corrupt_percent,
            "alpha_evidence": self.alpha_evidence,
            "max_cost": self.max_cost,
            "predict": self.predict,
        }

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> Settings:
        """Read the recorded form."""
        pairs = {name: tuple(raw[name]) for name in ("families", "outputs", "skips", "starts")}
        return cls(**{**raw, **pairs})

    def case(self, draws: Sequence[int]) -> Case:
        """Return what attacks may know of a stream: its training part and the ranges."""
        train, _ = split(draws)
        return Case(train, self.modulus, self.skips, self.starts, self.corrupt_percent)


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan for one stream of the history."""

    stream: str
    plan: Plan
    weight: int = 1
    """How many times dearer it counts than it is, because it is unusual."""

    def to_dict(self) -> dict[str, Any]:
        """Return the recorded form; `from_dict` undoes it."""
        return {"stream": self.stream, "weight": self.weight, "plan": self.plan.to_dict()}

    @staticmethod
    def from_dict(raw: Mapping[str, Any]) -> Planned:
        """Read the recorded form."""
        return Planned(raw["stream"], Plan.from_dict(raw["plan"]), raw["weight"])

    def counted(self, hi: int) -> int:
        """Return what the plan will have cost at the end of unit `hi`, as it counts."""
        return self.weight * self.plan.cost * hi // self.plan.units

    def wave_of(self, hi: int) -> int:
        """Return the wave of the range that ends with unit `hi`."""
        counted = self.counted(hi)
        return next((i for i, most in enumerate(WAVE_COSTS) if counted <= most), len(WAVE_COSTS))


Range = tuple[int, int, int]
"""Number of the plan, first unit, end."""


def waves(plans: Sequence[Planned], max_cost: int | None = None) -> list[list[Range]]:
    """Return the ranges of all plans, wave by wave, in the order of the plans; none is empty.

    A plan ends with the last range at whose end it does not count more than `max_cost`.
    """
    found: list[list[Range]] = [[] for _ in range(len(WAVE_COSTS) + 1)]
    for number, one in enumerate(plans):
        for lo, hi in one.plan.ranges():
            if max_cost is None or one.counted(hi) <= max_cost:
                found[one.wave_of(hi)].append((number, lo, hi))
    return [wave for wave in found if wave]


def make_plans(history: History, settings: Settings) -> tuple[list[Planned], list[Gap]]:
    """Ask every attack what it would do for every stream; the usual generators come first."""
    plans: list[Planned] = []
    gaps: list[Gap] = []
    for stream, draws in history.streams().items():
        for attack in ALL:
            for said in attack.plan(settings.case(draws)):
                if not _wanted(said, settings):
                    continue
                if isinstance(said, Gap):
                    gaps.append(said)
                elif settings.modulus > greatest_modulus(said.output):
                    gaps.append(Gap(said.attack, said.family, said.output, TOO_GREAT))
                else:
                    plans.append(Planned(stream, said, _weight(said)))
    return sorted(plans, key=_order), list(dict.fromkeys(gaps))


def _wanted(said: Plan | Gap, settings: Settings) -> bool:
    family = not settings.families or said.family in settings.families
    return family and (not settings.outputs or said.output in settings.outputs)


def _weight(plan: Plan) -> int:
    usual = next(iter(family_named(plan.family).outputs))
    rare = (plan.family not in USUAL) + (plan.output != usual) + (plan.attack in LUCKY)
    return int(RARE**rare)


_PLACES = {family.name: place for place, family in enumerate(FAMILIES)}


def _order(one: Planned) -> tuple[int, int, int, str, str, str]:
    """The usual generators first: two of them may make the same draws."""
    plan = one.plan
    place = _PLACES.get(plan.family, len(_PLACES))
    return one.weight, place, plan.cost, plan.attack, plan.output, one.stream
