"""Signs that draws come from no random source, without a guess at the generator.

A remainder by m = 2^t·q shows t low bits of an output. Of a linear generator they are a linear
recurring sequence (Berlekamp 1968, Massey 1969), of a congruential one modulo a power of two
they have a short period. A detection is a finding in words with its evidence; it names no state
and predicts nothing. The evidence is corrected for all tests made, a third of the error for each
kind, and what is below FLOOR is not reported: of 10^9 random histories one gives a detection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.lazy_imports import lazy_imports, lazy_module
from weft.searches.prng.attack import Case
from weft.searches.prng.statistics import corrected, decades

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

with lazy_imports():
    from weft.searches.prng.kernels import massey

FLOOR = 9000
"""Thousandths of a decade that a detection has at least, after the correction."""
MOST_BITS = 50_000
"""Draws of one lane that the linear complexity is taken of: its cost grows with the square."""
MOST_LANES = 8
MOST_PERIOD = 1 << 16
_LOG2_MILLI = 301
"""log10(2) in thousandths, rounded down."""


@dataclass(frozen=True, slots=True)
class Detection:
    """A finding: which test, what it saw, and −log10 of its corrected p in thousandths."""

    name: str
    text: str
    evidence: int


def detect(case: Case) -> list[Detection]:
    """Return what the tests find in a history, in the order of the lanes, lowest bit first."""
    lanes = _lanes(case)
    detections = [_linear(lane, bits, len(lanes)) for lane, bits in enumerate(lanes)]
    detections += [_periodic(lane, case, len(lanes)) for lane in range(1, len(lanes) + 1)]
    detections += [_repeating(case)]
    return [detection for detection in detections if detection is not None]


def _lanes(case: Case) -> list[list[int]]:
    """Return the low bits that the modulus shows, one list for each."""
    count = min(MOST_LANES, (case.modulus & -case.modulus).bit_length() - 1)
    return [[draw >> lane & 1 for draw in case.draws] for lane in range(count)]


def _linear(lane: int, bits: list[int], lanes: int) -> Detection | None:
    """Compare the linear complexity with the half of the length that a random lane has.

    Of the 2^n sequences of length n fewer than 2^(2L+1) have a complexity of L or less.
    """
    bits = bits[:MOST_BITS]
    complexity = linear_complexity(bits)
    spare = len(bits) - 2 * complexity - 1
    evidence = max(0, spare * _LOG2_MILLI - decades(3 * lanes))
    if evidence < FLOOR:
        return None
    text = (
        f"bit {lane} of the draws obeys a linear recurrence of order {complexity:,}, "
        f"tried on {len(bits):,} draws"
    )
    return Detection("linear-complexity", text, evidence)


def linear_complexity(bits: list[int]) -> int:
    """Return the length of the shortest linear recurrence that makes the bits."""
    if not bits:
        return 0
    return int(massey.linear_complexity(np.array(bits, np.uint8)))


def linear_complexity_plain(bits: list[int]) -> int:
    """Do the same bit by bit, with polynomials as integers: the plain twin."""
    now, before, length, gap = 1, 1, 0, 1
    for at in range(len(bits)):
        wrong = 0
        for lag in range(length + 1):
            wrong ^= (now >> lag & 1) & bits[at - lag]
        if not wrong:
            gap += 1
        elif 2 * length > at:
            now ^= before << gap
            gap += 1
        else:
            now, before, length, gap = now ^ before << gap, now, at + 1 - length, 1
    return length


def _periodic(lane: int, case: Case, lanes: int) -> Detection | None:
    """Look for a period that is a power of two in the lowest `lane` bits together."""
    low = np.array(case.draws, np.int64) & ((1 << lane) - 1)
    tried = 3 * lanes * _periods(len(low))
    best: Detection | None = None
    for exponent in range(_periods(len(low))):
        period = 1 << exponent
        hits = int((low[period:] == low[:-period]).sum())
        compared = len(low) - period
        if not _striking(hits, compared, 1 << lane):
            continue
        evidence = corrected(hits, compared, 1 << lane, tried)
        if evidence >= FLOOR and (best is None or evidence > best.evidence):
            share = 100 * hits // compared
            text = f"the lowest {lane} bits repeat after {period:,} draws, {share} % of the time"
            best = Detection("low-bit-period", text, evidence)
    return best


def _striking(hits: int, compared: int, values: int) -> bool:
    """Whether hits are nearer to all than to chance: a loaded die is no generator."""
    return 2 * hits * values >= compared * (values + 1)


def _periods(length: int) -> int:
    """Return how many powers of two are tried: up to half of the draws."""
    return min(MOST_PERIOD, max(1, length // 2)).bit_length()


def _repeating(case: Case) -> Detection | None:
    """Look for a period of whole draws, of any length up to half of them."""
    draws = np.array(case.draws, np.int64)
    longest = min(MOST_PERIOD, len(draws) // 2)
    best: Detection | None = None
    for period in range(1, longest + 1):
        hits = int((draws[period:] == draws[:-period]).sum())
        compared = len(draws) - period
        if not _striking(hits, compared, case.modulus):
            continue
        evidence = corrected(hits, compared, case.modulus, 3 * longest)
        if evidence >= FLOOR and (best is None or evidence > best.evidence):
            share = 100 * hits // compared
            text = f"the draws repeat after {period:,} draws, {share} % of the time"
            best = Detection("period", text, evidence)
    return best
