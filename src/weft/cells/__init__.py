"""Turns searches and tasks defined in notebook cells into modules that workers import.

    cells' sources ─ definitions ─┐
    names that each one uses ─────┼─► assembly ─► source of a module ─► stored (by its hash)
    values in the notebook ───────┘

Only source text is stored: definitions as they were written, imports, and constants as literals.
Knows nothing about runs and their folders. A module is named by its own SHA-256.
"""

from __future__ import annotations

MAIN = "__main__"
"""The module in which interactive sessions define names."""
PREFIX = "weft_cell_"
"""Prefix of the names of stored modules."""


def is_stored_name(module: str) -> bool:
    """Whether a module's name is that of a module created from cells."""
    return module.startswith(PREFIX)
