"""Decision lists as values and as text, their price, and what they make of a grid.

    own=0 & across!=x -> across; label_enclosed=1 -> 4; else own

A clause applies where all its tests hold and its action has a colour; of several the first one
decides, and `else` decides what is left. A source is a feature of the grid, or a chain of
operators from the input (`objects_8|keep_largest|draw_all`, `input` for none), or what one action
makes of all its objects (`objects_8.cover.ring.own`), read at the same place; a chain may also end
with a colour, or be laid on the grid if it is smaller (`tiled.trim`, `spread.trim`). `lay` copies a
source's cells that are not black.
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
"""How a smaller grid becomes one of the right size."""
FEATURE = 6500
"""One feature of about ninety, in thousandths of a bit; one of a family costs more."""
_TEST = re.compile(r"(?P<source>[a-z0-9_|.]+)(?P<relation>=|!=|>=|<)(?P<value>x|[0-9]{1,2})")
Columns = Callable[[str], U8]
"""A source's number for every cell."""
Bools = npt.NDArray[np.bool_]
RELATIONS: dict[str, Callable[[U8, int], Bools]] = {
    "=": np.equal, "!=": np.not_equal, ">=": np.greater_equal, "<": np.less,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Test:
    """Whether a source's number is `=`, `!=`, `>=` or `<` a value."""

    source: str
    relation: str
    value: int

    def text(self) -> str:
        """As lists write it; x is the missing colour."""
        none = self.value == NONE and self.source not in TESTED
        return f"{self.source}{self.relation}{'x' if none else self.value}"

    def holds(self, numbers: U8) -> Bools:
        """Where it holds."""
        return RELATIONS[self.relation](numbers, self.value)

    @property
    def millibits(self) -> int:
        """What it costs."""
        return source_millibits(self.source) + (3322 if self.relation in ("=", "!=") else 4000)


@dataclass(frozen=True, slots=True)
class Action:
    """A colour (then there is no source), or the copy of a source; `lay` leaves its black out."""

    source: str
    colour: int = 0
    lay: bool = False

    def text(self) -> str:
        """As lists write it."""
        return ("lay " if self.lay else "") + (self.source or str(self.colour))

    def colours(self, columns: Columns, cells: int) -> U8:
        """The colour for every cell; UNDECIDED where it has none."""
        if not self.source:
            return np.full(cells, self.colour, np.uint8)
        numbers = columns(self.source)
        silent = (numbers >= NONE) | ((numbers == 0) & self.lay)
        return np.where(silent, UNDECIDED, numbers).astype(np.uint8)

    @property
    def millibits(self) -> int:
        """What it costs."""
        if not self.source:
            return 4322
        return BIT if self.source == "own" else BIT + source_millibits(self.source)


@dataclass(frozen=True, slots=True)
class Clause:
    """What becomes of cells for which all tests hold: none, one or two."""

    tests: tuple[Test, ...]
    action: Action

    def text(self) -> str:
        """As lists write it."""
        tests = " & ".join(test.text() for test in self.tests)
        return f"{tests or 'all'} -> {self.action.text()}"

    @property
    def millibits(self) -> int:
        """What it costs."""
        each = sum(test.millibits for test in self.tests) + self.action.millibits
        return each + (3 * BIT if len(self.tests) > 1 else 2 * BIT)


@dataclass(frozen=True, slots=True)
class CellList:
    """Clauses in order, and what decides the rest."""

    clauses: tuple[Clause, ...]
    otherwise: Action

    def text(self) -> str:
        """The parameters as programs write them."""
        parts = [clause.text() for clause in self.clauses]
        return "; ".join([*parts, f"else {self.otherwise.text()}"])

    @property
    def millibits(self) -> int:
        """What was fitted."""
        return self.otherwise.millibits + sum(clause.millibits for clause in self.clauses)

    def decide(self, columns: Columns, cells: int) -> U8:
        """The colour of every cell; UNDECIDED where no clause applies."""
        decisions = np.full(cells, UNDECIDED, np.uint8)
        for clause in (*self.clauses, Clause((), self.otherwise)):
            applies = decisions == UNDECIDED
            for test in clause.tests:
                applies &= test.holds(columns(test.source))
            decisions[applies] = clause.action.colours(columns, cells)[applies]
        return decisions

    def sources(self) -> list[str]:
        """Everything that it tests or copies, in order."""
        named = [test.source for clause in self.clauses for test in clause.tests]
        actions = [*(clause.action for clause in self.clauses), self.otherwise]
        return [source for source in (*named, *(action.source for action in actions)) if source]


@cache
def source_millibits(source: str) -> int:
    """What it costs to name a source."""
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
    """Whether a source is what an action makes of all objects."""
    return SEPARATOR in source and not way_of(source)


def way_of(source: str) -> str:
    """Return how a source is laid, if it is."""
    way, separator, _ = source.partition(SEPARATOR)
    return way if separator and way in LAID else ""


def laid_source(way: str, chain: tuple[str, ...]) -> str:
    """Return the source that is what a chain gives, laid so."""
    return f"{way}{SEPARATOR}{source_of(chain)}"


def chain_of(source: str) -> tuple[str, ...]:
    """The operators of a source that is no feature and no action."""
    way = way_of(source)
    chain = source.removeprefix(way + SEPARATOR) if way else source
    return () if chain == INPUT else tuple(chain.split("|"))


def source_of(chain: tuple[str, ...]) -> str:
    """Undo `chain_of`."""
    return "|".join(chain) or INPUT


def parse(text: str) -> CellList:
    """Undo `CellList.text`; ValueError or KeyError where it is none."""
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
