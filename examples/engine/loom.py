"""A search that uses every part of the engine; tests and campaigns run it.

    weft run examples/engine/loom.py:loom --args '{"size": 40}' --out runs/loom

It looks for the lowest point of a bumpy function: a broad first round in which some tasks
fail, a round that stops early, three lanes of which the first is slow, a lazy round, and
objects that are passed between tasks.
"""

from __future__ import annotations

import hashlib
import time

import weft


def bumpy(x: int) -> int:
    """Return the height of a fixed, rough landscape whose lowest point is below 1,000."""
    noise = hashlib.sha256(str(x).encode()).digest()[0]
    return (x - 421) ** 2 // 50 + noise


@weft.task
def probe(x: int, *, seed: int = weft.SEED) -> dict[str, int]:
    """Measure one point; every 17th point has no value."""
    if x % 17 == 3:
        raise ValueError(f"no value at {x}")
    weft.note(parity=x % 2)
    return {"x": x, "height": bumpy(x), "salt": seed % 1000}


@weft.task
def step(x: int, delta: int, pause_ms: int) -> list[int]:
    """Measure a neighbour, after a pause that changes only the order in which results arrive."""
    time.sleep(pause_ms / 1000)
    return [x + delta, bumpy(x + delta)]


@weft.task
def survey(start: int, width: int) -> weft.Object:
    """Store a strip of the landscape as an object."""
    return weft.put(bytes(bumpy(x) % 256 for x in range(start, start + width)))


@weft.task
def lowest(strip: weft.Object) -> int:
    """Read a stored strip and return its lowest byte."""
    return min(weft.get(strip))


@weft.search(version=1)
def descend(start: int, rounds: int, pause_ms: int):
    """Walk downhill from one point; a lane of `loom`."""
    here = start
    for _ in range(rounds):
        results = yield [step(here, delta, pause_ms) for delta in (-5, -1, 1, 5)]
        here = min((r.value for r in results), key=lambda point: (point[1], point[0]))[0]
    return here


@weft.search(version=1)
def loom(size: int = 40, lazy_size: int = 120, pause_ms: int = 5):
    """Find a low point; return it with the answers of the lanes and the lowest bytes of strips."""
    results = yield [probe(25 * i) for i in range(size)]
    found = sorted((r.value["height"], r.value["x"]) for r in results if r.ok)
    best = found[0][1]

    near = [probe(best + d) for d in range(-20, 21)]
    results = yield weft.round(near, until=lambda r: r.ok and r.value["height"] < 40)
    best = min((r.value["height"], r.value["x"]) for r in results if r.ok)[1]

    # Only the first lane sleeps: the ledger waits for it, the other lanes never do.
    answers = yield weft.lanes(
        {
            "slow": descend(best, 3, pause_ms),
            "left": descend(best - 40, 6, 0),
            "right": descend(best + 40, 6, 0),
        }
    )
    strips = yield [survey(a - 10, 20) for a in answers]
    lows = yield [lowest(r.value) for r in strips]

    scan = yield weft.lazy(lazy_size, lambda i: step(answers[0], i - lazy_size // 2, 0))
    deepest = min(r.value[::-1] for r in scan)
    return {
        "x": deepest[1],
        "height": deepest[0],
        "lanes": answers,
        "lows": [r.value for r in lows],
    }


if __name__ == "__main__":
    run = weft.run(loom(), out="runs/loom", workers=2)
    print(run.answer, run.head)
