"""Generators that serve their numbers in blocks, and what few draws cannot show of them.

V8 makes 64 numbers ahead and serves them last first. Draws that lie in one block fit at several
places of it: what comes next is the same until the block ends, and the draws do not show where
that is. The place nearest to the beginning is taken; beyond its block nothing is predicted.
"""

from __future__ import annotations

from weft.searches.prng.families import family_named
from weft.searches.prng.hypothesis import Hypothesis, position


def block_size(hypothesis: Hypothesis) -> int:
    """Return how many numbers a generator makes ahead; 0 for one that makes each when asked."""
    form = family_named(hypothesis.family).linear
    return form.begins if form is not None and form.block_start is not None else 0


def draws_to_block_end(hypothesis: Hypothesis, draws: int) -> int | None:
    """Return how many next draws are in the block of all draws so far; None if its end is known.

    It is known where a seed gives it, where the draws reach into a second block, and where they
    span a whole one.
    """
    size, skips = block_size(hypothesis), hypothesis.skips
    if not size or hypothesis.state is None or not draws:
        return None
    served = _served(hypothesis, size)
    known = draws if skips.is_constant else min(draws, len(skips.listed) + 1)
    first, last = position(hypothesis, 0) + served, position(hypothesis, known - 1) + served
    if first // size != last // size or last - first == size - 1:
        return None
    return (size - 1 - last % size) // (skips.between[0] + 1)


def _served(hypothesis: Hypothesis, size: int) -> int:
    """Return how many numbers of its block a state has served: it holds how many are left."""
    family = family_named(hypothesis.family)
    assert family.linear is not None
    assert hypothesis.state is not None
    return -family.read_state(hypothesis.state)[family.linear.words] % size
