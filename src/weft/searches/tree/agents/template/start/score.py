"""The length of closed routes through five sets of 60 points, in whole units: lower is better."""

from math import isqrt
from typing import Any

Points = list[tuple[int, int]]


def points_of(seed: int, count: int = 60) -> Points:
    """Return points on a grid, the same on every machine."""
    state = seed
    values: list[int] = []
    for _ in range(2 * count):
        state = (state * 1103515245 + 12345) % 2**31
        values.append(state // 2**11 % 1000)
    return list(zip(values[::2], values[1::2], strict=True))


def length(points: Points, order: list[int]) -> int:
    """Return the length of a closed route."""
    legs = zip(order, order[1:] + order[:1], strict=True)
    total = 0
    for one, other in legs:
        (x1, y1), (x2, y2) = points[one], points[other]
        total += isqrt((x1 - x2) ** 2 + (y1 - y2) ** 2)
    return total


def score(candidate: Any) -> dict[str, Any]:
    """Score the candidate's `route`; a set whose points are not all visited once is not ok."""
    sets = [points_of(seed) for seed in range(1, 6)]
    routes = candidate.call_each("route:route", [[points] for points in sets], timeout_s=30)
    pairs = list(zip(sets, routes, strict=True))
    whole = [sorted(order) == list(range(len(points))) for points, order in pairs]
    lengths = [length(*pair) for pair, ok in zip(pairs, whole, strict=True) if ok]
    rows = {"ok": sum(whole), "expected": len(sets)}
    return {"score": sum(lengths), "rows": rows, "metrics": {"lengths": lengths}}
