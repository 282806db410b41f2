"""Validates an analysis before it starts: the request must be consistent and fit the draws."""

from __future__ import annotations

from weft.errors import FileInvalid, InputError, UsageError
from weft.searches.prng.families import FAMILIES, did_you_mean, family_named
from weft.searches.prng.generate import MAX_MODULUS
from weft.searches.prng.history import History
from weft.searches.prng.request import AnalyseRequest
from weft.searches.prng.scoring import split
from weft.searches.prng.statistics import hits_needed

FEWEST_TRIED = 2**32
"""Hypotheses of the smallest meaningful search: every 32-bit seed of one generator."""
MOST_DRAWS_ASKED = 10_000


def check(history: History, where: str, request: AnalyseRequest) -> None:
    """Refuse a request that contradicts itself or the draws, and histories that are too short."""
    chosen = [family_named(name) for name in request.families] or list(FAMILIES)
    for output in request.outputs:
        if not any(output in family.outputs for family in chosen):
            known = [output for family in chosen for output in family.outputs]
            names = ", ".join(dict.fromkeys(known))
            raise UsageError(
                f"none of the generators has an output map {output!r}; they have {names}",
                hint=did_you_mean(output, known),
            )
    if request.families and not request.row_maps and all(family.rows for family in chosen):
        raise UsageError(
            f"{', '.join(request.families)} makes rows, and these draws are read one by one",
            hint=f"name a --form of rows; weft prng guess {where} names those that fit",
        )
    check_below(history, where, request.modulus)
    needed = draws_needed(request)
    if len(history) < needed:
        raise InputError(
            f"{where}: {len(history)} draws below {request.modulus} identify no generator;"
            f" at least {needed} are needed",
            hint="give more draws, or --modulus if they are below a greater number",
        )


def check_below(history: History, where: str, modulus: int) -> None:
    """Refuse draws that are not below the modulus."""
    above = max(history.draws) + 1
    for row, draw in enumerate(history.draws, 1):
        if draw >= modulus:
            raise FileInvalid(
                f"{where}: draw {row} is {draw}, not below the modulus {modulus}",
                hint=f"give --modulus {above}" if above <= MAX_MODULUS else "2^32 is the greatest",
            )


def draws_needed(request: AnalyseRequest) -> int:
    """Return the fewest draws that could confirm a 32-bit seed in training and in the holdout."""
    for count in range(1, MOST_DRAWS_ASKED):
        train, holdout = split((0,) * count, request.modulus)
        m, alpha = request.modulus, request.alpha_evidence
        if hits_needed(len(train), m, FEWEST_TRIED, alpha) is None:
            continue
        if hits_needed(len(holdout), m, 1, alpha) is not None:
            return count
    return MOST_DRAWS_ASKED
