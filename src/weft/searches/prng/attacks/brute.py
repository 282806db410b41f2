"""Brute force over all 32-bit seeds, at the first start and skip, or at all pairs if few.

Compiled code sieves the seeds on the first draws: a seed passes with enough hits, wherever the
misses are, so a corrupt first row hides nothing. The family's own definition then checks what
passed on a longer window. A unit is a start, a skip and 2^20 seeds; small seeds come first, then
Unix times, then the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from weft.lazy_imports import lazy_imports
from weft.searches.prng.attack import AttackPlan, Case, Gap, HypothesisMatch, Units, best, compare
from weft.searches.prng.attacks.brute_sieves import sieve_of
from weft.searches.prng.attacks.likely_seeds import TIMES
from weft.searches.prng.attacks.noise import BAD_LUCK, affordable, unlucky
from weft.searches.prng.attacks.row_sieves import is_shuffle_known, shuffle_target
from weft.searches.prng.attacks.sieving import Sieve, Target
from weft.searches.prng.families import FAMILIES, family_named
from weft.searches.prng.family import Family
from weft.searches.prng.forms import CompiledSeeding
from weft.searches.prng.hypothesis import Hypothesis, Skips
from weft.searches.prng.rowmaps import SHUFFLE, row_length

with lazy_imports():
    from weft.searches.prng.kernels import cuda

NAME = "brute"
SEED_BITS = 32
CHUNK_BITS = 20
CHUNKS_PER_TASK = 64
SMALL_CHUNKS = 32
"""Seeds up to 33,554,431 come first: all seven-digit numbers, and dates written as eight digits."""
TIME_CHUNKS = range((TIMES[1] - 1) >> CHUNK_BITS, (TIMES[0] >> CHUNK_BITS) - 1, -1)
"""Chunks of Unix times, the latest first."""
MAX_PLACES = 16
"""Maximum number of (start, skip) pairs for which all are tried; beyond it, only the first is."""
PASSED = Fraction(1, 1 << 22)
"""Share of seeds that a sieve may let pass by chance."""
CHANCE_SEEDS = Fraction(1, 1000)
SIEVE_LUCK = Fraction(1, 100_000)
"""Bound on the probability that a history begins with more wrong draws than the sieve tolerates."""
QUICK_LUCK = Fraction(1, 100)
"""The same if the sieve is not thorough: three tests then reject most seeds, instead of seven."""
THOROUGH_PERCENT = 150
"""Cost of a thorough sieve, in percent of the usual cost."""
MAX_SIEVED, MAX_CHECKED = 96, 192
NAME_FEWER = "name fewer --skips and --starts to try all seeds"


@dataclass(frozen=True, slots=True)
class BruteWindow:
    """The numbers of draws to sieve and to check, and how many of each may be wrong."""

    sieved: int
    sieved_wrong: int
    checked: int
    checked_wrong: int


class Brute:
    """The brute-force attack; stateless."""

    name = NAME
    needs_luck = False

    def plan(self, case: Case) -> Sequence[AttackPlan | Gap]:
        """Return the plans and gaps of all chosen families that have a sieve."""
        window = window_of(case)
        return [
            item
            for family in case.chosen(FAMILIES)
            for output in case.outputs_of(family)
            for item in plan_output(case, window_for(case, window, output), family, output)
        ]

    def run(self, case: Case, plan: AttackPlan, units: Units) -> Sequence[HypothesisMatch]:
        """Try the seeds of the units."""
        window, candidates = window_for(case, window_of(case), plan.output), []
        calls = [(family_named(family), output) for family, output in plan.calls]
        known = is_row_known(case, plan.output)
        sieve = sieve_of(*calls[0], case.modulus, is_row_known=known)
        assert window is not None
        assert sieve is not None
        for (start, skip), first, end in joined(case, seed_bits(calls[0][0]), units.lo, units.hi):
            target = target_for(calls[0][0], plan.output, case, window, start, skip)
            target = replace(target, device=cuda.chosen(units.device))
            for passed in in_chunk_order(sieve.make(calls, target)(first, end), first):
                call, seed = divmod(passed, 1 << SEED_BITS)
                made_by = (*plan.calls[call], case.modulus)
                guess = Hypothesis(*made_by, seed=seed, skips=Skips.constant(skip), start=start)
                if compare(case, guess, window.checked).wrong <= window.checked_wrong:
                    candidates.append(compare(case, guess))
        return best(candidates)


def is_row_known(case: Case, output: str) -> bool:
    """Whether the map is a shuffle and the draws begin with a whole one: see `is_shuffle_known`."""
    return output == SHUFFLE and is_shuffle_known(case.draws, case.modulus)


def seed_bits(family: Family) -> int:
    """Return the number of seed bits to try: 32, or fewer if the family takes fewer."""
    return min(SEED_BITS, family.seed_bits)


def joined(case: Case, bits: int, lo: int, hi: int) -> list[tuple[tuple[int, int], int, int]]:
    """Return the units as (place, first seed, end), with adjacent ranges merged.

    Chunks of times come latest first; they are merged too, and `in_chunk_order` restores the order.
    """
    places, ranges = places_of(case), list[tuple[tuple[int, int], int, int]]()
    order = chunk_order(bits)
    for unit in range(lo, hi):
        place = places[unit // len(order)]
        first = order[unit % len(order)] << CHUNK_BITS
        end = first + (1 << CHUNK_BITS)
        if ranges and (ranges[-1][0], ranges[-1][2]) == (place, first):
            _, first, _ = ranges.pop()
        elif ranges and (ranges[-1][0], ranges[-1][1]) == (place, end):
            _, _, end = ranges.pop()
        ranges.append((place, first, end))
    return ranges


def in_chunk_order(passed: Sequence[int], first: int) -> Sequence[int]:
    """Return the seeds that passed in a range from `first` on, in the order of the chunks."""
    if first >> CHUNK_BITS not in TIME_CHUNKS:
        return passed
    return sorted(passed, key=lambda item: -(item % (1 << SEED_BITS) >> CHUNK_BITS))


def plan_output(
    case: Case, window: BruteWindow | None, family: Family, output: str
) -> list[AttackPlan | Gap]:
    """Return the plan of one output map and the gaps it leaves."""
    known = is_row_known(case, output)
    sieve = sieve_of(family, output, case.modulus, is_row_known=known)
    if sieve is None and family.rows is not None and family.rows.calls is not None:
        why = f"needs one whole shuffle before the last fifth: {5 * case.modulus // 4 + 1} draws"
        return [Gap(NAME, family.name, output, why)] if output == SHUFFLE else []
    if sieve is None:
        return []
    if window is None:
        why = f"needs {draws_needed(case)} draws, there are {len(case.draws)}"
        return [Gap(NAME, family.name, output, why)]
    places = places_of(case)
    targets = (target_for(family, output, case, window, *place) for place in places)
    if not all(map(sieve.reaches, targets)):
        why = "the draws are too far from the seed to be reached quickly"
        return [Gap(NAME, family.name, output, why)]
    planned = plan_places(case, window, family, output, sieve, places)
    return [planned, *left_out(case, family, output)]


def plan_places(
    case: Case,
    window: BruteWindow,
    family: Family,
    output: str,
    sieve: Sieve,
    places: list[tuple[int, int]],
) -> AttackPlan:
    """Return the plan for the starts and skips that are tried."""
    examples = ", ".join(f"start {start} skip {skip}" for start, skip in places[:3])
    more = f" and {len(places) - 3} more" if len(places) > 3 else ""
    first = f"{window.sieved_wrong} of the first {window.sieved}"
    if sieve.whole_row:
        first = "none in the first row"
    covers = (
        f"all 2^{seed_bits(family)} seeds, {examples}{more},"
        f" {window.checked_wrong} wrong of {window.checked} draws, {first}"
    )
    tried = len(places) << seed_bits(family)
    cost_ms = tried // sieve.speed * (THOROUGH_PERCENT if case.thorough else 100) // 100
    return AttackPlan(
        NAME, family.name, output, tried >> CHUNK_BITS, CHUNKS_PER_TASK,
        tried, cost_ms, covers, sieve.seeding,
    )  # fmt: skip


def left_out(case: Case, family: Family, output: str) -> list[Gap]:
    """Return the gap for starts and skips if there are too many to try with every seed."""
    if len(places_of(case)) == case.place_count:
        return []
    why = (
        f"starts {case.starts[0]}..{case.starts[1]} with skips {case.skips[0]}..{case.skips[1]}"
        f" are tried with likely seeds alone; {NAME_FEWER}"
    )
    return [Gap(NAME, family.name, output, why)]


def places_of(case: Case) -> list[tuple[int, int]]:
    """Return the (start, skip) pairs that are tried with every seed, skip by skip."""
    if case.place_count > MAX_PLACES:
        return [(case.starts[0], case.skips[0])]
    starts = range(case.starts[0], case.starts[1] + 1)
    return [(start, skip) for skip in range(case.skips[0], case.skips[1] + 1) for start in starts]


@lru_cache(maxsize=8)
def chunk_order(bits: int = SEED_BITS) -> tuple[int, ...]:
    """Return all chunks of seeds: small seeds, then Unix times, latest first, then the rest."""
    small = range(SMALL_CHUNKS)
    rest = range(SMALL_CHUNKS, 1 << (bits - CHUNK_BITS))
    return (*small, *TIME_CHUNKS, *(chunk for chunk in rest if chunk not in TIME_CHUNKS))


def window_of(case: Case) -> BruteWindow | None:
    """Return the windows to sieve and to check; None if there are too few draws."""
    survivors = PASSED * (1 << SEED_BITS)
    luck = SIEVE_LUCK if case.thorough else QUICK_LUCK
    sieved = enough_draws(case, 1 << SEED_BITS, survivors, MAX_SIEVED, luck=luck)
    checked = enough_draws(case, len(places_of(case)) << SEED_BITS, CHANCE_SEEDS, MAX_CHECKED)
    if sieved is None or checked is None:
        return None
    return BruteWindow(*sieved, *checked)


@lru_cache(maxsize=64)
def draws_needed(case: Case) -> int:
    """Return the number of draws needed to tell a seed from chance."""
    return case.fewest_draws(MAX_CHECKED, lambda longer: window_of(longer) is not None)


def enough_draws(
    case: Case,
    tried: int,
    survivors: Fraction,
    most: int,
    least: int = 1,
    luck: Fraction = BAD_LUCK,
) -> tuple[int, int] | None:
    """Return the smallest window that tolerates bad luck, with the wrong draws it tolerates.

    Otherwise the largest window that tolerates `Case.wrong_allowed`; None if there is none.
    """
    windows = range(least, min(most, len(case.draws)) + 1)
    return _first_window(replace(case, draws=()), windows, tried, survivors, luck)


@lru_cache(maxsize=1024)
def _first_window(
    case: Case, windows: range, tried: int, survivors: Fraction, luck: Fraction
) -> tuple[int, int] | None:
    """Compute `enough_draws` for a case without draws, so that all output maps share the result."""
    last = None
    for compared in windows:
        allowed = affordable(compared, case.modulus, tried, survivors)
        wrong = unlucky(compared, case.corrupt_percent, luck)
        if allowed >= wrong:
            return compared, wrong
        if allowed >= case.wrong_allowed(compared):
            last = compared, allowed
    return last


def window_for(case: Case, window: BruteWindow | None, output: str) -> BruteWindow | None:
    """Return the window for an output map; maps of rows have a separate one."""
    judged = case.judged_as(output)
    return window if judged is case else window_of(judged)


def target_for(
    family: Family, output: str, case: Case, window: BruteWindow, start: int, skip: int
) -> Target:
    """Return the target of an output map's sieve: the first draws, or the whole first row."""
    form = family.seed_form
    if family.rows is not None and family.rows.calls is not None and is_row_known(case, output):
        return shuffle_target(family, case, start, skip)
    if isinstance(form, CompiledSeeding) and form.alike:
        passed = max(0, min(form.alike, len(case.draws) - window.sieved))
        later = replace(case, draws=case.draws[passed:])
        return target_at(later, window, start + passed * (skip + 1), skip)
    if family.rows is None or not family.rows.bits:
        return target_at(case, window, start, skip)
    count = row_length(output, case.modulus)
    return Target(case.draws[:count], case.modulus, start, skip, count)


def target_at(case: Case, window: BruteWindow, start: int, skip: int) -> Target:
    """Return the target made of the first draws."""
    draws = case.draws[: window.sieved]
    return Target(draws, case.modulus, start, skip, window.sieved - window.sieved_wrong)


ATTACK = Brute()
