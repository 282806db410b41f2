"""The rest of a deck after a deal: the generator has shuffled the whole deck.

The next draws of an answer belong to the next deal. A player who holds a hand wants to know the
cards still in the deck, in order.
"""

from __future__ import annotations

from dataclasses import replace

from weft.searches.prng.families import family_named
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.rowmaps import SHUFFLE, is_row_map, parsed

DEAL = "deal"


def rest_of_deck(hypothesis: Hypothesis, draws: int) -> list[int]:
    """Return the deck's remaining cards after the last deal of `draws` cards; empty if unknown.

    Every deal takes the first cards of a shuffle, so the full shuffle contains the rest. The
    draws must be whole deals.
    """
    length = _deal_length(hypothesis)
    if not length or draws < length or draws % length:
        return []
    decks = generate(replace(hypothesis, output=SHUFFLE), draws // length * hypothesis.modulus)
    last = decks[-hypothesis.modulus :]
    dealt = generate(hypothesis, draws)[-length:]
    return last[length:] if last[:length] == dealt else []


def _deal_length(hypothesis: Hypothesis) -> int:
    """Return the number of cards in a deal; 0 for other maps, or if calls are skipped."""
    if not is_row_map(hypothesis.output) or hypothesis.start or hypothesis.skips.between != (0, 0):
        return 0
    kind, length, is_sorted = parsed(hypothesis.output)
    shuffles = SHUFFLE in family_named(hypothesis.family).outputs
    return length if kind == DEAL and shuffles and not is_sorted else 0
