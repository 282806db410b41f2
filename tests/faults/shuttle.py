"""A search of 22 tasks that uses every part of the engine, for campaigns to kill.

It has failing tasks, an early stop, lanes of which the first is slow, objects, and a lazy round,
and takes about a quarter of a second. Arguments differ between tasks, so duplicates are visible.
"""

from __future__ import annotations

import time

import weft


@weft.task
def pick(name: str, *, seed: int) -> int:
    """Return a number; the task named `bad` fails."""
    if name == "bad":
        raise ValueError("no number here")
    return seed % 997


@weft.task
def throw(name: str, pause_ms: int) -> int:
    """Return a number after a pause that affects only the order of arrival."""
    time.sleep(pause_ms / 1000)
    return sum(name.encode())


@weft.task
def wind(name: str, length: int) -> weft.Object:
    """Store a thread as an object."""
    return weft.put((name * length).encode())


@weft.task
def weigh(thread: weft.Object) -> int:
    """Read a stored thread."""
    return len(weft.get(thread))


@weft.search(version=1)
def lane(name: str, rounds: int, pause_ms: int):
    """Run two tasks per round."""
    total = 0
    for number in range(rounds):
        results = yield [throw(f"{name}{number}{side}", pause_ms) for side in "ab"]
        total += sum(r.value for r in results)
    return total


@weft.search(version=1)
def shuttle(pause_ms: int = 3):
    """Weave one small piece; the answer depends on every part."""
    first = yield [pick(name) for name in ("a", "b", "bad", "c")]
    early = yield weft.round([pick(f"e{i}") for i in range(4)], until=lambda r: r.index == 2)
    sides = yield weft.lanes({"slow": lane("s", 2, pause_ms), "quick": lane("q", 2, 0)})
    threads = yield [wind(f"w{total}", 9) for total in sides]
    weights = yield [weigh(r.value) for r in threads]
    scan = yield weft.lazy(4, lambda i: throw(f"z{i}", 0))
    numbers = [r.value for r in (*first, *early, *weights, *scan) if r.ok]
    return {"sum": sum(numbers), "sides": sides}
