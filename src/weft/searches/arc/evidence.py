"""Evidence against a program that is right on every training pair, as counts.

    cross-validation   leave-one-out: the last rule is fitted without a pair and has to predict
                       that pair's output; two pairs should be predicted (one if there are only
                       two). Without a fitted rule every pair counts as predicted
    refuted            pairs whose prediction was wrong
    inconsistent       augmentations of the task (rotated, mirrored, colours permuted) on which
                       the program is right on all pairs but gives a different test output: it
                       broke a tie by position or by colour number
    violated           invariants that hold on all pairs but not on the program's answer
    extrapolation      other properties, step by step, that hold in all pairs and that a test
                       breaks (`invariants`)

Doubts cost bits, as if the program were that much longer. All numbers are integers, determined by
the task and the program alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from weft.model import codec
from weft.model.values import Value
from weft.searches.arc.invariants import Extrapolation, extrapolation
from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.program import Program
from weft.searches.arc.refit import predict
from weft.searches.arc.symmetries import AUGMENTATIONS, Symmetry
from weft.searches.arc.task import ArcTask
from weft.searches.arc.values import Grid

LACKING, CONTRARY, REFUTED = 30 * BIT, 60 * BIT, 90 * BIT
"""Costs of doubts: of each missing prediction; of being inconsistent and of each violated
invariant; of being refuted.

Tuned on the training split: on its tasks, and on the same tasks with one pair as the test.
"""
EXTRAPOLATED = 2 * BIT
"""Cost of each property that holds in training and that a test breaks, so that of equally short
explanations the one that extrapolates least is preferred."""
MOST_EXTRAPOLATED = 8
LOO_REQUIRED = 2
"""Pairs that a fitted program should predict in cross-validation."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence on a program beyond the pairs for which it was found."""

    loo_passed: int
    """Pairs predicted in leave-one-out cross-validation."""
    loo_required: int
    """Pairs that should be predicted."""
    refuted: int = 0
    inconsistent: int = 0
    violated: tuple[str, ...] = ()
    extrapolation: Extrapolation | None = None

    @property
    def doubt_millibits(self) -> int:
        """The cost of all doubts."""
        lacking = max(0, self.loo_required - self.loo_passed)
        contrary = (self.inconsistent > 0) + len(self.violated)
        known = LACKING * lacking + CONTRARY * contrary + REFUTED * (self.refuted > 0)
        broken = 0 if self.extrapolation is None else self.extrapolation.total
        return known + EXTRAPOLATED * min(broken, MOST_EXTRAPOLATED)

    def to_dict(self) -> dict[str, Value]:
        """Return the JSON form, with the cost of the doubts; `codec.from_json` reads it."""
        return {**codec.to_json(self), "doubt_millibits": self.doubt_millibits}


def examine(
    task: ArcTask,
    program: Program,
    outputs: tuple[Grid, ...],
    loo_passed: int | None = None,
    *,
    behaviour: bool = True,
) -> Evidence:
    """Gather the evidence on a program that is right on every pair and gives `outputs`.

    A decision list comes with `loo_passed`, the number of pairs that it predicted, and all of them
    are required, because it was chosen from very many lists. Otherwise the last rule is refitted
    without each pair. Without `behaviour` the steps of the program are ignored.
    """
    pairs, refuted = len(task.train), 0
    required = min(LOO_REQUIRED, max(1, pairs - 1)) if loo_passed is None else pairs
    if loo_passed is None:
        loo_passed, refuted = _cross_validate(task, program) if program.fitted else (pairs, 0)
    inconsistent = sum(_contradicts(task, program, outputs, each) for each in AUGMENTATIONS)
    steps = extrapolation(task, program, outputs) if behaviour else None
    return Evidence(loo_passed, required, refuted, inconsistent, violated(task, outputs), steps)


def _cross_validate(task: ArcTask, program: Program) -> tuple[int, int]:
    """Fit without each pair in turn; count the pairs predicted and those predicted wrongly."""
    right = wrong = 0
    for left, pair in enumerate(task.train if len(task.train) > 1 else ()):
        others = [other for i, other in enumerate(task.train) if i != left]
        inputs = [*(other.input for other in others), pair.input]
        prediction = predict(program, inputs, [other.output for other in others])
        if prediction is not None:
            is_right = prediction[-1] == pair.output
            right, wrong = right + is_right, wrong + (not is_right)
    return right, wrong


def _contradicts(
    task: ArcTask, program: Program, outputs: tuple[Grid, ...], symmetry: Symmetry
) -> bool:
    """Whether a program is right on the augmented pairs too, but gives different test outputs."""
    if program.view is not None:
        program = replace(program, view=program.view.under(symmetry))
    inputs = [*(symmetry.apply(pair.input) for pair in task.train)]
    inputs += map(symmetry.apply, task.test)
    prediction = predict(program, inputs, [symmetry.apply(pair.output) for pair in task.train])
    if prediction is None:
        return False
    return tuple(map(symmetry.undo, prediction[len(task.train) :])) != outputs


# -- invariants: facts that hold on all pairs -----------------------------------------------------


Invariant = Callable[[Grid, Grid], bool]


def violated(task: ArcTask, outputs: Sequence[Grid]) -> tuple[str, ...]:
    """Name the invariants that hold on all training pairs but not on every test output."""
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
"""Invariants by name: the output has the size of its input; differs from the input; has only
colours of the input; has more than one colour; keeps every non-black cell. `palette` is added for
each task: the output has only colours of its input or of some training output."""
