"""The search of `weft hello`: hill climbing, one round of tasks for each generation.

weft run weft_hello.search:evolve --args '{"text": "hello"}' --out runs/hello
"""

from collections.abc import Generator
from typing import Any

import weft
from weft_hello.tasks import breed


@weft.search(version=1, name="hello.evolve")
def evolve(
    text: str, families: int = 4, children: int = 25, generations: int = 500
) -> Generator[Any, Any, Any]:
    """Breed from the best text so far until it equals `text`."""
    parent = " " * len(text)
    for generation in range(1, generations + 1):
        results = yield [breed(parent, text, children) for _ in range(families)]
        best = min(results, key=lambda result: (-result.value["letters"], result.index))
        parent = best.value["text"]
        if parent == text:
            return {"text": parent, "generations": generation}
    return weft.Unknown("limit", {"text": parent, "generations": generations})
