"""The sieves of MT19937 by seed: for one call, or for all calls that share a filling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING

from weft.lazy_imports import lazy_imports, lazy_module
from weft.searches.prng.arrays import Ints, ShortWords
from weft.searches.prng.attacks.sieving import Calls, Run, Target, one_by_one, runner, tested
from weft.searches.prng.family import Family
from weft.searches.prng.forms import TwisterSeeding
from weft.searches.prng.kernels.sizes import DIRECT

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

with lazy_imports():
    from weft.searches.prng.kernels import cuda, hits, mt, mt_shared, vectors

MOST_BLOCKS = Fraction(1, 16)
"""Share of blocks of seeds that may pass the first tests of a call by chance."""
MOST_SHARED_BLOCKS = Fraction(1, 512)
"""The same if several calls share the blocks."""
TWISTER_SPEED, ARRAY_SPEED = 32_000, 9_000
"""Seeds per millisecond of a core with the short and the long seeding of MT19937."""


def twister_speed(form: TwisterSeeding) -> tuple[int, str]:
    """Return the speed and the name of a filling of MT19937."""
    if form.by_array:
        return ARRAY_SPEED, "init_by_array"
    return TWISTER_SPEED, "69069" if form.product else "init_genrand"


def twister_sieve(calls: Calls, target: Target) -> Run:
    """Return the sieve of MT19937's first outputs for calls with one filling."""
    probes = [probe_call(family, output, target) for family, output in calls]
    if len(calls) > 1:
        return shared_sieve(calls, probes, target)
    [(family, _)], [probe] = calls, probes
    form = twister_form(family)
    stops, places = schedule(probe.positions, form, probe.first_tests(MOST_BLOCKS))
    if probe.draw is None:
        sieve = cuda.sieve_mt if target.device == "gpu" else mt.sieve_mt
        return runner(sieve, form, stops, places, probe.tests, target.enough)
    if target.device == "gpu":
        judged = (probe.draw, probe.expected, target.enough)
        return runner(cuda.scan_mt, form, stops, places, *judged)
    draws = probe.draw.reshape(1, -1)
    return runner(mt.scan_mt, form, stops, places, draws, probe.expected, target.enough)


@dataclass(frozen=True, slots=True)
class CallProbe:
    """The outputs that a call compares, in order, and how it tests them.

    Without `draw`, row i of `tests` tests output i. With it, the call takes some bits of a word,
    and another word if they are too great. Which output a draw was is then not known in advance, so
    `hits.scan_output` goes through all outputs.
    """

    positions: Sequence[int]
    chance: Fraction
    """Probability that a seed passes one test by chance."""
    wrong: int
    """Tests that a seed may fail."""
    tests: ShortWords
    draw: ShortWords | None
    expected: ShortWords

    def first_tests(self, most_blocks: Fraction) -> int:
        """Return how many tests reject most blocks of seeds."""
        return first_tests(self.chance, len(self.positions), self.wrong, most_blocks)


def probe_call(family: Family, output: str, target: Target) -> CallProbe:
    """Return the probe of a call, with outputs in the order in which they become known."""
    wrong = len(target.draws) - target.enough
    end = redrawn_from(family, output)
    if end is not None:
        return probe_redrawing(end, target, wrong)
    reading, tests = tested(family, output, target)
    positions, form = target.positions(reading.steps), twister_form(family)
    order = sorted(range(len(positions)), key=lambda at: known_after(positions[at], form))
    ordered, chance = [positions[at] for at in order], Fraction(1, target.modulus)
    return CallProbe(ordered, chance, wrong, tests[order], None, np.empty((0, 2), np.uint32))


def probe_redrawing(end: str, target: Target, wrong: int) -> CallProbe:
    """Return the probe of a call that draws again."""
    high = end == "high"
    bits = target.modulus.bit_length() if high else (target.modulus - 1).bit_length()
    draw = np.array((32 - bits if high else 0, (1 << bits) - 1, target.modulus), np.uint32)
    compared = dict(zip(target.positions(1), target.draws, strict=True))
    count = max(compared) + 1
    outputs = min(DIRECT, 2 * count + 32)  # outputs beyond these are not tested
    remaining = [sum(at >= call for at in compared) for call in range(count)]
    rows = [(compared.get(call, hits.ANY), remaining[call]) for call in range(count)]
    expected = np.array([*rows, *([(hits.ANY, 0)] * (outputs + 1))], np.uint32)
    chance = Fraction((1 << bits) - target.modulus + 1, 1 << bits)
    no_tests = np.zeros((outputs, 5), np.uint32)
    return CallProbe(range(outputs), chance, wrong, no_tests, draw, expected)


def shared_sieve(calls: Calls, probes: Sequence[CallProbe], target: Target) -> Run:
    """Return the sieve of several calls; on a GPU, where filling is cheap, one after another."""
    if target.device == "gpu":
        return one_by_one([twister_sieve([call], target) for call in calls])
    filled = mt.BY_ARRAY if twister_form(calls[0][0]) == mt.BY_ARRAY else mt.MODERN
    early = [at for p in probes for at in p.positions[: p.first_tests(MOST_SHARED_BLOCKS)]]
    late = [at for p in probes for at in p.positions]
    union = list(dict.fromkeys([*early, *late]))
    stops, places = schedule(union, filled, len(set(early)))
    rows, first, base = [], 0, 0
    for (family, _), probe in zip(calls, probes, strict=True):
        misplaced = twister_form(family) == mt.LEGACY
        end = first + len(probe.positions)
        rows.append((probe.draw is not None, misplaced, first, end, target.enough, base))
        first, base = end, base + len(probe.expected)
    return runner(
        mt_shared.sieve_shared,
        filled,
        stops,
        places,
        np.array(rows, np.int64),
        np.array([union.index(at) for p in probes for at in p.positions]),
        np.concatenate([probe.tests for probe in probes]),
        np.array([p.draw if p.draw is not None else (0, 0, 0) for p in probes], np.uint32),
        np.concatenate([probe.expected for probe in probes]),
    )


def redrawn_from(family: Family, output: str) -> str | None:
    """Return the end of a word whose bits a rejecting map takes; None if it does not reject."""
    return family.twister.rejecting.get(output) if family.twister else None


def known_after(position: int, form: int) -> int:
    """Return the step of the filling after which an output of a twister is known."""
    return max(mt.step_of(position + more, form) for more in (0, 1, mt.FAR))


def first_tests(chance: Fraction, tests: int, wrong: int, most_blocks: Fraction) -> int:
    """Return the number of tests that less than `most_blocks` of all blocks pass by chance."""
    for count in range(wrong + 1, tests):
        missed = range(min(wrong, count) + 1)
        passed = sum(comb(count, k) * (1 - chance) ** k * chance ** (count - k) for k in missed)
        if passed * vectors.LANES < most_blocks:
            return count
    return tests


def schedule(positions: Sequence[int], form: int, first: int) -> tuple[Ints, Ints]:
    """Return the steps at which to stop, and each output with the number of stops before it.

    This number is -1 from output `first` on, which few blocks reach. init_by_array stores every
    word, so it stops only where an output becomes known, for all outputs.
    """
    early = positions if form == mt.BY_ARRAY else positions[:first]
    if form == mt.BY_ARRAY:
        steps = {known_after(at, form) for at in early}
    else:
        steps = {at + more for at in early for more in (0, 1, mt.FAR)}
    stops, last, places = sorted(steps), 0, []
    for at in early:
        last = max(last, stops.index(known_after(at, form)) + 1)
        places.append((at, last))
    places += [(at, -1) for at in positions[len(early) :]]
    return np.array(stops), np.array(places)


def twister_form(family: Family) -> int:
    """Return the kernel's form of a twister."""
    assert isinstance(family.seed_form, TwisterSeeding)
    assert family.twister is not None
    if family.seed_form.by_array:
        return mt.BY_ARRAY
    if family.seed_form.product:
        return mt.FIRST_FORM
    return mt.LEGACY if family.twister.misplaced else mt.MODERN
