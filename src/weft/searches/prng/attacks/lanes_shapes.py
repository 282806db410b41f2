"""The families that declare the form of a linear congruential generator modulo a power of two.

The numbers stand beside the families' own step functions; a test compares the two.
"""

from __future__ import annotations

from weft.searches.prng.families import ALL as FAMILIES
from weft.searches.prng.families import family_named
from weft.searches.prng.family import Family
from weft.searches.prng.forms import LcgForm


def known_shapes() -> list[tuple[Family, LcgForm]]:
    """Return the forms of the families there are, in the families' order."""
    return [(family, form) for family in FAMILIES for form in family.lcg_forms]


def shape_of(family: str, output: str) -> LcgForm:
    """Return the form of a plan; a wrong name is our mistake."""
    return {form.output: form for form in family_named(family).lcg_forms}[output]
