"""Completed results of one round in a row, column by column, before they have a place in the chain.

Whoever wants records gets them: it is a sequence of (kind, key, canonical body) like any other.
Whoever makes many lines takes the columns, and never makes the bodies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, overload

Entry: TypeAlias = tuple[str, str, str]
"""Kind, key and canonical body of a record."""


@dataclass(frozen=True, slots=True)
class ResultColumns(Sequence[Entry]):
    """Results with consecutive indices; all texts are canonical already."""

    function: str
    place: str
    """Lane and round, as they stand in a body: `"lane":…,"round":…`."""
    first: int
    """Index of the first."""
    keys: Sequence[str]
    args: Sequence[str]
    values: Sequence[str]

    @property
    def between(self) -> str:
        """What stands in a body between arguments and index."""
        return f',"function":"{self.function}","index":'

    @property
    def before_value(self) -> str:
        """What stands in a body between index and value."""
        return f',{self.place},"value":'

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Entry]:
        between, before_value = self.between, self.before_value
        columns = zip(self.keys, self.args, self.values, strict=True)
        for index, (key, args, value) in enumerate(columns, self.first):
            yield "result", key, f'{{"args":{args}{between}{index}{before_value}{value}}}'

    @overload
    def __getitem__(self, place: int) -> Entry: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Entry]: ...
    def __getitem__(self, place: int | slice) -> Entry | Sequence[Entry]:
        return [*self][place]
