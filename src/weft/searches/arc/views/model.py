"""The model of the views: one task with its outcome, filled in from a run."""

from __future__ import annotations

from dataclasses import dataclass

from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import EMPTY, Grid

Shown = Grid | str
"""A value of a program: a picture, or words if it is not a grid (see `picture.shown`)."""


@dataclass(frozen=True, slots=True)
class StepView:
    """One line of a program with its values, one for each input shown."""

    line: str
    values: tuple[Shown, ...]


@dataclass(frozen=True, slots=True)
class AnswerView:
    """One distinct answer and the shortest program that gives it."""

    program: tuple[str, ...]
    """Single-assignment lines."""
    bits: int
    """Cost of the program in 1/1000 bit."""
    outputs: tuple[Grid, ...]
    """One for each test."""
    programs: int = 1
    """Number of programs that give this answer."""
    steps: tuple[StepView, ...] = ()
    inputs: tuple[str, ...] = ()
    """Names of the inputs to which the values of the steps belong: `train 1`, `test 1`."""
    doubts: str = ""
    """The doubts about its program, in words."""


@dataclass(frozen=True, slots=True)
class TaskView:
    """One task: its pairs, its outcome, and the answers, best first."""

    name: str
    digest: str
    pairs: tuple[Pair, ...]
    tests: tuple[Grid, ...]
    outcome: str = ""
    """SOLVED or UNKNOWN; empty if only the task is shown."""
    reason: str = ""
    """The reason for UNKNOWN: ambiguous, unsure, budget, no-program or incomplete."""
    note: str = ""
    """Explanation of the outcome, in words and numbers."""
    answers: tuple[AnswerView, ...] = ()
    """The answer with its examined competitors, or the guesses of an unsolved task."""
    nearest: AnswerView | None = None
    """The nearest program, if there are no answers."""
    truth: tuple[Grid, ...] = ()
    """The true outputs, if they are known and may be shown."""
    confidence_permille: int | None = None
    """The probability that the first answer is right; None if it was not computed."""
    failure: str = ""
    """The class of failure, if there is no answer."""

    @staticmethod
    def of(task: ArcTask) -> TaskView:
        """Return the view of a task alone."""
        return TaskView(task.name, task.digest, task.train, task.test)

    @property
    def right(self) -> bool | None:
        """Whether the answer is right; None without an answer or without the truth."""
        if self.outcome != "SOLVED" or not self.truth or not self.answers:
            return None
        return self.answers[0].outputs == self.truth

    @property
    def best_is_right(self) -> bool:
        """Whether the first answer or guess is right."""
        return bool(self.answers) and self.answers[0].outputs == self.truth

    @property
    def kind(self) -> str:
        """The category of the task: wrong, solved, or the reason why not."""
        if self.outcome == "SOLVED":
            return "wrong" if self.right is False else "solved"
        return self.reason or "unknown"

    @property
    def words(self) -> str:
        """The outcome in words: `SOLVED`, `SOLVED, wrong`, `UNKNOWN: ambiguous`."""
        if self.outcome == "SOLVED":
            return {True: "SOLVED, right", False: "SOLVED, wrong", None: "SOLVED"}[self.right]
        return f"{self.outcome}: {self.reason}" if self.reason else self.outcome


def letter(index: int) -> str:
    """Return the name of an answer: A, B, C…, and after Z its number."""
    return chr(ord("A") + index) if index < 26 else str(index + 1)


def price(answer: AnswerView) -> str:
    """Return an answer's cost, its doubts, and how many programs give it, as text."""
    shared = f", {answer.programs:,} programs agree" if answer.programs > 1 else ""
    doubts = f", {answer.doubts}" if answer.doubts else ""
    return f"{answer.bits / 1000:.1f} bits{doubts}{shared}"


# -- blocks of a drawing --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tile:
    """A grid with its label."""

    label: str
    grid: Grid


@dataclass(frozen=True, slots=True)
class PictureBlock:
    """Tiles under one title; the first is an input, the others its outputs."""

    title: str
    tiles: tuple[Tile, ...]


def blocks(view: TaskView) -> tuple[PictureBlock, ...]:
    """Return the pairs, then the tests with every answer, and the truth unless it equals them."""
    pairs = [
        PictureBlock(f"train {i + 1}", (Tile("input", pair.input), Tile("output", pair.output)))
        for i, pair in enumerate(view.pairs)
    ]
    return (*pairs, *(_test(view, i) for i in range(len(view.tests))))


def _test(view: TaskView, index: int) -> PictureBlock:
    tiles = [Tile("input", view.tests[index])]
    alone = len(view.answers) == 1
    for i, answer in enumerate(view.answers):
        label = "answer" if alone else f"answer {letter(i)}"
        tiles.append(Tile(label, answer.outputs[index]))
    if view.truth and (len(tiles) != 2 or tiles[1].grid != view.truth[index]):
        first = tiles[1].grid if len(tiles) > 1 else None
        tiles.append(Tile("expected", view.truth[index]))
        if first is not None and first != view.truth[index]:
            tiles += [Tile("difference", grid) for grid in difference(first, view.truth[index])]
    return PictureBlock(f"test {index + 1}", tuple(tiles))


def difference(answer: Grid, expected: Grid) -> list[Grid]:
    """Return a grid of the answer's wrong cells, the others empty; no grid if sizes differ."""
    if answer.size != expected.size:
        return []
    cells = zip(answer.cells, expected.cells, strict=True)
    return [Grid(answer.height, answer.width, bytes(EMPTY if a == b else a for a, b in cells))]
