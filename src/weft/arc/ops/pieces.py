"""Operators on one object, box, patch, colour, count or size: facts and plain definitions."""

from __future__ import annotations

from weft.arc.ops.operator import Operator

OPERATORS: tuple[Operator, ...] = ()
