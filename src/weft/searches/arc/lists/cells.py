"""Decision lists as values and as text, their cost, and their evaluation on a grid.

    own=0 & across!=x -> across; label_enclosed=1 -> 4; else own

A clause applies if all its tests hold and its action has a colour; the first clause that applies
decides a cell, and `else` decides the rest. A source is read at the cell's position. It is a
feature of the grid, the output of a chain of operators on the input (`input` for an empty chain,
`objects_8|keep_largest|draw_all`), or the output of one action on all objects of the input
(`objects_8.cover.ring.own`). A chain may also end with a colour, or its output, if smaller, be
placed on the grid (`tiled.trim`, `spread.trim`). `lay` copies only non-black cells of a source.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from weft.searches.arc.lists.features import U8
from weft.searches.arc.lists.neighbours import NONE
from weft.searches.arc.lists.words import CANVAS_NAMES, MADE, PLAIN, TESTED, WORDS
from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.ops.registry import BY_NAME
from weft.searches.arc.tables.everywhere import SEPARATOR
from weft.searches.arc.tables.everywhere import parse as parse_acted
from weft.searches.arc.values import ValueStage

INPUT = "input"
UNDECIDED = 255
LAID = ("tiled", "spread")
"""Ways to bring a smaller grid to the right size."""
FEATURE = 6500
"""Cost of one of about ninety features, in thousandths of a bit; members of a family cost more."""
_TEST = re.compile(r"(?P<source>[a-z0-9_|.]+)(?P<relation>=|!=|>=|<)(?P<value>x|[0-9]{1,2})")
Columns = Callable[[str], U8]
"""Returns a source's number for every cell."""
Bools = npt.NDArray[np.bool_]
RELATIONS: dict[str, Callable[[U8, int], Bools]] = {
    "=": np.equal, "!=": np.not_equal, ">=": np.greater_equal, "<": np.less,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Test:
    """A comparison of a source's number with a value, by `=`, `!=`, `>=` or `<`."""

    source: str
    relation: str
    value: int

    def text(self) -> str:
        """Return the notation used in lists; x is the missing colour."""
        none = self.value == NONE and self.source not in TESTED
        return f"{self.source}{self.relation}{'x' if none else self.value}"

    def holds(self, numbers: U8) -> Bools:
        """Return a mask of the cells where it holds."""
        return RELATIONS[self.relation](numbers, self.value)

    @property
    def millibits(self) -> int:
        """The cost in thousandths of a bit."""
        return source_millibits(self.source) + (3322 if self.relation in ("=", "!=") else 4000)


@dataclass(frozen=True, slots=True)
class Action:
    """A colour (then `source` is empty) or a copy of a source; `lay` leaves out its black cells."""

    source: str
    colour: int = 0
    lay: bool = False

    def text(self) -> str:
        """Return the notation used in lists."""
        return ("lay " if self.lay else "") + (self.source or str(self.colour))

    def colours(self, columns: Columns, cells: int) -> U8:
        """Return the colour for every cell; UNDECIDED where there is none."""
        if not self.source:
            return np.full(cells, self.colour, np.uint8)
        numbers = columns(self.source)
        silent = (numbers >= NONE) | ((numbers == 0) & self.lay)
        return np.where(silent, UNDECIDED, numbers).astype(np.uint8)

    @property
    def millibits(self) -> int:
        """The cost in thousandths of a bit."""
        if not self.source:
            return 4322
        return BIT if self.source == "own" else BIT + source_millibits(self.source)


@dataclass(frozen=True, slots=True)
class Clause:
    """The action for cells that pass all tests; there are at most two tests."""

    tests: tuple[Test, ...]
    action: Action

    def text(self) -> str:
        """Return the notation used in lists."""
        tests = " & ".join(test.text() for test in self.tests)
        return f"{tests or 'all'} -> {self.action.text()}"

    @property
    def millibits(self) -> int:
        """The cost in thousandths of a bit."""
        each = sum(test.millibits for test in self.tests) + self.action.millibits
        return each + (3 * BIT if len(self.tests) > 1 else 2 * BIT)


@dataclass(frozen=True, slots=True)
class CellList:
    """Clauses in order, and the action for the remaining cells."""

    clauses: tuple[Clause, ...]
    otherwise: Action

    def text(self) -> str:
        """Return the notation used in programs."""
        parts = [clause.text() for clause in self.clauses]
        return "; ".join([*parts, f"else {self.otherwise.text()}"])

    @property
    def millibits(self) -> int:
        """The cost of clauses and default, in thousandths of a bit."""
        return self.otherwise.millibits + sum(clause.millibits for clause in self.clauses)

    def decide(self, columns: Columns, cells: int) -> U8:
        """Return the colour of every cell; UNDECIDED where no clause applies."""
        decisions = np.full(cells, UNDECIDED, np.uint8)
        for clause in (*self.clauses, Clause((), self.otherwise)):
            applies = decisions == UNDECIDED
            for test in clause.tests:
                applies &= test.holds(columns(test.source))
            decisions[applies] = clause.action.colours(columns, cells)[applies]
        return decisions

    def sources(self) -> list[str]:
        """Return all sources that it tests, then all that it copies, in order."""
        named = [test.source for clause in self.clauses for test in clause.tests]
        actions = [*(clause.action for clause in self.clauses), self.otherwise]
        return [source for source in (*named, *(action.source for action in actions)) if source]


@cache
def source_millibits(source: str) -> int:
    """Return the cost of naming a source, in thousandths of a bit."""
    if source == "own":
        return 3 * BIT
    if source in WORDS:
        is_one_of_many = source not in PLAIN and source not in CANVAS_NAMES and source not in MADE
        return FEATURE + 1500 if is_one_of_many else FEATURE
    if is_acted(source):
        return parse_acted(source).millibits
    naming = 3 * BIT if way_of(source) else 2 * BIT
    return naming + sum(BY_NAME[name].millibits for name in chain_of(source))


def is_acted(source: str) -> bool:
    """Whether a source is the output of an action on all objects."""
    return SEPARATOR in source and not way_of(source)


def way_of(source: str) -> str:
    """Return how a source is placed on the grid; empty if it is not."""
    way, separator, _ = source.partition(SEPARATOR)
    return way if separator and way in LAID else ""


def laid_source(way: str, chain: tuple[str, ...]) -> str:
    """Return the source for a chain's output placed in this way."""
    return f"{way}{SEPARATOR}{source_of(chain)}"


def chain_of(source: str) -> tuple[str, ...]:
    """Return the operators of a source that is neither a feature nor an action."""
    way = way_of(source)
    chain = source.removeprefix(way + SEPARATOR) if way else source
    return () if chain == INPUT else tuple(chain.split("|"))


def source_of(chain: tuple[str, ...]) -> str:
    """Invert `chain_of`."""
    return "|".join(chain) or INPUT


def parse(text: str) -> CellList:
    """Invert `CellList.text`; raises ValueError or KeyError if the text is invalid."""
    *clauses, last = text.split("; ")
    if not last.startswith("else "):
        raise ValueError(last)
    return CellList(tuple(map(_clause, clauses)), _action(last.removeprefix("else ")))


def _clause(text: str) -> Clause:
    tests, action = text.split(" -> ")
    parsed = () if tests == "all" else tuple(map(_test, tests.split(" & ")))
    if len(parsed) > 2:
        raise ValueError(text)
    return Clause(parsed, _action(action))


def _test(text: str) -> Test:
    match = _TEST.fullmatch(text)
    if match is None:
        raise ValueError(text)
    value = NONE if match["value"] == "x" else int(match["value"])
    return Test(_source(match["source"]), match["relation"], value)


def _action(text: str) -> Action:
    if text in set("0123456789"):
        return Action("", int(text))
    source = _source(text.removeprefix("lay "))
    if source in TESTED:
        raise ValueError(text)
    return Action(source, lay=text.startswith("lay "))


def _source(text: str) -> str:
    """Check a source: a feature, an action, or a chain from a grid to a grid or a colour."""
    if is_acted(text):
        return parse_acted(text).text()
    stage = ValueStage.GRID
    for name in () if text in WORDS else chain_of(text):
        if BY_NAME[name].takes is not stage:
            raise ValueError(text)
        stage = BY_NAME[name].gives
    if stage is not ValueStage.GRID and (stage is not ValueStage.COLOUR or way_of(text)):
        raise ValueError(text)
    return text


assert not {INPUT, *WORDS} & set(BY_NAME), "a feature has the name of an operator"
