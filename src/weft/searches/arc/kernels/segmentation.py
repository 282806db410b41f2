"""Kernels that segment a grid into objects (connected components and parts) or measure it."""

from __future__ import annotations

from weft.searches.arc.codes import segmentation as codes
from weft.searches.arc.kernels.colours import colour_counts, most_common, only_extreme
from weft.searches.arc.kernels.compiled import kernel
from weft.searches.arc.kernels.layout import FAIL, I64, U8, byte, put_piece
from weft.searches.arc.kernels.objectparts import new_counts, numbers, on_edge, spread
from weft.searches.arc.values import EMPTY, MAX_BYTES, MAX_OBJECTS


@kernel
def run_segmentation(
    k: int, src: U8, at: int, inp: U8, inp_at: int, p: int, q: int, out: U8, to: int
) -> int:
    """Run the kernel with number `k` (300 and above)."""
    if k == codes.COMPONENTS:
        return components(src, at, p, q, out, to)
    if k == codes.LAYERS:
        return layers(src, at, p, out, to)
    if k == codes.SPLIT_LINES:
        return split_lines(src, at, p, out, to)
    if k == codes.SPLIT_EQUAL:
        return split_equal(src, at, p, q, out, to)
    if k == codes.TALLY:
        return tally(src, at, p, out, to)
    return FAIL


@kernel
def background(src: U8, at: int, p: int) -> int:
    """Return the background colour; with NONE one that no cell has."""
    if p & codes.NONE:
        return EMPTY
    return most_common(src, at + 2, byte(src, at), byte(src, at + 1)) if p & codes.COMMON else 0


@kernel
def put_cells(src: U8, at: int, w: int, queue: I64, n: int, out: U8, to: int, stop: int) -> int:
    """Write the object of the first `n` cells in `queue`; FAIL if it would end after `stop`."""
    top, left = queue[0] // w, queue[0] % w
    bottom, right = top, left
    for i in range(n):
        r, c = queue[i] // w, queue[i] % w
        top, bottom = min(top, r), max(bottom, r)
        left, right = min(left, c), max(right, c)
    bh, bw = bottom - top + 1, right - left + 1
    if to + 4 + bh * bw > stop:
        return FAIL
    place = put_piece(out, to, top, left, bh, bw)
    for i in range(n):
        r, c = queue[i] // w, queue[i] % w
        out[place + (r - top) * bw + c - left] = src[at + 2 + queue[i]]
    end: int = place + bh * bw
    return end


@kernel
def components(src: U8, at: int, p: int, q: int, out: U8, to: int) -> int:
    """Write connected components as objects, in scan order of first cells, or their number."""
    h, w = byte(src, at), byte(src, at + 1)
    back = background(src, at, p)
    code, queue = numbers(h * w), numbers(h * w)
    for i in range(h * w):
        colour = byte(src, at + 2 + i)
        expected = (colour == back) == (p & codes.VOID > 0)
        code[i] = (1 if p & codes.MULTI else colour) if expected else -1
    count, place = 0, to + 1
    for i in range(h * w):
        if code[i] < 0:
            continue
        n = spread(code, h, w, i, p & codes.EIGHT, queue)
        if q == codes.ENCLOSED and on_edge(queue, n, h, w):
            continue
        count += 1
        if q == codes.AS_COUNT:
            continue
        if count > MAX_OBJECTS:
            return FAIL
        place = put_cells(src, at, w, queue, n, out, place, to + MAX_BYTES)
        if place == FAIL:
            return FAIL
    if count > 255 or (count == 0 and q != codes.AS_COUNT):
        return FAIL
    out[to] = count
    return place


@kernel
def layers(src: U8, at: int, p: int, out: U8, to: int) -> int:
    """Write one object per non-background colour, in scan order of their first cells."""
    h, w = byte(src, at), byte(src, at + 1)
    back = background(src, at, p)
    counts, queue = new_counts(), numbers(h * w)
    count, place = 0, to + 1
    for i in range(h * w):
        colour = byte(src, at + 2 + i)
        if colour == back or counts[colour]:
            continue
        for j in range(i, h * w):
            if src[at + 2 + j] == colour:
                queue[counts[colour]] = j
                counts[colour] += 1
        place = put_cells(src, at, w, queue, counts[colour], out, place, to + MAX_BYTES)
        if place == FAIL:
            return FAIL
        count += 1
    if count == 0:
        return FAIL
    out[to] = count
    return place


@kernel
def put_part(src: U8, at: int, r: int, c: int, h: int, w: int, out: U8, to: int) -> int:
    """Write a rectangle of the grid as an object whose black cells are empty."""
    place = put_piece(out, to, r, c, h, w)
    for y in range(r, r + h):
        for x in range(c, c + w):
            colour = src[at + 2 + y * byte(src, at + 1) + x]
            out[place] = EMPTY if colour == 0 else colour
            place += 1
    return place


@kernel
def line_colours(src: U8, at: int, rows: I64, columns: I64) -> None:
    """Write the single colour of each row and column, or -1 if it has several."""
    h, w = byte(src, at), byte(src, at + 1)
    for r in range(h):
        rows[r] = byte(src, at + 2 + r * w)
    for c in range(w):
        columns[c] = byte(src, at + 2 + c)
    for r in range(h):
        for c in range(w):
            colour = byte(src, at + 2 + r * w + c)
            if colour != rows[r]:
                rows[r] = -1
            if colour != columns[c]:
                columns[c] = -1


@kernel
def runs_between(lines: I64, n: int, colour: int, runs: I64) -> int:
    """Write the start and end of each run of lines not of `colour`; return the number of runs."""
    count, i = 0, 0
    while i < n:
        if lines[i] == colour:
            i += 1
            continue
        runs[2 * count] = i
        while i < n and lines[i] != colour:
            i += 1
        runs[2 * count + 1] = i
        count += 1
    return count


@kernel
def split_lines(src: U8, at: int, p: int, out: U8, to: int) -> int:
    """Write the parts between full lines: black if p = 1, else of the colour with most lines."""
    h, w = byte(src, at), byte(src, at + 1)
    rows, columns = numbers(h), numbers(w)
    line_colours(src, at, rows, columns)
    counts = new_counts()
    for r in range(h):
        if rows[r] >= 0:
            counts[rows[r]] += 1
    for c in range(w):
        if columns[c] >= 0:
            counts[columns[c]] += 1
    line = 0
    if p == 0:
        line = 1
        for colour in range(2, 10):
            if counts[colour] > counts[line]:
                line = colour
    if counts[line] == 0:
        return FAIL
    across, down = numbers(2 * w + 2), numbers(2 * h + 2)
    n_down, n_across = runs_between(rows, h, line, down), runs_between(columns, w, line, across)
    n = n_down * n_across
    if n < 2 or n > MAX_OBJECTS:
        return FAIL
    out[to] = n
    place = to + 1
    for i in range(n_down):
        for j in range(n_across):
            r, c = down[2 * i], across[2 * j]
            ph, pw = down[2 * i + 1] - r, across[2 * j + 1] - c
            place = put_part(src, at, r, c, ph, pw, out, place)
    return place


@kernel
def split_equal(src: U8, at: int, p: int, q: int, out: U8, to: int) -> int:
    """Split into p × q equal parts; SINGLE_LINES splits every line."""
    h, w = byte(src, at), byte(src, at + 1)
    down, across = (h if p == codes.SINGLE_LINES else p), (w if q == codes.SINGLE_LINES else q)
    if h % down != 0 or w % across != 0 or down * across < 2:
        return FAIL
    ph, pw = h // down, w // across
    out[to] = down * across
    place = to + 1
    for i in range(down):
        for j in range(across):
            place = put_part(src, at, i * ph, j * pw, ph, pw, out, place)
    return place


@kernel
def tally(src: U8, at: int, p: int, out: U8, to: int) -> int:
    """Count cells by colour and write one statistic of the counts."""
    h, w = byte(src, at), byte(src, at + 1)
    counts = colour_counts(src, at + 2, h * w)
    if p == codes.MOST_INK:
        counts[0] = 0
    figure = only_extreme(counts, p == codes.LEAST)
    if p == codes.INK_CELLS:
        figure = h * w - counts[0]
    elif p == codes.INKS:
        figure = 0
        for colour in range(1, 10):
            figure += 1 if counts[colour] > 0 else 0
    if figure < 0 or figure > 255:
        return FAIL
    out[to] = figure
    return to + 1
