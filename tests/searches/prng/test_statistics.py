"""Evidence is exact, compared with fractions, and monotone."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.searches.prng.statistics import (
    corrected,
    decades,
    hits_needed,
    probability_text,
    tail_evidence,
)


def exact_tail(hits: int, compared: int, modulus: int) -> Fraction:
    """The plain twin: every term of the binomial tail, as a fraction."""
    p = Fraction(1, modulus)
    terms = (
        comb(compared, k) * p**k * (1 - p) ** (compared - k) for k in range(hits, compared + 1)
    )
    return sum(terms, Fraction(0))


@settings(max_examples=12)  # the thousandth power of large fractions is slow
@given(st.integers(0, 60), st.integers(0, 60), st.sampled_from([2, 3, 10, 1000, 2**32]))
def test_tail_evidence_against_fractions(hits: int, more: int, modulus: int) -> None:
    compared = hits + more
    tail = exact_tail(hits, compared, modulus)
    evidence = tail_evidence(hits, compared, modulus)
    # evidence/1000 <= -log10(tail) < (evidence+1)/1000, checked without a logarithm
    assert Fraction(1, 10**evidence) >= tail**1000 or evidence == 0
    assert Fraction(1, 10 ** (evidence + 1)) < tail**1000


@pytest.mark.parametrize("count", [1, 2, 999, 1000, 1001, 2**48])
def test_decades_are_rounded_up(count: int) -> None:
    places = decades(count)
    assert 10**places >= count**1000
    assert places == 0 or 10 ** (places - 1) < count**1000


def test_decades_of_all_states_of_a_twister_are_counted() -> None:
    assert decades(2**19937) == 6_001_636


def test_corrected_evidence_is_never_below_zero() -> None:
    assert corrected(1, 40, 1000, 2**48) == 0
    assert corrected(34, 40, 1000, 2**48) > 60_000


@given(st.integers(1, 200), st.sampled_from([10, 1000]), st.integers(0, 12_000))
def test_hits_needed_is_the_fewest_that_suffice(compared: int, modulus: int, evidence: int) -> None:
    tried = 2**20
    needed = hits_needed(compared, modulus, tried, evidence)
    if needed is None:
        assert corrected(compared, compared, modulus, tried) < evidence
    else:
        assert corrected(needed, compared, modulus, tried) >= evidence
        assert needed == 0 or corrected(needed - 1, compared, modulus, tried) < evidence


@pytest.mark.parametrize(
    ("evidence", "text"), [(0, "1"), (6000, "1.0e-6"), (1302, "5.0e-2"), (30_999, "1.1e-31")]
)
def test_probability_is_written_rounded_up(evidence: int, text: str) -> None:
    assert probability_text(evidence) == text


def test_impossible_count_of_hits_is_our_mistake() -> None:
    with pytest.raises(ValueError, match="5 hits in 4 draws"):
        tail_evidence(5, 4, 10)
