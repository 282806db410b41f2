"""Planted histories: draws of a known hypothesis, some of them corrupted.

The random choices (varying skips and wrong rows) come from splitmix64 with a given seed, so the
same request gives the same history.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from weft.searches.prng.families import family_named, splitmix
from weft.searches.prng.family import State
from weft.searches.prng.generate import draw_of, generate
from weft.searches.prng.hypothesis import Hypothesis, Skips

_below = splitmix.FAMILY.outputs["high"]


@dataclass(frozen=True, slots=True)
class PlantedHistory:
    """Draws, the true hypothesis, and the indices of the wrong rows, in order."""

    hypothesis: Hypothesis
    draws: tuple[int, ...]
    wrong: tuple[int, ...]


def make_truth(
    name: str,
    output: str | None,
    modulus: int,
    seed: int | None,
    state: str | None,
    skips: Skips,
    start: int,
) -> Hypothesis:
    """Return a hypothesis for a family given by name; the output map defaults to its first."""
    family = family_named(name)
    chosen = output or next(iter(family.outputs))
    draw_of(family, chosen)
    if state is not None:
        family.read_state(state)
    return Hypothesis(family.name, chosen, modulus, seed, state, skips, start)


def make_history(truth: Hypothesis, count: int, wrong: int, chance_seed: int) -> PlantedHistory:
    """Return `count` draws, of which `wrong` rows differ from the truth.

    Varying skips are chosen here, within the bounds of the truth.
    """
    chance = splitmix.seeding(chance_seed)
    truth = _with_skips(truth, count, chance)
    draws = generate(truth, count)
    rows = _some_of(count, wrong, chance)
    for row in rows:
        draws[row] = _spoiled(truth, draws[row], chance)
    return PlantedHistory(truth, tuple(draws), tuple(rows))


def _with_skips(truth: Hypothesis, count: int, chance: State) -> Hypothesis:
    """Choose the skips before each draw, unless they are constant."""
    if truth.skips.is_constant:
        return truth
    least, greatest = truth.skips.between
    listed = tuple(least + _below(chance, greatest - least + 1) for _ in range(count - 1))
    return replace(truth, skips=Skips((least, greatest), listed))


def _some_of(count: int, chosen: int, chance: State) -> list[int]:
    """Return `chosen` distinct rows in ascending order, by a partial shuffle."""
    rows = list(range(count))
    for at in range(chosen):
        other = at + _below(chance, count - at)
        rows[at], rows[other] = rows[other], rows[at]
    return sorted(rows[:chosen])


def _spoiled(truth: Hypothesis, value: int, chance: State) -> int:
    """Return a value other than the true one; raw outputs differ in one bit."""
    if truth.output == "raw":
        return value ^ 1 << _below(chance, family_named(truth.family).word_bits)
    return (value + 1 + _below(chance, truth.modulus - 1)) % truth.modulus
