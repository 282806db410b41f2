"""The search of the notebook: climbs to the highest score in steps of different lengths."""

import weft


@weft.task
def score(x: int) -> int:
    """Return how good a place is; the best one is 7."""
    return -((x - 7) ** 2)


@weft.search(version=1)
def climb(width: int, depth: int):
    """Explore around the best `width` places, `depth` times; return the best one."""
    beam = [0]
    for _ in range(depth):
        results = yield [score(x + step) for x in beam for step in (-3, -1, 1, 3)]
        ranked = sorted(results, key=lambda r: (-r.value, r.index))
        beam = [r.args["x"] for r in ranked[:width]]
    return beam[0]
