"""The generators Weft knows, each in a module of its own, by name."""

from __future__ import annotations

from weft.errors import InputError
from weft.prng.families import java
from weft.prng.family import Family

ALL: tuple[Family, ...] = (java.FAMILY,)
_BY_NAME = {family.name: family for family in ALL}


def family_named(name: str) -> Family:
    """Return a family, or say which there are."""
    if name not in _BY_NAME:
        raise InputError(f"no generator {name!r}; there are {', '.join(sorted(_BY_NAME))}")
    return _BY_NAME[name]
