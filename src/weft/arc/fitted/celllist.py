"""The rule that decides every cell by a list of clauses. It is learned at the end of a phase."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from weft.arc.fitted.rule import BASE, Examples, Rule
from weft.arc.lists.cells import UNDECIDED, CellList, chain_of, parse
from weft.arc.lists.features import U8, features_of
from weft.arc.lists.words import NAMES
from weft.arc.ops.operator import Shape
from weft.arc.ops.registry import apply_chain
from weft.arc.values import Grid


class Cells(Rule):
    """Parameters: the list's text. Proposed by the search, which knows all vectors, not here."""

    name = "cells"
    doc = (
        "Every cell becomes what the first clause says that speaks of it: "
        "`own=0 & across!=x -> across; label_enclosed=1 -> 4; else own`. Tests ask features of "
        "the grid or cells of chains from the input (`objects_8|keep_largest|draw_all`, `input`) "
        "with =, !=, >= and <; x is no colour. An action is a colour, a copy, or with `lay` a "
        "copy of what is not black."
    )
    shape = Shape.KEEP

    def propose(self, examples: Examples) -> Iterator[bytes]:
        return iter(())

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        found = parse(params.decode())
        columns: dict[str, U8] = dict(zip(NAMES, features_of(value), strict=True))
        for source in _sources(found):
            if source not in columns:
                grid = apply_chain(chain_of(source), given, given)
                if not isinstance(grid, Grid) or (grid.height, grid.width) != (
                    value.height,
                    value.width,
                ):
                    return None
                columns[source] = np.frombuffer(grid.cells, np.uint8)
        cells = found.decide(columns.__getitem__, len(value.cells)).tobytes()
        return None if UNDECIDED in cells else Grid(value.height, value.width, cells)

    def price(self, params: bytes) -> int:
        return BASE + parse(params.decode()).millibits

    def show(self, params: bytes) -> str:
        return params.decode()

    def read(self, text: str) -> bytes:
        return parse(text).text().encode()


def _sources(found: CellList) -> list[str]:
    """Everything that a list asks or copies, in order."""
    named = [test.source for clause in found.clauses for test in clause.tests]
    actions = [*(clause.action for clause in found.clauses), found.otherwise]
    return [source for source in (*named, *(action.source for action in actions)) if source]
