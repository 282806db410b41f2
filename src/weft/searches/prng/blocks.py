"""Generators that produce numbers in blocks, and why few draws do not reveal where a block ends.

V8 generates 64 numbers ahead and returns them in reverse order. Draws from a single block fit at
several positions in it: the next draws are the same up to the end of the block, but the draws do
not determine where it ends. The position closest to the beginning is assumed, and nothing is
predicted beyond that block.
"""

from __future__ import annotations

from weft.searches.prng.families import family_named
from weft.searches.prng.hypothesis import Hypothesis, position


def block_size(hypothesis: Hypothesis) -> int:
    """Return how many numbers a generator produces ahead; 0 if it produces each on demand."""
    form = family_named(hypothesis.family).linear
    return form.begins if form is not None and form.block_start is not None else 0


def draws_to_block_end(hypothesis: Hypothesis, draws: int) -> int | None:
    """Return how many next draws share the block of all draws so far; None if its end is known.

    The end is known if the hypothesis has a seed, if the draws reach into a second block, or if
    they span a whole one.
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
    """Return how many numbers of its block a state has returned; the state counts those left."""
    family = family_named(hypothesis.family)
    assert family.linear is not None
    assert hypothesis.state is not None
    return -family.read_state(hypothesis.state)[family.linear.words] % size
