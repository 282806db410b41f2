"""From a hypothesis to draws: one function for the sieve's check, the scorer and the predictor.

The plain definition. Skipped calls are made, not jumped over: a map may reject, and then a call
takes more than one step.
"""

from __future__ import annotations

from collections.abc import Iterator

from weft.errors import InputError
from weft.prng.families import family_named
from weft.prng.family import Draw, Family, State
from weft.prng.hypothesis import Hypothesis


def generate(hypothesis: Hypothesis, count: int) -> list[int]:
    """Return the first `count` draws that a hypothesis foretells."""
    stream = draws(hypothesis)
    return [next(stream) for _ in range(count)]


def draws(hypothesis: Hypothesis) -> Iterator[int]:
    """Yield what a hypothesis foretells, draw by draw, as far as its skips are known."""
    family = family_named(hypothesis.family)
    draw = draw_of(family, hypothesis.output)
    state = first_state(family, hypothesis)
    for _ in range(hypothesis.start):
        draw(state, hypothesis.modulus)
    yield draw(state, hypothesis.modulus)
    index = 1
    while hypothesis.skips.is_constant or index <= len(hypothesis.skips.listed):
        for _ in range(hypothesis.skips.before(index)):
            draw(state, hypothesis.modulus)
        yield draw(state, hypothesis.modulus)
        index += 1


def draw_of(family: Family, output: str) -> Draw:
    """Return an output map of a family, or say which it has."""
    if output not in family.outputs:
        raise InputError(
            f"{family.name} has no output map {output!r}; it has {', '.join(family.outputs)}"
        )
    return family.outputs[output]


def first_state(family: Family, hypothesis: Hypothesis) -> State:
    """Return the state before the first call."""
    if hypothesis.state is not None:
        return family.read_state(hypothesis.state)
    assert hypothesis.seed is not None
    return family.seeding(hypothesis.seed)
