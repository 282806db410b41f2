"""Tasks that pass objects from node to node, with a helper module beside them."""

from __future__ import annotations

import time

import twist

import weft


@weft.task
def begin(name: str, size: int) -> weft.Object:
    return weft.put(twist.spun(name, size))


@weft.task
def turn(piece: weft.Object, by: int, *, seed: int) -> dict:
    data = weft.get(piece)
    weft.note(bytes=len(data))
    print(f"turned {len(data)} bytes")
    return {"piece": weft.put(data[by:] + data[:by]), "seed": seed % 7}


@weft.task
def rest(x: int, seconds: float) -> int:
    time.sleep(seconds)
    return x + 1


@weft.search(version=1)
def relay(pieces: int, size: int, turns: int):
    """Pass pieces on; each round's objects are the next one's arguments."""
    results = yield [begin(f"p{i}", size) for i in range(pieces)]
    pieces_held = [r.value for r in results]
    for by in range(1, turns + 1):
        turned = yield [turn(piece, by) for piece in pieces_held]
        pieces_held = [r.value["piece"] for r in turned]
    return [piece.digest for piece in pieces_held]


@weft.search(version=1)
def resting(tasks: int, seconds: float):
    """Rest in each task; the answer is the sum."""
    rested = yield [rest(i, seconds) for i in range(tasks)]
    return sum(r.value for r in rested)
