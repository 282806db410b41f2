"""Small searches of every shape for the simulator: rounds, early stops, lazy rounds, lanes.

`mixed_steps(shape)` is one search per number: the number's digest decides which steps it takes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import weft
from weft.model.tasks import SearchBody


@weft.task
def mix(x: int, *, seed: int = weft.SEED) -> int:
    """Return a number computed from a number; every 11th argument fails."""
    if x % 11 == 5:
        raise ValueError(f"no result for {x}")
    return (x * 7919 + seed) % 10007


@weft.task
def store(x: int) -> weft.Object:
    """Store a few bytes, and note it."""
    weft.note(stored=x)
    return weft.put(b"%d." % x * (1 + x % 50))


@weft.task
def measure(data: weft.Object) -> float:
    """Return a float computed from stored bytes."""
    return len(weft.get(data)) / 7


@weft.search(version=1)
def mixed_steps(shape: int, depth: int = 0) -> SearchBody:
    """Take two to four steps that `shape` decides; the answer depends on every result."""
    state = shape % 1000
    for number in range(2 + dice(shape, "steps") % 3):
        kind = STEPS[dice(shape, f"step {number}") % len(STEPS)]
        state = (yield from kind(shape * 31 + number, state, depth)) % 10007
    return {"state": state, "depth": depth}


def dice(shape: int, name: str) -> int:
    """Return a fixed number for each shape and name."""
    return int.from_bytes(hashlib.sha256(f"{shape} {name}".encode()).digest()[:4], "big")


def _plain(shape: int, state: int, depth: int) -> SearchBody:
    del depth
    results = yield [mix(state + i) for i in range(1 + dice(shape, "size") % 7)]
    return state + sum(r.value * (r.index + 1) for r in results if r.ok)


def _stopping(shape: int, state: int, depth: int) -> SearchBody:
    del depth
    tasks = [mix(state + i) for i in range(2 + dice(shape, "size") % 12)]
    results = yield weft.round(tasks, until=lambda r: r.ok and r.value % 5 == 0)
    return state + len(results)


def _lazy(shape: int, state: int, depth: int) -> SearchBody:
    del depth
    size = dice(shape, "size") % 25
    stop = (lambda r: r.index == size // 2) if dice(shape, "stop") % 3 == 0 else None
    results = yield weft.lazy(size, lambda i: mix(state + 3 * i), until=stop)
    return state + sum(r.value for r in results if r.ok) + len(results[::2])


def _objects(shape: int, state: int, depth: int) -> SearchBody:
    del depth
    stored = yield [store(state + i) for i in range(1 + dice(shape, "size") % 4)]
    sizes = yield [measure(r.value) for r in stored]
    return state + sum(int(r.value) for r in sizes)


def _lanes(shape: int, state: int, depth: int) -> SearchBody:
    if depth == 2:
        return state
    names = [f"{shape}-{i}" for i in range(dice(shape, "lanes") % 4)]
    bodies = {name: mixed_steps(shape + i, depth + 1) for i, name in enumerate(names)}
    if names and dice(shape, "fragile") % 2:
        bodies[f"{shape}-fragile"] = fragile(state)
    answers = yield weft.lanes(bodies)
    return state + sum(a["state"] for a in answers if not isinstance(a, weft.Unknown))


@weft.search(version=1)
def fragile(start: int) -> SearchBody:
    """A lane that uses values without checking whether they exist: fails closed."""
    results = yield [mix(start + i) for i in range(4)]
    return {"state": sum(r.value for r in results)}


STEPS: tuple[Callable[[int, int, int], SearchBody], ...] = (
    _plain,
    _stopping,
    _lazy,
    _objects,
    _lanes,
)
