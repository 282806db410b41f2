"""Programs as certificates: rerun them with the slow operators and compare with their claims."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from weft.errors import WeftError
from weft.searches.arc.program import Program, parse
from weft.searches.arc.recorded import ArcRun
from weft.searches.arc.task import ArcTask


@dataclass(frozen=True, slots=True)
class CheckedProgram:
    """One program, run again with the slow reference operators."""

    name: str
    program: str
    train_right: int
    train: int
    """Number of pairs that the program claims to get right."""
    outputs_same: bool
    """Whether the test outputs are those claimed; True if none were claimed."""
    problem: str = ""
    """Why the program could not be run; empty if it was."""

    @property
    def exact(self) -> bool:
        """Whether every claim holds."""
        return self.train_right == self.train and self.outputs_same and not self.problem


def check_program(
    task: ArcTask, program: Program, claimed: list[list[list[int]]] | None
) -> CheckedProgram:
    """Run a program on every input of a task and compare the outputs.

    A pair that the program was learned without does not count.
    """
    claimed_pairs = [
        pair for number, pair in enumerate(task.train, 1) if number != program.without_pair
    ]
    right = sum(program.run(pair.input) == pair.output for pair in claimed_pairs)
    outputs = [program.run(grid) for grid in task.test]
    rows = [None if grid is None else grid.rows() for grid in outputs]
    same = claimed is None or rows == claimed
    return CheckedProgram(task.name, program.text(), right, len(claimed_pairs), same)


def check_run(run: ArcRun) -> Iterator[CheckedProgram]:
    """Run every program of a run's answers again, competitors included."""
    for item in run.items:
        for group in [] if item.answer is None else item.answer["groups"]:
            for text in group["programs"]:
                yield _check_text(item.task, text, group["outputs"])


def _check_text(task: ArcTask, text: str, claimed: list[list[list[int]]]) -> CheckedProgram:
    try:
        return check_program(task, parse(text), claimed)
    except WeftError as error:  # not a program, or one with operators unknown to this version
        return CheckedProgram(task.name, text, 0, len(task.train), False, str(error))
