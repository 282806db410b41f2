"""Guesses of last resort: programs that fit all training pairs but one.

    puzzle that nothing fits ──► the same without one pair, for each pair; also on black
            ──► brief searches ──► guesses that name the omitted pair

A pair may show what the language lacks, a special case or a mistake, while a rule for the others is
right on the test. Such a program is never an answer, and no competitor of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from weft.searches.arc.normal.registry import FittedView
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.task import ArcTask

FEWEST_PAIRS = 3
"""With fewer training pairs, one would be left, which too many programs fit."""
MOST_OMITTED = 5
"""The number of pairs that are omitted in turn, the first ones: each costs a search."""


@dataclass(frozen=True, slots=True)
class Omission:
    """A puzzle without one of its training pairs."""

    task: ArcTask
    pair: int
    """The number of the omitted pair, from 1."""
    view: FittedView | None = None
    """The view that changed its background; None if it is unchanged."""


def omissions(task: ArcTask, ground: FittedView | None) -> Iterator[Omission]:
    """Yield a puzzle without each pair in turn, and then the same on a black background.

    `ground` is the view on black, or None if there is nothing to change.
    """
    if len(task.train) < FEWEST_PAIRS:
        return
    for omitted in range(min(len(task.train), MOST_OMITTED)):
        others = tuple(pair for number, pair in enumerate(task.train) if number != omitted)
        rest = replace(task, train=others)
        yield Omission(rest, omitted + 1)
        if ground is not None:
            yield Omission(ground.of(rest), omitted + 1, ground)


def as_guesses(candidates: Sequence[ProgramCandidate], pair: int) -> tuple[ProgramCandidate, ...]:
    """Return programs that were found without a pair as guesses that name it."""
    return tuple(
        replace(own, program=replace(own.program, without_pair=pair), loo_passed=None)
        for own in candidates
    )
