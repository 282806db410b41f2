"""From a hypothesis to draws: one function for the sieve's check, the scorer and the predictor.

`draws` is the reference definition. Skipped calls are executed, since a map may reject values and
then takes more than one step per call. Only the calls before the start are jumped over, if each is
known to take the same number of steps. `generate` gives the same numbers, with compiled code if
there are many.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, repeat
from typing import TYPE_CHECKING

from weft.errors import UsageError
from weft.searches.prng.families import family_named
from weft.searches.prng.family import Draw, Family, State
from weft.searches.prng.hypothesis import Hypothesis, position
from weft.searches.prng.rowmaps import MOST, elements_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

COMPILED_FROM = 5000
"""Number of calls from which loading compiled code pays off."""
FEW, ALIKE = 1024, 16
"""Up to FEW draws are cached, with counts rounded up to a multiple of ALIKE."""
MAX_MODULUS = 1 << 32
MAX_BOUND = (1 << 31) - 1
"""The largest bound of nextInt and similar calls; beyond it some would redraw for ever."""
REJECTING = ("bounded", "masked")


def generate(hypothesis: Hypothesis, count: int) -> list[int]:
    """Return the first `count` draws that a hypothesis predicts; fewer if its skips end."""
    if not hypothesis.skips.is_constant:
        count = min(count, len(hypothesis.skips.listed) + 1)
    if count > 0 and position(hypothesis, count - 1) >= COMPILED_FROM:
        values: list[int] = generate_array(hypothesis, count).tolist()
        return values
    if count > FEW:
        return list(islice(draws(hypothesis), count))
    return list(_first_draws(hypothesis, -(-count // ALIKE) * ALIKE)[:count])


@lru_cache(maxsize=128)
def _first_draws(hypothesis: Hypothesis, count: int) -> tuple[int, ...]:
    """Return a few draws, cached since attack, check and score request nearly the same ones."""
    return tuple(islice(draws(hypothesis), count))


def generate_array(hypothesis: Hypothesis, count: int) -> npt.NDArray[np.uint64]:
    """Return the first `count` draws as an array, using compiled code."""
    import numpy as np  # noqa: PLC0415 - slow to import

    from weft.searches.prng.kernels.bulk import fill  # noqa: PLC0415 - numba is slow to import

    family = checked_family(hypothesis)
    gaps = np.array([hypothesis.start], np.int64)
    if hypothesis.skips.is_constant:
        gaps = np.append(gaps, np.full(count - 1, hypothesis.skips.between[0], np.int64))
    else:
        gaps = np.append(gaps, np.array(hypothesis.skips.listed[: count - 1], np.int64))
    state = first_state(family, hypothesis)
    modulus = 1 if hypothesis.output == "raw" else hypothesis.modulus  # it need not fit a word
    return fill(family, hypothesis.output, state, modulus, gaps)


def draws(hypothesis: Hypothesis) -> Iterator[int]:
    """Yield the draws that a hypothesis predicts, as far as its skips are known."""
    family = checked_family(hypothesis)
    draw = family.outputs[hypothesis.output]
    state = first_state(family, hypothesis)
    go_to_start(family, hypothesis, state)
    yield draw(state, hypothesis.modulus)
    skips = hypothesis.skips
    for skipped in repeat(skips.between[0]) if skips.is_constant else skips.listed:
        for _ in range(skipped):
            draw(state, hypothesis.modulus)
        yield draw(state, hypothesis.modulus)


def go_to_start(family: Family, hypothesis: Hypothesis, state: State) -> None:
    """Advance the first state by the calls before the first draw."""
    steps = family.steps_per_call(hypothesis.output)
    if steps is not None and family.jump is not None:
        family.jump(state, hypothesis.start * steps)
        return
    for _ in range(hypothesis.start):
        family.outputs[hypothesis.output](state, hypothesis.modulus)


def checked_family(hypothesis: Hypothesis) -> Family:
    """Return the family of a hypothesis. Raises UsageError for an invalid map or modulus."""
    family = family_named(hypothesis.family)
    draw_of(family, hypothesis.output)
    if family.rows is not None and not elements_of(hypothesis.output, hypothesis.modulus):
        raise UsageError(
            f"{hypothesis.output} makes no rows with modulus {hypothesis.modulus}: the modulus is"
            f" how many values there are, at most {MOST}, or for sorted rows how many rows"
        )
    most = greatest_modulus(hypothesis.output)
    if hypothesis.output != "raw" and not 1 <= hypothesis.modulus <= most:
        raise UsageError(
            f"the modulus of {hypothesis.output} must be 1 to {most}, not {hypothesis.modulus}"
        )
    return family


def greatest_modulus(output: str) -> int:
    """Return the largest modulus of an output map."""
    return MAX_BOUND if output in REJECTING else MAX_MODULUS


def draw_of(family: Family, output: str) -> Draw:
    """Return an output map of a family. Raises UsageError, which lists its maps, if unknown."""
    if output not in family.outputs:
        raise UsageError(
            f"{family.name} has no output map {output!r}; it has {', '.join(family.outputs)}"
        )
    return family.outputs[output]


def first_state(family: Family, hypothesis: Hypothesis) -> State:
    """Return the state before the first call."""
    if hypothesis.state is not None:
        return family.read_state(hypothesis.state)
    assert hypothesis.seed is not None
    return family.seeding(hypothesis.seed)
