"""Searches and tasks that are defined in notebook cells, made into modules that workers import.

    cells' sources ─ definitions ─┐
    names that each one uses ─────┼─► assembly ─► source of a module ─► stored (by its hash)
    values in the notebook ───────┘

Only source text travels: definitions as they were written, imports, and constants as literals.
Knows nothing about runs and their folders. What a module is named by is its own SHA-256.
"""

from __future__ import annotations

MAIN = "__main__"
"""The module that interactive sessions define things in."""
PREFIX = "weft_cell_"
"""What the names of stored modules begin with."""


def is_stored_name(module: str) -> bool:
    """Whether a module is one that was made of cells, by its name."""
    return module.startswith(PREFIX)
