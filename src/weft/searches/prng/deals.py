"""What is left of a deck after a deal: its generator has shuffled all of it.

The next draws of an answer are those of the next deal, as the history goes on. Whoever holds a
hand asks for the cards that are still in the deck, in their order.
"""

from __future__ import annotations

from dataclasses import replace

from weft.searches.prng.families import family_named
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.rowmaps import SHUFFLE, is_row_map, parsed

DEAL = "deal"


def rest_of_deck(hypothesis: Hypothesis, draws: int) -> list[int]:
    """Return what the last of the deals that `draws` cards make has left; empty if no such deals.

    Every deal takes the first cards of a shuffle, so a whole shuffle of the same seed has the rest.
    """
    length = _deal_length(hypothesis)
    if not length or draws < length or draws % length:
        return []
    decks = generate(replace(hypothesis, output=SHUFFLE), draws // length * hypothesis.modulus)
    last = decks[-hypothesis.modulus :]
    dealt = generate(hypothesis, draws)[-length:]
    return last[length:] if last[:length] == dealt else []


def _deal_length(hypothesis: Hypothesis) -> int:
    """Return how many cards a deal has; 0 for other maps, and where calls are left out."""
    if not is_row_map(hypothesis.output) or hypothesis.start or hypothesis.skips.between != (0, 0):
        return 0
    kind, length, is_sorted = parsed(hypothesis.output)
    shuffles = SHUFFLE in family_named(hypothesis.family).outputs
    return length if kind == DEAL and shuffles and not is_sorted else 0
