"""A task as the search uses it: encoded arrays, and the distance of values from the targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weft.searches.arc.ops.operator import ShapeEffect
from weft.searches.arc.synthesis import reach
from weft.searches.arc.synthesis.language import LanguageEntry
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import MAX_BYTES, Grid, encode_grids

U8 = npt.NDArray[np.uint8]
I64 = npt.NDArray[np.int64]


class EncodedTask:
    """One encoded task. In vectors, training examples come first, then test examples."""

    def __init__(self, task: ArcTask) -> None:
        self.task = task
        self.inputs = tuple(pair.input for pair in task.train) + task.test
        self.targets_plain = tuple(pair.output for pair in task.train)
        self.examples, self.train = len(self.inputs), len(task.train)
        self.root = encode_grids(self.inputs)
        self.inp = np.frombuffer(bytearray(self.root), np.uint8)
        self.inp_offsets = _offsets(self.inputs)
        self.targets = np.frombuffer(bytearray(encode_grids(self.targets_plain)), np.uint8)
        self.target_offsets = _offsets(self.targets_plain)
        self.palettes = np.array(
            [(_bits(p.output), _bits(p.input)) for p in task.train], np.int64
        ).reshape(-1, 2)

    def pairs(self) -> list[tuple[Grid, Grid]]:
        """Return the training inputs with their outputs."""
        return [(pair.input, pair.output) for pair in self.task.train]

    @property
    def keeps_sizes(self) -> bool:
        """Whether every target has the size of its input."""
        return all(given.size == expected.size for given, expected in self.pairs())

    def out_buffer(self, operators: int) -> U8:
        """Return a buffer for results of `operators` operators; untouched pages cost nothing."""
        return np.empty((operators + 8) * self.examples * MAX_BYTES, np.uint8)


def _offsets(grids: Sequence[Grid]) -> I64:
    sizes = [2 + grid.height * grid.width for grid in grids]
    return np.cumsum([0, *sizes[:-1]], dtype=np.int64)


def _bits(grid: Grid) -> int:
    """Return the colours of a grid as a bit mask, without black."""
    return sum(1 << colour for colour in sorted(set(grid.cells) - {0}))


def _tables(
    facts: tuple[reach.Fact, ...], pairs: Sequence[Pair], prune: Sequence[str]
) -> list[I64]:
    """Return the table of fewest steps for each pair; pairs with equal size relations share it."""
    tables: dict[tuple[int, int], I64] = {}
    alike = [
        (
            reach.compare(p.input.height, p.output.height),
            reach.compare(p.input.width, p.output.width),
        )
        for p in pairs
    ]
    for pair, relation in zip(pairs, alike, strict=True):
        if relation not in tables:
            tables[relation] = reach.table(facts, pair.input, pair.output, prune)
    return [tables[relation] for relation in alike]


def _unique(*facts: Sequence[reach.Fact]) -> tuple[reach.Fact, ...]:
    return tuple(dict.fromkeys(fact for some in facts for fact in some))


@dataclass(frozen=True, slots=True)
class Standing:
    """The fewest steps from a vector to the targets, as derived from its states."""

    need: int
    by_rule: tuple[tuple[str, int], ...]
    """The same by each rule alone, to name the rule that prunes."""

    def blame(self, left: int) -> str:
        """Return the rule that prunes with `left` steps left; "jointly" if no single rule does."""
        return next((rule for rule, need in self.by_rule if need > left), "jointly")


class ReachabilityTable:
    """The standing of vectors, and the operators that can still lead to the targets, by state."""

    def __init__(
        self,
        problem: EncodedTask,
        operators: Sequence[LanguageEntry],
        fitted: Sequence[ShapeEffect],
        prune: Sequence[str],
    ) -> None:
        last = tuple(reach.fitted_fact(shape, prune) for shape in fitted)
        pairs = problem.task.train
        self._at = [reach.ReachabilityState.of_grid(p.input, p.input, p.output) for p in pairs]
        facts_of_all = reach.facts_of(operators, prune)
        self._kinds = list(_unique(facts_of_all))
        numbers = {fact: i for i, fact in enumerate(self._kinds)}
        self._kind_of = [numbers[fact] for fact in facts_of_all]
        self._steps = _tables(_unique(self._kinds, last), pairs, prune)
        self._alone = {
            rule: _tables(_unique(reach.facts_of(operators, (rule,)), last), pairs, (rule,))
            for rule in prune
        }
        self._standings: dict[tuple[int, bytes], Standing] = {}
        self._allowed: dict[tuple[int, bytes, int], tuple[int, ...]] = {}

    def standing(self, stage: int, states: bytes) -> Standing:
        """Return how far a vector is from the targets."""
        key = (stage, states)
        standing = self._standings.get(key)
        if standing is None:
            standing = self._standings[key] = self._find_standing(stage, states)
        return standing

    def allowed(self, stage: int, states: bytes, left: int) -> tuple[int, ...]:
        """Return the operators after which the targets can be reached in `left` steps."""
        key = (stage, states, left)
        numbers = self._allowed.get(key)
        if numbers is None:
            leads_on = [
                fact[0] == stage and self._leads_on(fact, states, left) for fact in self._kinds
            ]
            numbers = self._allowed[key] = tuple(
                number for number, kind in enumerate(self._kind_of) if leads_on[kind]
            )
        return numbers

    def _find_standing(self, stage: int, states: bytes) -> Standing:
        def need(tables: Sequence[I64]) -> int:
            return max(
                int(steps[stage, state // 3, state % 3])
                for steps, state in zip(tables, states, strict=True)
            )

        return Standing(
            need(self._steps), tuple((rule, need(tables)) for rule, tables in self._alone.items())
        )

    def _leads_on(self, fact: reach.Fact, states: bytes, left: int) -> bool:
        return all(
            reach.result_need(steps, fact, divmod(state, 3), at.relation) <= left
            for steps, state, at in zip(self._steps, states, self._at, strict=True)
        )
