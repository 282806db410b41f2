"""The generators Weft knows, in modules by kind, by name."""

from __future__ import annotations

from weft.errors import UsageError
from weft.searches.prng.families import (
    cpython,
    dotnet,
    glibc,
    golang,
    java,
    lcgs,
    mt19937,
    pcg,
    philox,
    php,
    sfc64,
    splitmix,
    v8,
    xorshift,
    xoshiro,
)
from weft.searches.prng.family import Family

ALL: tuple[Family, ...] = (
    java.FAMILY,
    mt19937.FAMILY,
    *php.FAMILIES,
    cpython.FAMILY,
    *glibc.FAMILIES,
    v8.FAMILY,
    *xorshift.FAMILIES,
    *lcgs.FAMILIES,
    dotnet.FAMILY,
    golang.FAMILY,
    *xoshiro.FAMILIES,
    pcg.FAMILY,
    philox.FAMILY,
    sfc64.FAMILY,
    splitmix.FAMILY,
)
_BY_NAME = {name: family for family in ALL for name in (family.name, *family.aliases)}


def family_named(name: str) -> Family:
    """Return a family by its name or an alias, or say which there are."""
    if name not in _BY_NAME:
        raise UsageError(f"no generator {name!r}; there are {', '.join(sorted(_BY_NAME))}")
    return _BY_NAME[name]
