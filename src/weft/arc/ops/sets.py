"""Operators on ordered sets of objects: facts and plain definitions."""

from __future__ import annotations

from weft.arc.ops.operator import Operator

OPERATORS: tuple[Operator, ...] = ()
