"""The generators Weft knows, in modules by kind, by name."""

from __future__ import annotations

from weft.errors import InputError
from weft.prng.families import cpython, glibc, java, mt19937, php, v8, xorshift
from weft.prng.family import Family

ALL: tuple[Family, ...] = (
    java.FAMILY,
    mt19937.FAMILY,
    *php.FAMILIES,
    cpython.FAMILY,
    *glibc.FAMILIES,
    v8.FAMILY,
    *xorshift.FAMILIES,
)
_BY_NAME = {name: family for family in ALL for name in (family.name, *family.aliases)}


def family_named(name: str) -> Family:
    """Return a family by its name or an alias, or say which there are."""
    if name not in _BY_NAME:
        raise InputError(f"no generator {name!r}; there are {', '.join(sorted(_BY_NAME))}")
    return _BY_NAME[name]
