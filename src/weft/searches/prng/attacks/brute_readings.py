"""How a draw is read off the words of a generator, by what its family declares.

Rejections (one call in millions) are ignored here; what passes is checked by the family's own
output map.
"""

from __future__ import annotations

from weft.searches.prng.family import Family
from weft.searches.prng.forms import WordReading


def reading_of(family: Family, output: str, modulus: int) -> WordReading | None:
    """Return the reading of an output map; None if a draw is not made of one word."""
    reading = family.readings.get(output)
    if reading is not None and modulus & (modulus - 1) == 0:
        return reading.for_powers_of_two or reading
    return reading
