"""Tests that detect non-random draws without a guess at the generator.

A remainder modulo m = 2^t·q shows t low bits of an output. In a linear generator they form a linear
recurring sequence (Berlekamp 1968, Massey 1969); in a congruential generator modulo a power of two
they have a short period. A detection is a finding in words with its evidence; it identifies no
state and predicts nothing. The evidence is corrected for all tests, with a third of the error for
each kind. Detections below FLOOR, which one random history in 10^9 reaches, are not reported.
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
"""Minimum evidence of a detection, after the correction, in thousandths of a decade."""
MOST_BITS = 50_000
"""Maximum number of a lane's draws used for its linear complexity, whose cost is quadratic."""
MOST_LANES = 8
MOST_PERIOD = 1 << 16
_LOG2_MILLI = 301
"""log10(2) in thousandths, rounded down."""


@dataclass(frozen=True, slots=True)
class Detection:
    """A finding: the test, its result in words, and −log10 of the corrected p in thousandths."""

    name: str
    text: str
    evidence: int


def detect(case: Case) -> list[Detection]:
    """Return the detections in a history, by test and then by lane, lowest bit first."""
    lanes = _lanes(case)
    detections = [_linear(lane, bits, len(lanes)) for lane, bits in enumerate(lanes)]
    detections += [_periodic(lane, case, len(lanes)) for lane in range(1, len(lanes) + 1)]
    detections += [_repeating(case)]
    return [detection for detection in detections if detection is not None]


def _lanes(case: Case) -> list[list[int]]:
    """Return one list of bits for each low bit that the modulus shows."""
    count = min(MOST_LANES, (case.modulus & -case.modulus).bit_length() - 1)
    return [[draw >> lane & 1 for draw in case.draws] for lane in range(count)]


def _linear(lane: int, bits: list[int], lanes: int) -> Detection | None:
    """Compare the linear complexity of a lane with half its length, as expected of random bits.

    Fewer than 2^(2L+1) of the 2^n sequences of length n have a complexity of L or less.
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
    """Return the length of the shortest linear recurrence that generates the bits."""
    if not bits:
        return 0
    return int(massey.linear_complexity(np.array(bits, np.uint8)))


def linear_complexity_plain(bits: list[int]) -> int:
    """Compute `linear_complexity` bit by bit, with polynomials as integers: its reference."""
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
    """Test the lowest `lane` bits together for a period that is a power of two."""
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
    """Whether hits are closer to 100 % than to chance; draws that are merely biased fall short."""
    return 2 * hits * values >= compared * (values + 1)


def _periods(length: int) -> int:
    """Return the number of periods to try: powers of two up to half of the draws."""
    return min(MOST_PERIOD, max(1, length // 2)).bit_length()


def _repeating(case: Case) -> Detection | None:
    """Test whole draws for a period of any length up to half of them."""
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
