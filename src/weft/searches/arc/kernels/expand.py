"""Apply many operators to one value vector, and judge the results, in compiled loops.

A vector holds one value per example, training inputs first, then test inputs. Python calls
these functions once per expanded program, not once per operator and grid.
"""

from __future__ import annotations

from collections.abc import Callable

from weft.searches.arc.kernels.compiled import around, entry, kernel
from weft.searches.arc.kernels.fills import run_fills
from weft.searches.arc.kernels.layout import FAIL, I64, U8, byte
from weft.searches.arc.kernels.moves import run_moves
from weft.searches.arc.kernels.pieces import run_pieces
from weft.searches.arc.kernels.segmentation import run_segmentation
from weft.searches.arc.kernels.sets import run_sets
from weft.searches.arc.kernels.templates import run_templates
from weft.searches.arc.values import ValueStage

GRID, OBJECTS, OBJECT, COLOUR = (
    int(ValueStage.GRID), int(ValueStage.OBJECTS), int(ValueStage.OBJECT), int(ValueStage.COLOUR),
)  # fmt: skip
Run = Callable[[int, U8, int, U8, int, int, int, U8, int], int]
Expand = Callable[[I64, U8, I64, U8, I64, U8, I64, int], int]
NO_SHAPE = 9
"""The size relation to the target of a value without height and width."""


def _loop(
    ops: I64, src: U8, offsets: I64, inp: U8, inp_offsets: I64, out: U8, ends: I64, to: int
) -> int:
    """Loop over operators of one family; `run` is the family's dispatcher, see `_expander`."""
    examples = len(offsets)
    for i in range(len(ops)):
        start = to
        k, p, q = ops[i, 0], ops[i, 1], ops[i, 2]
        for e in range(examples):
            end = run(k, src, offsets[e], inp, inp_offsets[e], p, q, out, to)  # type: ignore[name-defined] # noqa: F821
            if end == FAIL:
                to = start
                for done in range(examples):
                    ends[i, done] = start
                break
            to = end
            ends[i, e] = end
    return to


def _expander(name: str, run: Run) -> Expand:
    """Compile the loop over one family of kernels.

    Families are compiled separately: LLVM would optimise everything again at each level of calls.
    """
    expand: Expand = around(_loop, f"expand_{name}", run=run)
    return expand


FAMILIES: dict[int, Expand] = {
    1: _expander("moves", run_moves),
    2: _expander("fills", run_fills),
    3: _expander("cutting", run_segmentation),
    4: _expander("sets", run_sets),
    5: _expander("pieces", run_pieces),
    6: _expander("templates", run_templates),
}
"""The families, by the hundreds digit of their kernels' numbers.

Each is called as `expand(ops, src, offsets, inp, inp_offsets, out, ends, to)` and applies every
row (kernel, p, q) of `ops` to the vector in `src`, in which example e begins at `offsets[e]`.
Results are written to `out` from `to` on, one after the other; row i's value for example e ends
at `ends[i, e]`. A row that fails on any example leaves no output: all its ends equal its start.
Returns the end of the last row.
"""


def family_of(number: int) -> int:
    """Return the number of a kernel's family."""
    return number // 100


@kernel
def palette_of(stage: int, data: U8, at: int) -> int:
    """Return the non-black colours of a value, as bits."""
    bits = 0
    if stage == GRID:
        for i in range(byte(data, at) * byte(data, at + 1)):
            bits |= 1 << byte(data, at + 2 + i)
    elif stage == OBJECT:
        for i in range(byte(data, at + 2) * byte(data, at + 3)):
            bits |= 1 << byte(data, at + 4 + i)
    elif stage == OBJECTS:
        place = at + 1
        for _ in range(data[at]):
            area = byte(data, place + 2) * byte(data, place + 3)
            for i in range(area):
                bits |= 1 << byte(data, place + 4 + i)
            place += 4 + area
    elif stage == COLOUR:
        bits = 1 << byte(data, at)
    return bits & 0b1111111110


@kernel
def relation(value: int, target: int) -> int:
    """Return 0 if the value is below the target, 1 if it is equal, 2 if it is above."""
    if value < target:
        return 0
    return 1 if value == target else 2


@entry
def judge(
    stages: I64, ends: I64, out: U8, targets: U8, target_offsets: I64, palettes: I64, shape: I64,
    cells: I64, states: U8,
) -> None:  # fmt: skip
    """Compare results with the training targets.

    For each result i, `shape[i]` counts examples of another size; `cells[i]` counts wrong cells,
    or all cells of the target if the size differs. `states[i, e]` relates example e's value to its
    target: 3 × the relation of sizes + which colours are missing. `palettes[e]` holds the colour
    bits of the target and of the input.
    """
    train = len(target_offsets)
    for i in range(len(stages)):
        start = ends[i - 1, -1] if i > 0 else 0
        shape[i] = cells[i] = 0
        if ends[i, -1] == start:
            continue
        at = start
        for e in range(train):
            there = target_offsets[e]
            th, tw = byte(targets, there), byte(targets, there + 1)
            missing = palettes[e, 0] & ~palette_of(stages[i], out, at)
            lack = 0 if missing == 0 else (1 if missing & ~palettes[e, 1] == 0 else 2)
            related = NO_SHAPE
            if stages[i] == GRID:
                h, w = byte(out, at), byte(out, at + 1)
                related = relation(h, th) * 3 + relation(w, tw)
                if h == th and w == tw:
                    for j in range(h * w):
                        cells[i] += out[at + 2 + j] != targets[there + 2 + j]
                else:
                    shape[i] += 1
                    cells[i] += th * tw
            states[i, e] = 3 * related + lack
            at = ends[i, e]
