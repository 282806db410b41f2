"""Refit a program on other grids than those it was found for.

    inputs, some targets ──► chain (compiled) ──► rule fitted to the targets ──► all outputs

Evidence is gathered this way: with one pair left out, or on augmented copies of the task.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from weft.searches.arc.fitted import registry as fitted
from weft.searches.arc.fitted.rule import EncodedExamples
from weft.searches.arc.kernels.expand import FAMILIES, family_of
from weft.searches.arc.kernels.layout import I64, U8
from weft.searches.arc.ops.registry import BY_NAME
from weft.searches.arc.program import Program
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import MAX_BYTES, Grid, Value, decode, decode_grids


def predict(
    program: Program, inputs: Sequence[Grid], targets: Sequence[Grid]
) -> tuple[Grid, ...] | None:
    """Return a program's outputs for all inputs, its last rule refitted to the first ones' targets.

    None if it fails anywhere or does not give the targets. The program's view is not refitted.
    """
    view = program.view
    if view is None:
        return _predict(program, inputs, targets)
    pairs = tuple(map(Pair, inputs, targets))
    viewed_task = view.of(ArcTask("", pairs, tuple(inputs[len(pairs) :])))
    viewed_inputs = [*(pair.input for pair in viewed_task.train), *viewed_task.test]
    outputs = _predict(program, viewed_inputs, [pair.output for pair in viewed_task.train])
    return None if outputs is None else view.back(inputs, outputs)


def _predict(
    program: Program, inputs: Sequence[Grid], targets: Sequence[Grid]
) -> tuple[Grid, ...] | None:
    """Do the same as `predict`, but ignore the program's view."""
    outputs = run_chain(program.names, inputs)
    if outputs is not None and program.fitted:
        view = EncodedExamples.of(outputs, inputs, targets)
        fit = fitted.BY_NAME[program.fitted].fit(view)
        outputs = None if fit is None else decode_grids(fit.outputs)
    if outputs is None or outputs[: len(targets)] != tuple(targets):
        return None
    return outputs


def run_chain(names: Sequence[str], inputs: Sequence[Grid]) -> tuple[Grid, ...] | None:
    """Run operators that end with a grid on several inputs at once; None if one fails."""
    encoded = [*_encoded_steps(names, inputs)]
    return decode_grids(encoded[-1][0].tobytes()) if len(encoded) == len(names) + 1 else None


def chain_values(names: Sequence[str], inputs: Sequence[Grid]) -> list[tuple[Value, ...]]:
    """Return each operator's results for all inputs, up to the first operator that fails."""
    _, *steps = _encoded_steps(names, inputs)
    return [
        tuple(decode(BY_NAME[name].gives, data.tobytes(), int(at))[0] for at in offsets)
        for name, (data, offsets) in zip(names, steps, strict=False)
    ]


def _encoded_steps(names: Sequence[str], inputs: Sequence[Grid]) -> Iterator[tuple[U8, I64]]:
    """Yield the inputs, then each operator's results, with their offsets; stop at a failure."""
    view = EncodedExamples.of(inputs, inputs, ())
    data, offsets = view.src, view.offsets
    yield data, offsets
    for name in names:
        operator, ends = BY_NAME[name], np.empty((1, len(inputs)), np.int64)
        row = np.array([(operator.kernel, operator.p, operator.q)], np.int64)
        out = np.empty(len(inputs) * MAX_BYTES, np.uint8)
        expand = FAMILIES[family_of(operator.kernel)]
        end = expand(row, data, offsets, view.inp, view.inp_offsets, out, ends, 0)
        if end == 0:
            return
        data, offsets = out[:end], np.array([0, *ends[0, :-1]], np.int64)
        yield data, offsets
