"""The sieve of rows by seed: the method of each output map, and the expected first row."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import TYPE_CHECKING

from weft.lazy_imports import lazy_imports, lazy_module
from weft.searches.prng.attack import Case
from weft.searches.prng.attacks.sieving import Calls, Run, Target, runner
from weft.searches.prng.family import Family
from weft.searches.prng.forms import TwisterSeeding
from weft.searches.prng.kernels.sizes import DIRECT
from weft.searches.prng.rowmaps import (
    BACKWARD,
    BY_SIZE,
    FORWARD,
    SHUFFLE,
    calls_of,
    elements_of,
    parsed,
    python_pool_most,
    row_at,
)

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

with lazy_imports():
    from weft.searches.prng.kernels import mt, rows

ROW_SPEED = {False: 16_000, True: 9_000}
"""Seeds per millisecond of a core if rows end early, by whether init_by_array fills the block."""
UNKNOWN_SPEED = 4_000
"""The same if the elements settled first may be unknown."""
STEPS_PER_MS = 100_000
"""Steps per millisecond if a shuffle is completed."""
FEWEST_ROWS = 1 << 28
"""Number of possible shuffles from which one of them tells most seeds apart."""
ENOUGH_ROWS = 1 << 48
"""Number of shuffles that the compared calls distinguish. A call that draws again spoils them: for
52 elements, in one history in ten million."""
EARLY = 8
"""Steps after which most seeds have ended; a few more outputs are generated for redraws."""


def row_speed(form: TwisterSeeding, output: str, modulus: int, is_row_known: bool) -> int:
    """Return the seeds per millisecond of a core."""
    kind, _, is_sorted = parsed(output)
    if kind == "deal" and not is_sorted:
        return STEPS_PER_MS // elements_of(output, modulus)
    is_early = kind != "deal" and (kind != SHUFFLE or is_row_known)
    return ROW_SPEED[form.by_array] if is_early else UNKNOWN_SPEED


def is_shuffle_known(draws: Sequence[int], modulus: int) -> bool:
    """Whether draws begin with a whole shuffle, long enough to tell most seeds apart."""
    row = draws[:modulus]
    return factorial(modulus) >= FEWEST_ROWS and sorted(row) == list(range(modulus))


def shuffle_target(family: Family, case: Case, start: int, skip: int) -> Target:
    """Return a target made of the first calls of the first shuffle, each with its bound."""
    assert family.rows is not None
    bounds, values, rows = [], [], 1
    for bound, value in calls_of(case.draws[: case.modulus], family.rows.order):
        if rows >= ENOUGH_ROWS:
            break
        bounds.append(bound)
        values.append(value)
        rows *= bound
    return Target(tuple(values), case.modulus, start, skip, len(values), bounds=tuple(bounds))


def row_sieve(calls: Calls, target: Target) -> Run:
    """Return the sieve of the first row of a map."""
    [(family, output)] = calls
    kind, length, is_sorted = parsed(output)
    total = elements_of(output, target.modulus)
    is_shuffle = kind in (SHUFFLE, "deal")
    steps = total - 1 if is_shuffle else length
    expected = _expected(target, total, length, is_sorted)
    order = rows.AS_SET if is_sorted else rows.DRAWN
    if is_shuffle and not is_sorted and family.rows and family.rows.order == BACKWARD:
        order = rows.BACKWARD
    whole = length if kind == "deal" and is_sorted else 0
    is_whole = is_shuffle and (is_sorted or len(target.draws) < total)
    return runner(
        rows.sieve_rows, twister_form(family), _outputs(steps, is_whole), bits_of(family),
        method_of(family, output, total), order, steps, total, whole, expected,
    )  # fmt: skip


def _expected(target: Target, total: int, length: int, is_sorted: bool) -> object:
    """Return the known elements of the first row or, for a set, 1 at each of its elements."""
    if is_sorted:
        row = row_at(target.draws[0], length)
        return np.array([int(element in row) for element in range(total)])
    known = list(target.draws)
    return np.array([*known, *[rows.UNKNOWN] * (total - len(known))])


def _outputs(steps: int, is_whole: bool) -> int:
    """Return the number of outputs to generate: two for each step, fewer if most rows end early."""
    count = 2 * steps + 8 if is_whole else 2 * min(steps, EARLY) + 8
    return int(min(DIRECT, count))


def twister_form(family: Family) -> int:
    """Return the kernel's form of the twister behind a generator of rows."""
    assert isinstance(family.seed_form, TwisterSeeding)
    assert family.rows is not None
    if family.seed_form.by_array:
        return mt.BY_ARRAY
    return mt.LEGACY if family.rows.misplaced else mt.MODERN


def bits_of(family: Family) -> int:
    """Return the kernel's code for how a bounded value is taken from a word."""
    assert family.rows is not None
    named = {"low": rows.LOW, "high": rows.HIGH, "remainder": rows.REMAINDER}
    return named[family.rows.bits]


def method_of(family: Family, output: str, total: int) -> int:
    """Return the kernel's code for how a map makes a row out of `total` elements."""
    assert family.rows is not None
    kind, length, _ = parsed(output)
    if kind == "distinct":
        return rows.DISTINCT
    if kind == SHUFFLE and family.rows.order == FORWARD:
        return rows.FRONT
    if kind != "sample" or family.rows.sample != BY_SIZE:
        return rows.POOL if kind != "sample" else rows.RANKED
    return rows.POOL if total <= python_pool_most(length) else rows.DISTINCT
