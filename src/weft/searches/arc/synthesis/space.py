"""The space of value vectors: the vectors reached so far, and the cheapest program for each.

Each vector is reached once: a later program with the same contents is observationally equivalent.
Expanding a vector charges one program per operator applied, whether the result fails, is already
known or is new; operators that are pruned are neither applied nor charged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np

from weft.searches.arc.fitted.registry import BY_NAME, finish
from weft.searches.arc.fitted.registry import RULES as FITTED
from weft.searches.arc.fitted.rule import EncodedExamples
from weft.searches.arc.kernels.expand import FAMILIES, family_of, judge
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.budget import SearchBudget
from weft.searches.arc.synthesis.cache import ApplyCache, Expansion
from weft.searches.arc.synthesis.encodedtask import I64, U8, EncodedTask, ReachabilityTable
from weft.searches.arc.synthesis.language import ExpansionPlan, Language, Step
from weft.searches.arc.synthesis.reach import RULES
from weft.searches.arc.values import ValueStage

GRID = int(ValueStage.GRID)
ROOT = 0
NO_ENTRY = -1
DIGEST_BYTES = 16


@dataclass(slots=True)
class SearchCounts:
    """Counts of a search; `programs` is the unit of budgets."""

    programs: int = 0
    failed: int = 0
    repeated: int = 0
    fits_tried: int = 0
    pruned: dict[str, int] = field(default_factory=dict)
    """Vectors dropped and operators not applied, by the rule that pruned them."""


@dataclass(frozen=True, slots=True)
class ProgramCandidate:
    """A program that is right on every training pair, and its test outputs."""

    program: Program
    millibits: int
    outputs: bytes
    """The test outputs, encoded and concatenated."""
    time: int
    """Programs charged when the program was found."""
    loo_passed: int | None = None
    """For a learned rule: the number of pairs if it passes leave-one-out cross-validation, else 0;
    None if it was not cross-validated."""


@dataclass(slots=True)
class VectorNode:
    """One vector: its contents, and the program that reached it."""

    stage: int
    content: bytes
    ends: list[int]
    states: bytes
    entry: int
    parent: int
    depth: int
    millibits: int
    shape_loss: int
    cell_loss: int
    first: int
    """The first entry of its program."""


class Space:
    """Vectors reached so far. `grow` expands one; the caller decides the order."""

    def __init__(
        self, problem: EncodedTask, language: Language, budget: SearchBudget, programs: int,
        prune: Sequence[str] = RULES, cache: ApplyCache | None = None, seed: int = 0,
        nodes: Sequence[VectorNode] = (), known: frozenset[bytes] = frozenset(), *,
        fitted: bool = True,
    ) -> None:  # fmt: skip
        """Start from `nodes` of an earlier phase, if given, instead of the input alone.

        `known` has the digests of all vectors that phase reached. Without `fitted` no rule is
        fitted.
        """
        self.problem, self.language, self.budget = problem, language, budget
        self.programs = programs
        self._fitted = fitted
        self.counts = SearchCounts()
        self.candidates: list[ProgramCandidate] = []
        self.guesses: list[ProgramCandidate] = []
        """Programs that are right on every training pair, but too long to be accepted."""
        self.nodes: list[VectorNode] = []
        self.best = ROOT
        self._reached: list[set[bytes]] = [set() for _ in ValueStage]
        """Contents reached, by stage; used for membership only."""
        self._known = known
        self._cache = cache or ApplyCache()
        shapes = [rule.shape for rule in FITTED if fitted]
        self._reach = ReachabilityTable(problem, language.entries, shapes, prune)
        self._rank = language.ordered(seed) if seed else None
        self._out = problem.out_buffer(len(language.entries))
        self._plans: dict[tuple[int, ...], ExpansionPlan] = {}
        if nodes:
            self._restore(nodes)
        else:
            self._add_root()

    # -- state ----------------------------------------------------------------------------

    @property
    def spent(self) -> bool:
        """Whether the budget is used up, in programs or in vectors kept."""
        return self.counts.programs >= self.programs or len(self.nodes) >= self.budget.max_states

    def program_of(self, node: int) -> tuple[str, ...]:
        """Return the operators that lead to a vector, with concepts written out."""
        names: list[str] = []
        while node != ROOT:
            names[:0] = self.language.entries[self.nodes[node].entry].expands
            node = self.nodes[node].parent
        return tuple(names)

    def is_open(self, node: int) -> bool:
        """Whether a vector should be expanded: within the depth limit, and not perfect."""
        return self.nodes[node].depth < self.budget.max_depth and not self._is_perfect(node)

    def priority(self, node: int) -> tuple[int, int, int, int, int]:
        """Return the sort key for best-first search: shape, cells, cost, depth, then order."""
        n = self.nodes[node]
        return (n.shape_loss, n.cell_loss, n.millibits, n.depth, node)

    # -- growing --------------------------------------------------------------------------

    def grow(self, node: int) -> list[int]:
        """Expand a vector with every operator that is not pruned; return the new vectors."""
        parent = self.nodes[node]
        remaining = self.budget.max_depth - parent.depth - 1
        numbers = self._reach.allowed(parent.stage, parent.states, remaining)
        self._skip(len(self.language.by_stage[parent.stage]) - len(numbers))
        numbers = numbers[: self.programs - self.counts.programs]
        if not numbers:
            return []
        expansion = self._expansion(parent, numbers)
        new: list[int] = []
        for i in self._in_order(numbers):
            child = self._take(node, remaining, numbers[i], i, expansion)
            if child is not None:
                new.append(child)
        self.counts.programs += len(numbers)
        for child in new:
            self._finish(child)
        return new

    def _in_order(self, numbers: tuple[int, ...]) -> Sequence[int]:
        if self._rank is None:
            return range(len(numbers))
        rank = self._rank
        return sorted(range(len(numbers)), key=lambda i: rank[numbers[i]])

    def _expansion(self, node: VectorNode, numbers: tuple[int, ...]) -> Expansion:
        key = (self.problem.task.digest, node.stage, node.content, numbers)
        expansion = self._cache.get(key)
        if expansion is None:
            expansion = self._apply(node, numbers)
            self._cache.put(key, expansion)
        return expansion

    def _apply(self, node: VectorNode, numbers: tuple[int, ...]) -> Expansion:
        plan = self._plans.get(numbers)
        if plan is None:
            plan = self._plans[numbers] = self.language.plan(numbers)
        p, n = self.problem, len(numbers)
        ends = np.empty((n, p.examples), np.int64)
        end = self._expand(plan, _array(node.content), node.ends, ends)
        shape, cells = np.zeros(n, np.int64), np.zeros(n, np.int64)
        states = np.zeros((n, p.train), np.uint8)
        judge(plan.gives, ends, self._out, p.targets, p.target_offsets, p.palettes, shape, cells,
              states)  # fmt: skip
        data = self._out[:end].tobytes()
        return Expansion(
            data, ends.ravel().tolist(), shape.tolist(), cells.tolist(), states.tobytes()
        )

    def _expand(self, plan: ExpansionPlan, source: U8, source_ends: list[int], ends: I64) -> int:
        """Run the kernels of a plan into the buffer; return the end of the results."""
        p, to = self.problem, 0
        offsets = np.array([0, *source_ends[:-1]], np.int64)
        for part in plan.parts:
            to = FAMILIES[part.family](
                part.rows, source, offsets, p.inp, p.inp_offsets, self._out,
                ends[part.start : part.end], to,
            )  # fmt: skip
        for i, chain in enumerate(plan.chains, len(ends) - len(plan.chains)):
            to = self._run_chain(chain, source, offsets, ends[i : i + 1], to)
        return to

    def _run_chain(
        self, chain: tuple[Step, ...], source: U8, offsets: I64, ends: I64, to: int
    ) -> int:
        """Run a concept step by step, behind the results so far; keep the last step's result."""
        p, at = self.problem, to
        for step in chain:
            row = np.array([step], np.int64)
            expand = FAMILIES[family_of(step[0])]
            end = expand(row, source, offsets, p.inp, p.inp_offsets, self._out, ends, at)
            if end == at:
                ends[:] = to
                return to
            source, offsets = self._out, np.array([at, *ends[0, :-1]], np.int64)
            at, start = end, at
        size = at - start
        self._out[to : to + size] = self._out[start:at].copy()
        ends -= start - to
        return to + size

    def _take(self, node: int, left: int, number: int, i: int, expansion: Expansion) -> int | None:
        """Add one result if it is new and can lead to the targets; return its number, or None."""
        behind = (i + 1) * self.problem.examples
        begin = behind - self.problem.examples
        start = expansion.ends[begin - 1] if i else 0
        end = expansion.ends[behind - 1]
        if end == start:
            self.counts.failed += 1
            return None
        content = expansion.data[start:end]
        entry = self.language.entries[number]
        stage = int(entry.gives)
        if content in self._reached[stage] or (
            self._known and digest_of(stage, content) in self._known
        ):
            self.counts.repeated += 1
            return None
        train = self.problem.train
        states = expansion.states[i * train : (i + 1) * train]
        standing = self._reach.standing(stage, states)
        if standing.need > left:
            self._skip(1, standing.blame(left))
            return None
        if len(self.nodes) >= self.budget.max_states:
            return None
        parent = self.nodes[node]
        shape, cells = expansion.shape[i], expansion.cells[i]
        if stage != GRID:  # only grids have losses; other values inherit their parent's
            shape, cells = parent.shape_loss, parent.cell_loss
        ends = [place - start for place in expansion.ends[begin:behind]]
        first = number if node == ROOT else parent.first
        return self._add(
            VectorNode(stage, content, ends, states, number, node, parent.depth + 1,
                 parent.millibits + entry.millibits, shape, cells, first)
        )  # fmt: skip

    def _add(self, node: VectorNode) -> int:
        number = len(self.nodes)
        self._reached[node.stage].add(node.content)
        self.nodes.append(node)
        if node.stage == GRID:
            if self.priority(number)[:3] < self.priority(self.best)[:3]:
                self.best = number
            if self._is_perfect(number):
                self._collect(Program(self.program_of(number)), node.millibits, node.content,
                            node.ends)  # fmt: skip
        return number

    def _finish(self, number: int) -> None:
        """Try the fitted rules on a grid vector."""
        node = self.nodes[number]
        if not self._fitted or node.stage != GRID or not self.is_open(number) or self.spent:
            return
        p = self.problem
        self.counts.programs += 1
        self.counts.fits_tried += 1
        offsets = np.array([0, *node.ends[:-1]], np.int64)
        source = _array(node.content)
        view = EncodedExamples(source, offsets, p.inp, p.inp_offsets, p.targets, p.target_offsets)
        for fit in finish(view):
            rule = BY_NAME[fit.rule]
            program = Program(self.program_of(number), fit.rule, rule.show(fit.params))
            ends = _grid_ends(fit.outputs, p.examples)
            self._collect(program, node.millibits + fit.millibits, fit.outputs, ends)

    def _collect(self, program: Program, millibits: int, vector: bytes, ends: list[int]) -> None:
        collection = self.candidates if millibits <= self.budget.max_millibits else self.guesses
        if len(collection) < self.budget.max_candidates:
            outputs = vector[ends[self.problem.train - 1] :]
            collection.append(ProgramCandidate(program, millibits, outputs, self.counts.programs))

    def _is_perfect(self, node: int) -> bool:
        n = self.nodes[node]
        return n.stage == GRID and n.shape_loss == 0 and n.cell_loss == 0

    def _skip(self, n: int, rule: str = "operator") -> None:
        if n:
            self.counts.pruned[rule] = self.counts.pruned.get(rule, 0) + n

    def _restore(self, nodes: Sequence[VectorNode]) -> None:
        self.nodes = list(nodes)
        grids = [n for n, node in enumerate(nodes) if node.stage == GRID]
        self.best = min(grids, key=self.priority)

    def _add_root(self) -> None:
        p = self.problem
        root = p.root
        shape, cells = np.zeros(1, np.int64), np.zeros(1, np.int64)
        states = np.zeros((1, p.train), np.uint8)
        ends = np.array([[*p.inp_offsets[1:], len(root)]], np.int64)
        source = _array(root)
        judge(np.array([GRID]), ends, source, p.targets, p.target_offsets, p.palettes, shape,
              cells, states)  # fmt: skip
        self._add(
            VectorNode(GRID, root, ends[0].tolist(), states.tobytes(), NO_ENTRY, ROOT, 0, 0,
                 int(shape[0]), int(cells[0]), NO_ENTRY)
        )  # fmt: skip
        self._finish(ROOT)


def digest_of(stage: int, content: bytes) -> bytes:
    """Return the digest that identifies a vector where its contents are not passed."""
    return blake2b(content, digest_size=DIGEST_BYTES, salt=bytes((stage,))).digest()


def _grid_ends(vector: bytes, examples: int) -> list[int]:
    ends, at = [], 0
    for _ in range(examples):
        at += 2 + vector[at] * vector[at + 1]
        ends.append(at)
    return ends


def _array(data: bytes) -> U8:
    """Return a writable copy; numba compiles separately for read-only arrays."""
    return np.frombuffer(bytearray(data), np.uint8)
