"""Invariants of a task: facts that hold on all its pairs; an answer that violates one is doubtful.

Each is a plain fact about an input and its output, and applies to an answer only if it holds on
every training pair. They were chosen on the training split: no true output there violates an
invariant that holds on its task's pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.searches.arc.task import ArcTask
from weft.searches.arc.values import Grid

Invariant = Callable[[Grid, Grid], bool]


def violated(task: ArcTask, outputs: Sequence[Grid]) -> tuple[str, ...]:
    """Name the invariants that hold on all training pairs and not on some test output."""
    pairs = [(pair.input, pair.output) for pair in task.train]
    answers = list(zip(task.test, outputs, strict=True))
    invariants = {**INVARIANTS, "palette": _within(set().union(*(out.cells for _, out in pairs)))}
    return tuple(
        name
        for name, invariant in invariants.items()
        if all(invariant(*pair) for pair in pairs) and not all(invariant(*pair) for pair in answers)
    )


def _keeps_ink(given: Grid, output: Grid) -> bool:
    cells = zip(given.cells, output.cells, strict=False)
    return given.size == output.size and all(a in (0, b) for a, b in cells)


def _within(colours: set[int]) -> Invariant:
    return lambda given, output: set(output.cells) <= colours | set(given.cells)


INVARIANTS: dict[str, Invariant] = {
    "size": lambda given, output: given.size == output.size,
    "change": lambda given, output: given != output,
    "colours": lambda given, output: set(output.cells) <= set(given.cells),
    "contrast": lambda _, output: len(set(output.cells)) > 1,
    "kept": _keeps_ink,
}
"""By name: the output is as large as its input; is not the input; has only its colours; has
more than one colour; leaves every cell that is not black. `palette`, made for each task: has
only colours of its input or of some training output."""
