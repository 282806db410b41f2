"""Laws that a task's own pairs keep: an answer that breaks one is doubtful.

Each is a plain fact about an input and its output. A law binds an answer only if every training
pair keeps it. Laws were chosen on the training split: none is broken there by a true output
whose pairs all keep it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.arc.task import ArcTask
from weft.arc.values import Grid

Law = Callable[[Grid, Grid], bool]


def broken(task: ArcTask, outputs: Sequence[Grid]) -> tuple[str, ...]:
    """Name the laws that all training pairs keep and some test output breaks."""
    pairs = [(pair.input, pair.output) for pair in task.train]
    answers = list(zip(task.test, outputs, strict=True))
    laws = {**LAWS, "palette": _within(set().union(*(out.cells for _, out in pairs)))}
    return tuple(
        name
        for name, law in laws.items()
        if all(law(*pair) for pair in pairs) and not all(law(*pair) for pair in answers)
    )


def _same_size(given: Grid, output: Grid) -> bool:
    return (given.height, given.width) == (output.height, output.width)


def _kept(given: Grid, output: Grid) -> bool:
    cells = zip(given.cells, output.cells, strict=False)
    return _same_size(given, output) and all(a in (0, b) for a, b in cells)


def _within(colours: set[int]) -> Law:
    return lambda given, output: set(output.cells) <= colours | set(given.cells)


LAWS: dict[str, Law] = {
    "size": _same_size,
    "change": lambda given, output: given != output,
    "colours": lambda given, output: set(output.cells) <= set(given.cells),
    "contrast": lambda _, output: len(set(output.cells)) > 1,
    "kept": _kept,
}
"""By name: the output is as large as its input; is not the input; has only its colours; has
more than one colour; leaves every cell that is not black. `palette`, made for each task: has
only colours of its input or of some training output."""
