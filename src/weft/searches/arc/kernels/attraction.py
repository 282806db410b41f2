"""The kernel that moves the objects of a set towards one of them."""

from __future__ import annotations

from weft.searches.arc.codes.attraction import ENTER, LEFT_OUT, STAYS, STEPS, TO_OWN, TO_SMALLEST
from weft.searches.arc.kernels.compiled import kernel
from weft.searches.arc.kernels.layout import FAIL, I64, U8, byte, object_end
from weft.searches.arc.kernels.objectparts import common_colour, new_starts, object_starts
from weft.searches.arc.values import EMPTY, MAX_SIDE


@kernel
def attract(src: U8, at: int, p: int, q: int, out: U8, to: int) -> int:
    """Move objects towards their targets; see the twin."""
    starts, rows, columns, goals = new_starts(), new_starts(), new_starts(), new_starts()
    n = object_starts(src, at, starts)
    if n < 2 or not choose_goals(src, starts, n, p, goals):
        return FAIL
    moving, count, rounds = 0, 0, new_starts()
    for i in range(n):
        r, c = byte(src, starts[i]), byte(src, starts[i] + 1)
        rows[i], columns[i] = r, c
        if goals[i] >= 0:
            draw_near(src, starts[i], starts[goals[i]], q, i, rows, columns)
        rounds[i] = LEFT_OUT if goals[i] == LEFT_OUT else int(rows[i] != r or columns[i] != c)
        count += 1 if rounds[i] >= 0 else 0
        moving += 1 if rounds[i] > 0 else 0
    if moving == 0:
        return FAIL
    out[to] = count
    place = to + 1
    for step in range(2):
        for i in range(n):
            if rounds[i] == step:
                length = object_end(src, starts[i]) - starts[i]
                for j in range(length):
                    out[place + j] = src[starts[i] + j]
                out[place], out[place + 1] = rows[i], columns[i]
                place += length
    return place


@kernel
def choose_goals(src: U8, starts: I64, n: int, p: int, goals: I64) -> bool:
    """Write each object's target, STAYS or LEFT_OUT; False if the extreme object is not unique."""
    sizes, colours, fewest = new_starts(), new_starts(), MAX_SIDE * MAX_SIDE
    for i in range(n):
        colours[i] = common_colour(src, starts[i])
        for j in range(starts[i] + 4, object_end(src, starts[i])):
            sizes[i] += 1 if src[j] != EMPTY else 0
        fewest = min(fewest, sizes[i])
        sizes[i] = -sizes[i] if p == TO_SMALLEST else sizes[i]
    for i in range(n):
        goals[i] = i
        for j in range(n):
            ahead = sizes[j] - sizes[goals[i]]
            if (p != TO_OWN or colours[i] == colours[j]) and (
                ahead > 0 or (ahead == 0 and j < goals[i] != i)
            ):
                goals[i] = j
        if p != TO_OWN and goals[i] == i:
            for j in range(n):
                if j != i and sizes[j] == sizes[i]:
                    return False
        if goals[i] == i:
            goals[i] = LEFT_OUT if p == TO_OWN and sizes[i] == fewest else STAYS
    return True


@kernel
def towards(start: int, length: int, other: int, other_length: int) -> int:
    """Return the step along one axis that brings a range nearer to another; 0 if they overlap."""
    if start + length <= other:
        return 1
    return -1 if other + other_length <= start else 0


@kernel
def draw_near(src: U8, piece: int, goal: int, q: int, i: int, rows: I64, columns: I64) -> None:
    """Move the object at `piece` to the one at `goal`, if it would ever meet it."""
    r, c, down, right = rows[i], columns[i], 0, 0
    top, left = byte(src, goal), byte(src, goal + 1)
    for _ in range(STEPS):
        y = towards(r, byte(src, piece + 2), top, byte(src, goal + 2))
        x = towards(c, byte(src, piece + 3), left, byte(src, goal + 3))
        if y != 0 or x != 0:
            down, right = y, x
        elif down == 0 and right == 0:
            return
        if meets(src, piece, r + down - top, c + right - left, goal):
            rows[i] = r + down if q == ENTER else r
            columns[i] = c + right if q == ENTER else c
            return
        r, c = r + down, c + right


@kernel
def meets(src: U8, piece: int, r: int, c: int, goal: int) -> bool:
    """Whether two objects overlap, the first placed at r, c from the corner of the second."""
    h, w, wide = byte(src, goal + 2), byte(src, goal + 3), byte(src, piece + 3)
    for y in range(max(r, 0), min(r + byte(src, piece + 2), h)):
        for x in range(max(c, 0), min(c + wide, w)):
            mine = src[piece + 4 + (y - r) * wide + x - c]
            if mine != EMPTY and src[goal + 4 + y * w + x] != EMPTY:
                return True
    return False
