"""The exact significance of a match.

Under the null hypothesis each compared draw hits with probability 1/m, or with a chance that
follows the frequencies of the draws (`ValueFrequencies.chance_of` in `scoring`). Evidence is
−log10 of a probability in thousandths, rounded down, so that it is an integer in the ledger and
equal on every machine: `decimal` is specified to the last digit. Binary floating point is not used.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import comb

MILLI = 1000
_CONTEXT = Context(prec=40, Emin=-(10**9), Emax=10**9)


def tail_evidence(hits: int, compared: int, modulus: int) -> int:
    """Return the evidence of P(Bin(compared, 1/modulus) ≥ hits), in thousandths of a decade.

    >>> tail_evidence(2, 2, 1000)
    6000
    >>> tail_evidence(0, 50, 1000)
    0
    """
    return tail_evidence_at(hits, compared, Fraction(1, modulus))


@lru_cache(maxsize=4096)
def tail_evidence_at(hits: int, compared: int, chance: Fraction) -> int:
    """Return the evidence of P(Bin(compared, chance) ≥ hits), in thousandths of a decade.

    >>> tail_evidence_at(2, 2, Fraction(1, 10)), tail_evidence_at(5, 9, Fraction(1))
    (2000, 0)
    """
    if hits > compared:
        raise ValueError(f"{hits} hits in {compared} draws")
    if hits <= 0 or chance >= 1:
        return 0
    favoured, others = chance.numerator, chance.denominator - chance.numerator
    favourable = 0
    term = comb(compared, hits) * favoured**hits * others ** (compared - hits)
    for k in range(hits, compared + 1):
        favourable += term
        if term.bit_length() + 140 < favourable.bit_length():
            break  # further terms cannot change 40 digits
        term = term * (compared - k) * favoured // ((k + 1) * others)
    return _evidence(favourable, chance.denominator**compared)


def _evidence(part: int, whole: int) -> int:
    log = _CONTEXT.subtract(_CONTEXT.log10(_decimal(whole)), _CONTEXT.log10(_decimal(part)))
    return max(0, int(_CONTEXT.multiply(log, Decimal(MILLI)).to_integral_value("ROUND_FLOOR")))


def _decimal(value: int) -> Decimal:
    """Round an integer to the context's precision, without converting all of it to decimal."""
    shift = max(0, value.bit_length() - 200)
    return _CONTEXT.multiply(Decimal(value >> shift), _CONTEXT.power(Decimal(2), Decimal(shift)))


@lru_cache(maxsize=4096)
def decades(count: int) -> int:
    """Return log10 of a number of hypotheses in thousandths, rounded up.

    >>> decades(1000), decades(2**48)
    (3000, 14450)
    """
    if count <= 1:
        return 0
    log = _CONTEXT.multiply(_CONTEXT.log10(_decimal(count)), Decimal(MILLI))
    return int(log.to_integral_value("ROUND_CEILING"))


def corrected(hits: int, compared: int, modulus: int, tried: int) -> int:
    """Return the Bonferroni-corrected evidence for `tried` hypotheses, at least 0."""
    return corrected_at(hits, compared, Fraction(1, modulus), tried)


def corrected_at(hits: int, compared: int, chance: Fraction, tried: int) -> int:
    """Return the Bonferroni-corrected evidence if a draw hits with the given chance."""
    return max(0, tail_evidence_at(hits, compared, chance) - decades(tried))


def probability_text(evidence: int) -> str:
    """Format the probability of an evidence, rounded up: `2.6e-31`, or `1`.

    >>> probability_text(6000), probability_text(0), probability_text(1302)
    ('1.0e-6', '1', '5.0e-2')
    """
    if evidence <= 0:
        return "1"
    whole, part = -(-evidence // MILLI), -evidence % MILLI
    digits = _CONTEXT.power(Decimal(10), Decimal(part) / MILLI).quantize(Decimal("0.1"), "ROUND_UP")
    return f"{digits}e-{whole}"


def hits_needed(compared: int, modulus: int, tried: int, evidence: int) -> int | None:
    """Return the fewest hits whose corrected evidence reaches `evidence`; None if none does."""
    low, high = 0, compared + 1
    while low < high:
        middle = (low + high) // 2
        enough = middle > compared or corrected(middle, compared, modulus, tried) >= evidence
        low, high = (low, middle) if enough else (middle + 1, high)
    return low if low <= compared else None
