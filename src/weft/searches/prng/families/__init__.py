"""The generators Weft knows: every module of this package declares its own as `FAMILIES`."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from pkgutil import iter_modules

from weft.errors import UsageError
from weft.searches.prng.family import Family


def _declared() -> tuple[Family, ...]:
    """Return all families by rank; ties keep the order of modules and of their lists."""
    families: list[Family] = []
    for name in sorted(module.name for module in iter_modules(__path__)):
        families += getattr(import_module(f"{__name__}.{name}"), "FAMILIES", ())
    return tuple(sorted(families, key=lambda family: family.rank))


FAMILIES = _declared()
SINGLE = tuple(family for family in FAMILIES if family.rows is None)
"""Families whose draws are made one by one, not in rows."""
_BY_NAME = {name: family for family in FAMILIES for name in (family.name, *family.aliases)}


def family_named(name: str) -> Family:
    """Return the family with this name or alias. Raises UsageError if there is none."""
    if name not in _BY_NAME:
        near = did_you_mean(name, sorted(_BY_NAME)) or "weft prng families lists them"
        raise UsageError(f"there is no generator {name[:40]!r}", hint=near)
    return _BY_NAME[name]


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """Return a suggestion for a misspelt name; empty if no known name is close."""
    near = get_close_matches(name.lower(), dict.fromkeys(known), 3)
    return f"did you mean {' or '.join(near)}?" if near else ""
