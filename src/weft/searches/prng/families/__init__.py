"""The generators Weft knows: every module of this package declares its own as `FAMILIES`."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from weft.errors import UsageError
from weft.searches.prng.family import Family


def _declared() -> tuple[Family, ...]:
    """Return all families by rank; of equal rank in the order of modules and of their lists."""
    families: list[Family] = []
    for name in sorted(module.name for module in iter_modules(__path__)):
        families += getattr(import_module(f"{__name__}.{name}"), "FAMILIES", ())
    return tuple(sorted(families, key=lambda family: family.rank))


FAMILIES = _declared()
SINGLE = tuple(family for family in FAMILIES if family.rows is None)
"""Those whose draws are made one by one, not in rows."""
_BY_NAME = {name: family for family in FAMILIES for name in (family.name, *family.aliases)}


def family_named(name: str) -> Family:
    """Return a family by its name or an alias, or say which there are."""
    if name not in _BY_NAME:
        raise UsageError(f"no generator {name!r}; there are {', '.join(sorted(_BY_NAME))}")
    return _BY_NAME[name]
