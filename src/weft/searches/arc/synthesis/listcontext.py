"""The input of decision-list learning: grids of the targets' size, and columns of features.

A list works on a base: the input if it has the right size, one of the vectors nearest to the
targets, or, if no program is found, a canvas (the input laid on a grid of a size that formulas
predict). It may test and copy the features of the base's cells, and the cells of the cheapest other
vectors.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weft.searches.arc.fitted.celllist import Cells, OnCanvas
from weft.searches.arc.fitted.rule import BASE
from weft.searches.arc.lists.canvas import Canvas
from weft.searches.arc.lists.canvas import parse as parse_canvas
from weft.searches.arc.lists.cells import source_of
from weft.searches.arc.lists.features import U8, features_of
from weft.searches.arc.lists.learn import TrainingCells
from weft.searches.arc.lists.scan import BEFORE, made_of
from weft.searches.arc.lists.words import MADE, NAMES
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.sample import GridVector, VectorSample
from weft.searches.arc.values import Grid, decode_grids

Columns = dict[str, U8]
RECENT = 9
"""Most contexts cached by a process: enough for the bases and canvases of a puzzle."""


@dataclass(frozen=True, slots=True)
class Base:
    """The base of lists: grids of the targets' size, and the features of their cells."""

    grids: Sequence[Grid]
    columns: Columns
    chain: tuple[str, ...]
    rule: str
    before: str
    """The text of the parameters before the list."""
    millibits: int
    size_loo_passes: bool = True
    """Whether the size formulas pass leave-one-out cross-validation."""


@dataclass(frozen=True, slots=True)
class ListContext:
    """A base, and all columns that lists on it may use: training cells first, then the tests'."""

    base: Base
    columns: Columns
    problem: EncodedTask

    @property
    def trained(self) -> int:
        """The number of training cells."""
        return sum(len(grid.cells) for grid in self.problem.targets_plain)

    @property
    def tests(self) -> Sequence[Grid]:
        """The base's grids for the tests."""
        return self.base.grids[self.problem.train :]

    def training_cells(self, corner: str = "") -> TrainingCells:
        """Return columns and colours of training cells; for a scan also of cells filled earlier."""
        end = self.trained
        known = {source: column[:end] for source, column in self.columns.items()}
        targets = self.problem.targets_plain
        if corner:
            each = [made_of(grid, corner) for grid in targets]
            known |= {name: np.concatenate([columns[name] for columns in each]) for name in MADE}
        pair = np.repeat(np.arange(len(targets)), [len(grid.cells) for grid in targets])
        return TrainingCells(known, cells_of(targets), pair.astype(np.uint8))

    def test_columns(self) -> Columns:
        """Return the columns of the tests' cells."""
        begin = self.trained
        return {source: column[begin:] for source, column in self.columns.items()}

    def beside(self, columns: Columns) -> ListContext:
        """Return the context with additional columns."""
        return ListContext(self.base, self.columns | columns, self.problem)

    def above(self, grids: Sequence[Grid]) -> ListContext:
        """Return the context of a second layer: features of the first one's output."""
        rest = {s: column for s, column in self.columns.items() if s not in self.base.columns}
        below = {source_of(self.base.chain): self.columns["own"]}
        return ListContext(self.base, {**_features(grids), **below, **rest}, self.problem)


_recent: deque[tuple[EncodedTask, VectorSample, int, ListContext]] = deque(maxlen=RECENT)


def context_of(problem: EncodedTask, sample: VectorSample, number: int) -> ListContext:
    """Return the context of one base; cached for other parts on it in this process."""
    for its_problem, its_sample, its_number, context in _recent:
        if its_problem is problem and its_sample is sample and its_number == number:
            return context
    context = _made(problem, sample, number)
    _recent.append((problem, sample, number, context))
    return context


def _made(problem: EncodedTask, sample: VectorSample, number: int) -> ListContext:
    """Build the context of a base; bases are numbered vectors first, then canvases."""
    if number < len(sample.bases):
        base = _vector_base(sample.bases[number])
    else:
        canvas = sample.canvases[number - len(sample.bases)]
        base = _canvas_base(problem, parse_canvas(canvas), sample.size_loo_passes)
    return ListContext(base, _columns(base, sample.sources), problem)


def cells_of(grids: Sequence[Grid]) -> U8:
    """Return the cells of grids, concatenated."""
    return np.frombuffer(b"".join(grid.cells for grid in grids), np.uint8)


@dataclass(frozen=True, slots=True)
class EncodedLayout:
    """The positions of sizes and cells in the encoding of several grids of known sizes."""

    sizes: U8
    """Height and width of each grid."""
    at_sizes: npt.NDArray[np.bool_]

    @staticmethod
    def of(grids: Sequence[Grid]) -> EncodedLayout:
        """Return the layout of grids with the sizes of these."""
        at_sizes = [np.arange(len(grid.cells) + 2) < 2 for grid in grids]
        sizes = np.array([grid.size for grid in grids], np.uint8).ravel()
        return EncodedLayout(sizes, np.concatenate(at_sizes))

    def cells_of(self, content: bytes) -> U8 | None:
        """Return the cells of encoded grids, concatenated; None if they have other sizes."""
        if len(content) != len(self.at_sizes):
            return None
        data = np.frombuffer(content, np.uint8)
        if not np.array_equal(data[self.at_sizes], self.sizes):
            return None
        return data[~self.at_sizes]


def split(cells: U8, grids: Sequence[Grid]) -> list[Grid]:
    """Split cells into grids with the sizes of `grids`."""
    split_grids, at = [], 0
    for grid in grids:
        end = at + len(grid.cells)
        split_grids.append(Grid(grid.height, grid.width, cells[at:end].tobytes()))
        at = end
    return split_grids


def _vector_base(vector: GridVector) -> Base:
    grids = decode_grids(vector.content)
    return Base(grids, _features(grids), vector.chain, Cells.name, "", vector.millibits + BASE)


def _features(grids: Sequence[Grid]) -> Columns:
    return dict(zip(NAMES, np.hstack([features_of(grid) for grid in grids]), strict=True))


def _canvas_base(problem: EncodedTask, canvas: Canvas, size_loo_passes: bool) -> Base:
    """Return the base of the input laid on a canvas."""
    laid = [(canvas.base(grid), canvas.columns(grid)) for grid in problem.inputs]
    grids = [base for base, _ in laid if base is not None]
    each = [columns for _, columns in laid if columns is not None]
    columns = {name: np.concatenate([columns[name] for columns in each]) for name in each[0]}
    before, millibits = canvas.text() + BEFORE, BASE + canvas.millibits
    return Base(grids, columns, (), OnCanvas.name, before, millibits, size_loo_passes)


def _columns(base: Base, sources: Sequence[GridVector]) -> Columns:
    """Return the base's features, and the cells of other vectors of its size."""
    own, layout = source_of(base.chain), EncodedLayout.of(base.grids)
    columns = dict(base.columns)
    for vector in sources:
        source = source_of(vector.chain)
        if source in columns or (source == own and not base.before):
            continue
        cells = layout.cells_of(vector.content)
        if cells is not None:
            columns[source] = cells
    return columns
