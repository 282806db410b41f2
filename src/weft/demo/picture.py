"""A small search with a visible answer: rebuild a picture from a few rectangles.

    weft run weft.demo.picture:picture --out runs/picture
    weft demo

Each colour is a lane. In every round of a lane, a few tasks hill-climb, each from its own seed, to
the rectangle that removes most of the remaining error; the search keeps the best of them. Uses
integers only, so the answer is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any

import weft

WIDTH, HEIGHT = 36, 28
COLOURS = ("red", "green", "blue")
STARTS = 60
"""Number of random rectangles from which a task climbs."""
_MASK = 2**64 - 1

Rectangle = Sequence[int]
"""left, top, right, bottom, and the value to add inside."""
Search = Generator[Any, Any, Any]


@weft.task(name="demo.climb")
def climb(colour: int, strips: list[list[int]], *, seed: int = weft.SEED) -> dict[str, Any]:
    """Find a rectangle that reduces the error of one colour; `gain` says by how much."""
    sums = _sums(_residual(colour, strips))
    numbers = _numbers(seed)
    tops = (_top(sums, _random_rectangle(numbers)) for _ in range(STARTS))
    gain, rectangle = max(tops, key=lambda top: (top[0], top[1]))
    left, top, right, bottom = rectangle
    area = (right - left) * (bottom - top)
    weft.note(area=area)
    return {"gain": gain, "strip": [*rectangle, _total(sums, rectangle) // area]}


@weft.task(name="demo.left_over")
def left_over(strips: list[list[list[int]]]) -> int:
    """Return how much of the error of an empty picture is left, in thousandths."""
    before = sum(_error(_residual(colour, [])) for colour in range(3))
    after = sum(_error(_residual(colour, strips[colour])) for colour in range(3))
    return after * 1000 // before


@weft.search(name="demo.one_colour", version=2)
def one_colour(colour: int, rounds: int, climbers: int) -> Search:
    """Add the best rectangle found, round by round; answers with all of them."""
    strips: list[list[int]] = []
    for _ in range(rounds):
        results = yield [climb(colour, strips) for _ in range(climbers)]
        best = max(results, key=lambda r: (r.value["gain"], -r.index))
        strips = [*strips, best.value["strip"]]
    return strips


@weft.search(name="demo.picture", version=2)
def picture(rounds: int = 20, climbers: int = 2) -> Search:
    """Rebuild the picture; answers with the rectangles of each colour and the error left."""
    lanes = {name: one_colour(i, rounds, climbers) for i, name in enumerate(COLOURS)}
    strips = yield weft.lanes(lanes)
    (left,) = yield [left_over(strips)]
    return {"strips": strips, "count": sum(map(len, strips)), "error": left.value}


def target() -> list[list[tuple[int, int, int]]]:
    """Return the picture to rebuild: an evening sky, a low sun, hills in front."""
    return [[_pixel(x, y) for x in range(WIDTH)] for y in range(HEIGHT)]


def paint(strips: Sequence[Sequence[Rectangle]]) -> list[list[tuple[int, int, int]]]:
    """Return the picture formed by the rectangles of the three colours."""
    channels = [_canvas(channel) for channel in strips]
    return [
        [tuple(max(0, min(255, c[y * WIDTH + x])) for c in channels) for x in range(WIDTH)]  # type: ignore[misc] # three channels
        for y in range(HEIGHT)
    ]


def _pixel(x: int, y: int) -> tuple[int, int, int]:
    near = 21 + abs((x + 4) % 26 - 13) // 3
    far = 15 + abs((x + 15) % 22 - 11) // 2
    if y >= near:
        return 24, 30, 44
    if y >= far:
        return 74, 52, 92
    if (x - 24) ** 2 + (y - 12) ** 2 <= 30:
        return 255, 226, 130
    return 60 + 8 * y, 70 + 4 * y, 150 - 3 * y


def _canvas(strips: Sequence[Rectangle]) -> list[int]:
    pixels = [0] * (WIDTH * HEIGHT)
    for left, top, right, bottom, value in strips:
        for y in range(top, bottom):
            for i in range(y * WIDTH + left, y * WIDTH + right):
                pixels[i] += value
    return pixels


def _residual(colour: int, strips: Sequence[Rectangle]) -> list[int]:
    target = (_pixel(x, y)[colour] for y in range(HEIGHT) for x in range(WIDTH))
    return [pixel - drawn for pixel, drawn in zip(target, _canvas(strips), strict=True)]


def _error(residual: Sequence[int]) -> int:
    return sum(value * value for value in residual)


def _sums(pixels: Sequence[int]) -> list[list[int]]:
    """Return the summed-area table: the sum over any rectangle takes four of its entries."""
    sums = [[0] * (WIDTH + 1)]
    for y in range(HEIGHT):
        row = [0]
        for x in range(WIDTH):
            row.append(row[-1] + pixels[y * WIDTH + x])
        sums.append([above + own for above, own in zip(sums[-1], row, strict=True)])
    return sums


def _total(sums: Sequence[Sequence[int]], rectangle: Rectangle) -> int:
    left, top, right, bottom = rectangle
    return sums[bottom][right] - sums[top][right] - sums[bottom][left] + sums[top][left]


def _gain(sums: Sequence[Sequence[int]], rectangle: Rectangle) -> int:
    """Return the squared error removed by adding the rectangle's mean inside it."""
    left, top, right, bottom = rectangle
    return _total(sums, rectangle) ** 2 // ((right - left) * (bottom - top))


def _top(sums: Sequence[Sequence[int]], start: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """Hill-climb: move one edge at a time as long as the gain increases."""
    best = (_gain(sums, start), start)
    while True:
        neighbour = max((_gain(sums, near), near) for near in _neighbours(best[1]))
        if neighbour[0] <= best[0]:
            return best
        best = neighbour


def _neighbours(rectangle: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for edge in range(4):
        for step in (-4, -1, 1, 4):
            moved = list(rectangle)
            moved[edge] += step
            left, top, right, bottom = moved
            if 0 <= left < right <= WIDTH and 0 <= top < bottom <= HEIGHT:
                yield tuple(moved)


def _random_rectangle(numbers: Iterator[int]) -> tuple[int, ...]:
    left, right = sorted((next(numbers) % WIDTH, next(numbers) % WIDTH))
    top, bottom = sorted((next(numbers) % HEIGHT, next(numbers) % HEIGHT))
    return left, top, right + 1, bottom + 1


def _numbers(seed: int) -> Iterator[int]:
    """Yield numbers of SplitMix64 (Steele, Lea, Flood 2014), which are the same everywhere."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & _MASK
        yield (z ^ (z >> 31)) >> 33
