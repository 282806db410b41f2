"""Operators on grids that cut them into objects or measure them: facts and plain definitions."""

from __future__ import annotations

from weft.arc.ops.operator import Operator

OPERATORS: tuple[Operator, ...] = ()
