"""Consecutive completed results of one round as columns, before they have a place in the chain.

They are also a sequence of (kind, key, canonical body), for callers that need records. Callers that
render many lines use the columns and never build the bodies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, overload

Entry: TypeAlias = tuple[str, str, str]
"""Kind, key and canonical body of a record."""


@dataclass(frozen=True, slots=True)
class ResultColumns(Sequence[Entry]):
    """Results with consecutive indices; all texts are already canonical."""

    function: str
    place: str
    """Lane and round, as written in a body: `"lane":…,"round":…`."""
    first: int
    """The index of the first result."""
    keys: Sequence[str]
    args: Sequence[str]
    values: Sequence[str]

    @property
    def between(self) -> str:
        """The text of a body between arguments and index."""
        return f',"function":"{self.function}","index":'

    @property
    def before_value(self) -> str:
        """The text of a body between index and value."""
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
