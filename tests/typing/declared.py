"""Tasks and a search as a user would write them, fully typed; called by the two files beside it."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence

import weft
from weft.model.tasks import TaskCall


@weft.task
def score(x: int, scale: float = 1.0, *, seed: int = weft.SEED) -> float:
    """Take a default, and a seed that the engine fills in."""
    return (x - seed % 2) * scale


@weft.task(name="typing.label", timeout_s=5)
def label(names: Sequence[str], *, upper: bool = False) -> list[str]:
    """Take a keyword."""
    return [name.upper() if upper else name for name in names]


@weft.search(version=1)
def climb(
    width: int, depth: int = 2, *, inputs: Mapping[str, weft.Object] = weft.INPUTS
) -> Generator[list[TaskCall], Sequence[weft.Result], float]:
    """Take inputs, which the engine fills in."""
    del inputs
    results: Sequence[weft.Result] = []
    for step in range(depth):
        results = yield [score(step * width + i) for i in range(width)]
    return max(float(result.value) for result in results)
