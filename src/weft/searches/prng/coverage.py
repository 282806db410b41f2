"""Coverage of every known library call: what is searched, draws needed, seconds, success rate.

The searched space comes from the attacks' own plans, for draws without skips and wrong rows. The
seconds are planned ones, scaled by the measured speed of this machine. The success rates are
recorded data (`coverage.json`), written by `python -m benchmarks prngcoverage` from planted
histories.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from math import comb
from textwrap import wrap

from weft.model.codec import to_json
from weft.model.values import Value
from weft.searches.prng.apis import declared_apis
from weft.searches.prng.attack import AttackPlan, Case, Units
from weft.searches.prng.attacks import ALL as ATTACKS
from weft.searches.prng.attacks import attack_named, brute
from weft.searches.prng.catalogue import WIDTH
from weft.searches.prng.checks import draws_needed
from weft.searches.prng.families import FAMILIES
from weft.searches.prng.family import Api
from weft.searches.prng.request import AnalyseRequest
from weft.searches.prng.rowmaps import SHUFFLE, is_row_map, parsed
from weft.searches.prng.scoring import split

SIZES = (*range(8, 32), 40, 50, 60, 80, 100, 200, 400, 740, 1600, 3200, 4000, 6400, 8000, 9000)
"""History lengths for which attacks are asked to plan; the draws needed are one of them."""
MOST_ROWS = 100
"""The longest history of rows for which attacks are asked to plan."""
SAMPLE = ("php_mt", "bounded")
SAMPLE_UNITS = 4


@dataclass(frozen=True, slots=True)
class PlantedRecord:
    """Results on planted histories: for each call, how many were planted and how many found."""

    command: str
    date: str
    version: int
    """Version of the search `prng.analyse`."""
    draws: int
    wrong_percent: int
    """Share of wrong rows in every other history."""
    planted: dict[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class SearchedCall:
    """One attack on one call: the fewest `draws` it needs and its planned cost on one core."""

    attack: str
    covers: str
    draws: int
    cost_ms: int


@dataclass(frozen=True, slots=True)
class CallCoverage:
    """Coverage of a call; `found` of `planted` histories as recorded, None if none were planted."""

    family: str
    output: str
    api: Api
    searched: tuple[SearchedCall, ...]
    planted: int | None
    found: int | None

    def to_dict(self) -> dict[str, Value]:
        """Return the form that `--json` prints."""
        return {
            "call": self.api.call,
            "also": list(self.api.also),
            "family": self.family,
            "output": self.output,
            "vectors": self.api.vectors,
            "searched": [to_json(item) for item in self.searched],
            "planted": self.planted,
            "found": self.found,
        }

    def lines(self, speed: float) -> Iterator[str]:
        """Describe the coverage for people: the calls, then a line for each attack."""
        success = "" if self.planted is None else f"found {self.found} of {self.planted}, "
        yield self.api.call
        yield from (f"  {call}" for call in self.api.also)
        yield from wrap(
            f"{success}vectors: {self.api.vectors}",
            WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 6,
        )  # fmt: skip
        if not self.searched:
            yield "    likely seeds alone"
        for item in self.searched:
            seconds = f"{max(1, round(item.cost_ms * speed / 1000)):,}"
            covers = item.covers.partition(",")[0]
            yield f"    {covers:19} {item.attack:18} {item.draws:>6,} draws {seconds:>7} s"


def coverage() -> list[CallCoverage]:
    """Return the coverage of every declared call, the most common first."""
    calls = sorted(declared_apis().items(), key=lambda item: item[1].rarity)
    return [_call_coverage(*pair, api) for pair, api in calls]


def _call_coverage(family: str, output: str, api: Api) -> CallCoverage:
    planted, found = recorded().planted.get(f"{family}.{output}", (None, None))
    return CallCoverage(family, output, api, _searched(family, output), planted, found)


@lru_cache(maxsize=1)
def recorded() -> PlantedRecord:
    """Return the recorded results on planted histories."""
    text = files("weft.searches.prng").joinpath("coverage.json").read_text("ascii")
    return PlantedRecord(**json.loads(text))


def modulus_of(output: str) -> int:
    """Return the modulus for which a call's coverage is planned."""
    if is_row_map(output):
        _, length, is_sorted = parsed(output)
        return comb(49, length) if is_sorted else 49 if length else 52
    return 1 << 32 if output == "raw" else 1000


def _searched(family: str, output: str) -> tuple[SearchedCall, ...]:
    """Return the attacks that try all seeds or states, each with the fewest draws it needs."""
    calls: dict[str, SearchedCall] = {}
    modulus = modulus_of(output)
    for size, plans in _plans(modulus, (output,) if is_row_map(output) else ()):
        for plan in plans:
            if plan.attack not in calls and is_about(plan, family, output):
                calls[plan.attack] = SearchedCall(plan.attack, plan.covers, size, plan.cost_ms)
    return tuple(sorted(calls.values(), key=lambda item: (item.draws, item.cost_ms)))


def is_about(plan: AttackPlan, family: str, output: str) -> bool:
    """Whether a plan covers a call; `mod` with 2^32 covers `raw`."""
    return plan.family == family and plan.output in (output, "mod" if output == "raw" else output)


@lru_cache(maxsize=32)
def _plans(modulus: int, row_maps: tuple[str, ...]) -> list[tuple[int, list[AttackPlan]]]:
    """Return the plans of the exhaustive attacks for each history length."""
    least = draws_needed(AnalyseRequest(modulus=modulus))
    sizes = [least, *(size for size in SIZES if size > least)]
    if row_maps:
        sizes = [size for size in sizes if size <= MOST_ROWS]
    return [(size, _plans_for(size, modulus, row_maps)) for size in sizes]


def _plans_for(size: int, modulus: int, row_maps: tuple[str, ...]) -> list[AttackPlan]:
    example = [at % modulus if row_maps == (SHUFFLE,) else 0 for at in range(size)]
    training, _ = split(tuple(example), modulus)
    families = tuple(family.name for family in FAMILIES if family.rows) if row_maps else ()
    case = Case(training, modulus, (0, 0), (0, 0), 0, families=families, row_maps=row_maps)
    attacks = (
        [brute.ATTACK] if row_maps else [attack for attack in ATTACKS if not attack.needs_luck]
    )
    plans = [item for attack in attacks for item in attack.plan(case)]
    return [plan for plan in plans if isinstance(plan, AttackPlan)]


def machine_speed() -> float:
    """Return how many times longer than planned this machine takes to try millions of seeds."""
    case = Case((0,) * 24, 1000, (0, 0), (0, 0), 0)
    attack = attack_named("brute")
    plans = [plan for plan in attack.plan(case) if isinstance(plan, AttackPlan)]
    (plan,) = [plan for plan in plans if (plan.family, plan.output) == SAMPLE]
    attack.run(case, plan, Units(0, 1))  # compiles
    begin_s = time.process_time()
    attack.run(case, plan, Units(1, 1 + SAMPLE_UNITS))
    return 1000 * (time.process_time() - begin_s) / (plan.cost_ms * SAMPLE_UNITS / plan.units)
