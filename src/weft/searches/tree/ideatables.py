"""Config tables that define ideas: parameters, grids, and mutations of a file's values.

They are read only with the config. `slot/values.py` applies them on a slot without pydantic, whose
import makes a worker start three times slower.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from weft.searches.tree.config import Idea
from weft.searches.tree.ideas import parameter
from weft.searches.tree.slot.values import Mutation

Named = Annotated[str, Field(min_length=1, max_length=4096, pattern=r"^[^\x00]+$")]
Key = Annotated[str, Field(max_length=500, pattern=r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$")]
Number = Annotated[float, Field(allow_inf_nan=False)]
Values = Annotated[list[bool | int | Number | str], Field(min_length=1, max_length=10_000)]
MAX_GRID = 10_000
STRICT = ConfigDict(extra="forbid", frozen=True, strict=True)
"""Refuses unknown fields and converts no types."""


class ParameterTable(BaseModel):
    """`[[parameters]]`: values to try for one field of a JSON or TOML file."""

    model_config = STRICT

    file: Named
    key: Key
    values: Values


class GridTable(BaseModel):
    """`[[grids]]`: every combination of the values of several fields."""

    model_config = STRICT

    file: Named
    values: Annotated[dict[Key, Values], Field(min_length=1, max_length=50)]

    @model_validator(mode="after")
    def _check_size(self) -> GridTable:
        size = math.prod(len(values) for values in self.values.values())
        if size > MAX_GRID:
            raise ValueError(f"{size:,} combinations; there may be {MAX_GRID:,}")
        return self


class MutationTable(BaseModel):
    """`[[mutations]]`: numbers in a file, varied slightly on every node."""

    model_config = STRICT

    file: Named
    keys: Annotated[list[Key], Field(max_length=1000)] = []
    count: Annotated[int, Field(ge=1, le=1000)] = 4
    at_once: Annotated[int, Field(ge=1, le=1000)] = 1
    scale: Annotated[Number, Field(ge=0, le=1000)] = 0.3
    step: Annotated[Number, Field(gt=0, le=1e12)] = 1.0
    low: Number | None = None
    high: Number | None = None

    @model_validator(mode="after")
    def _check_bounds(self) -> MutationTable:
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError("low is above high")
        return self

    def to_mutation(self) -> Mutation:
        """Return the table as plain data, with amounts as decimal text."""
        amounts = (_decimal(x) for x in (self.scale, self.step, self.low, self.high))
        return Mutation(self.file, tuple(self.keys), self.count, self.at_once, *amounts)


def _decimal(number: float | None) -> str:
    return "" if number is None else repr(float(number))


def from_parameters(tables: Sequence[ParameterTable]) -> list[tuple[Idea, bytes]]:
    """Return one idea for each value of each parameter."""
    return [parameter(table.file, {table.key: value}) for table in tables for value in table.values]


def from_grids(tables: Sequence[GridTable]) -> list[tuple[Idea, bytes]]:
    """Return one idea for each combination of each grid's values."""
    return [
        parameter(table.file, dict(zip(table.values, chosen, strict=True)))
        for table in tables
        for chosen in product(*table.values.values())
    ]
