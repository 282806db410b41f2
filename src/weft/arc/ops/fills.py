"""Operators that colour cells of a grid in place: facts and plain definitions."""

from __future__ import annotations

from weft.arc.ops.operator import Operator

OPERATORS: tuple[Operator, ...] = ()
