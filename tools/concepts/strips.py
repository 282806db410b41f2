"""Rules on grids of one row, where objects are bars and marks are single cells."""

from __future__ import annotations

from collections.abc import Sequence

from concepts.draws import Draws, Retry
from concepts.puzzle import Maker, Pair, concept

Row = list[int]
Bar = tuple[int, int, int]
"""First cell, length, colour."""


def strip(width: int, bars: Sequence[Bar]) -> Row:
    """Return a row with these bars; repeat the draws if they leave it or overlap."""
    row = [0] * width
    for start, length, colour in bars:
        if start < 0 or start + length > width or any(row[start : start + length]):
            raise Retry
        row[start : start + length] = [colour] * length
    return row


def spread(d: Draws, width: int, lengths: Sequence[int], gap: int = 1) -> list[int]:
    """Draw where bars of these lengths begin, in this order, at least `gap` cells apart."""
    rest = width - sum(lengths) - gap * (len(lengths) - 1)
    if rest < 0:
        raise Retry
    cuts = sorted(d.between(0, rest) for _ in lengths)
    return [cut + sum(lengths[:n]) + gap * n for n, cut in enumerate(cuts)]


def one(source: Row, target: Row) -> Pair:
    """Return a pair of grids of one row."""
    return [source], [target]


@concept("move")
def bar_moves_fixed(p: Draws) -> Maker:
    """The bar moves by a fixed distance."""
    step = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        width, length, colour = d.between(12, 20), d.between(2, 5), d.colours(1)[0]
        start = d.between(0, width - length - step)
        bar, moved = (start, length, colour), (start + step, length, colour)
        return one(strip(width, [bar]), strip(width, [moved]))

    return pair


@concept("move")
def bar_moves_to_mark(p: Draws) -> Maker:
    """The bar moves until it touches the mark."""
    mark, body = p.colours(2)

    def pair(d: Draws) -> Pair:
        width, length = d.between(14, 20), d.between(2, 5)
        start, at = spread(d, width, [length, 1], 2)
        before = [(start, length, body), (at, 1, mark)]
        return one(strip(width, before), strip(width, [(at - length, length, body), before[1]]))

    return pair


@concept("move")
def bar_moves_by_mark_count(p: Draws) -> Maker:
    """The bar moves by as many cells as there are marks at the end."""
    mark, body = p.colours(2)

    def pair(d: Draws) -> Pair:
        width, length, n = d.between(16, 22), d.between(2, 4), d.between(1, 4)
        start = d.between(0, width - length - 2 * n - 1)
        marks = (width - n, n, mark)
        moved = (start + n, length, body)
        return one(strip(width, [(start, length, body), marks]), strip(width, [moved, marks]))

    return pair


@concept("move")
def bars_pack(p: Draws) -> Maker:
    """All bars move to one end and keep their order."""
    del p

    def pair(d: Draws) -> Pair:
        width, colours = d.between(14, 20), d.colours(3)
        lengths = [d.between(1, 4) for _ in colours]
        starts = spread(d, width, lengths)
        bars = list(zip(starts, lengths, colours, strict=True))
        row = strip(width, bars)
        packed = [cell for cell in row if cell]
        return one(row, packed + [0] * (width - len(packed)))

    return pair


@concept("flood fill")
def bar_between_marks(p: Draws) -> Maker:
    """The cells between two marks are filled with their colour."""
    del p

    def pair(d: Draws) -> Pair:
        width, colour = d.between(12, 20), d.colours(1)[0]
        a, b = spread(d, width, [1, 1], 2)
        return one(
            strip(width, [(a, 1, colour), (b, 1, colour)]), strip(width, [(a, b - a + 1, colour)])
        )

    return pair


@concept("flood fill")
def bars_between_pairs(p: Draws) -> Maker:
    """The cells between the two marks of each pair are filled; those between pairs are not."""
    mark, inside = p.colours(2)

    def pair(d: Draws) -> Pair:
        width = d.between(18, 26)
        lengths = [d.between(3, 6) for _ in range(d.between(2, 3))]
        starts = spread(d, width, lengths, 2)
        ends = [(s, 1, mark) for s in starts]
        ends += [(s + n - 1, 1, mark) for s, n in zip(starts, lengths, strict=True)]
        inner = [(s + 1, n - 2, inside) for s, n in zip(starts, lengths, strict=True)]
        return one(strip(width, ends), strip(width, ends + inner))

    return pair


@concept("filled and not")
def bars_hollow(p: Draws) -> Maker:
    """Only the two ends of each bar remain."""
    colour = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        width = d.between(14, 22)
        lengths = [d.between(3, 6) for _ in range(2)]
        bars = [(s, n, colour) for s, n in zip(spread(d, width, lengths), lengths, strict=True)]
        ends = [(s, 1, c) for s, n, c in bars] + [(s + n - 1, 1, c) for s, n, c in bars]
        return one(strip(width, bars), strip(width, ends))

    return pair


@concept("recolour by property")
def bars_by_length(p: Draws) -> Maker:
    """The longest bar gets a colour of its own."""
    body, other = p.colours(2)

    def pair(d: Draws) -> Pair:
        width, lengths = d.between(16, 24), d.shuffled([1, 2, 3, 4, 5])[:3]
        starts = spread(d, width, lengths)
        bars = [(s, n, body) for s, n in zip(starts, lengths, strict=True)]
        after = [(s, n, other if n == max(lengths) else body) for s, n, _ in bars]
        return one(strip(width, bars), strip(width, after))

    return pair


@concept("recolour by property")
def bars_by_parity(p: Draws) -> Maker:
    """Bars of even and of odd length get two colours."""
    body, even, odd = p.colours(3)

    def pair(d: Draws) -> Pair:
        width = d.between(18, 26)
        lengths = [d.between(1, 6) for _ in range(d.between(3, 4))]
        starts = spread(d, width, lengths)
        bars = [(s, n, body) for s, n in zip(starts, lengths, strict=True)]
        after = [(s, n, odd if n % 2 else even) for s, n, _ in bars]
        return one(strip(width, bars), strip(width, after))

    return pair


@concept("clean up")
def specks_go(p: Draws) -> Maker:
    """Single cells are removed, longer bars remain."""
    colour = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        width = d.between(18, 26)
        lengths = d.shuffled([d.between(3, 6), d.between(3, 5), 1, 1])
        starts = spread(d, width, lengths)
        bars = [(s, n, colour) for s, n in zip(starts, lengths, strict=True)]
        return one(strip(width, bars), strip(width, [bar for bar in bars if bar[1] > 1]))

    return pair


@concept("clean up")
def specks_in_bars_go(p: Draws) -> Maker:
    """Cells of other colours inside a bar take its colour."""
    body = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        width, length = d.between(16, 24), d.between(7, 11)
        start = d.between(0, width - length)
        clean = strip(width, [(start, length, body)])
        row = list(clean)
        for at in d.sample(range(start + 1, start + length - 1), d.between(1, 3)):
            row[at] = d.colours(1, [body])[0]
        return one(row, clean)

    return pair


@concept("mirror and rotate")
def bar_mirrored_at_mark(p: Draws) -> Maker:
    """The pattern on one side of the mark moves to its mirror image on the other side."""
    mark = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        half, length = d.between(7, 11), d.between(2, 4)
        start = d.between(0, half - length - 1)
        row = [0] * half + [mark] + [0] * half
        row[start : start + length] = [d.pick(d.colours(3, [mark])) for _ in range(length)]
        return one(row, row[::-1])

    return pair


@concept("mirror and rotate")
def ends_swap(p: Draws) -> Maker:
    """Each two-coloured bar is reversed where it is."""
    del p

    def pair(d: Draws) -> Pair:
        width, length = d.between(12, 20), d.between(3, 6)
        start = d.between(0, width - length)
        a, b = d.colours(2)
        row = strip(width, [(start, 1, a), (start + 1, length - 1, b)])
        return one(row, strip(width, [(start, length - 1, b), (start + length - 1, 1, a)]))

    return pair


@concept("copy")
def pattern_at_marks(p: Draws) -> Maker:
    """The bar at the beginning is drawn with its middle on each mark."""
    colour = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        width, length = d.between(20, 28), d.pick([3, 5])
        n = d.between(2, 3)
        starts = [s + length + 2 for s in spread(d, width - length - 2, [length] * n)]
        first = (0, length, colour)
        marks = [(s + length // 2, 1, colour) for s in starts]
        copies = [(s, length, colour) for s in starts]
        return one(strip(width, [first, *marks]), strip(width, [first, *copies]))

    return pair


@concept("copy")
def colour_pattern_at_marks(p: Draws) -> Maker:
    """A pattern of several colours is copied so that it begins at each mark."""
    mark = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        width = d.between(18, 26)
        pattern = [mark, *(d.colours(1, [mark])[0] for _ in range(d.between(2, 3)))]
        starts = [s + len(pattern) + 1 for s in
                  spread(d, width - len(pattern) - 1, [len(pattern)] * 2)]  # fmt: skip
        row, after = ([*pattern, *[0] * (width - len(pattern))] for _ in range(2))
        for s in starts:
            row[s] = mark
            after[s : s + len(pattern)] = pattern
        return one(row, after)

    return pair


@concept("extend")
def bar_grows_to_mark(p: Draws) -> Maker:
    """The bar grows until it meets the mark."""
    mark, body = p.colours(2)

    def pair(d: Draws) -> Pair:
        width, length = d.between(14, 20), d.between(1, 4)
        start, at = spread(d, width, [length, 1], 2)
        end = (at, 1, mark)
        grown = (start, at - start, body)
        return one(strip(width, [(start, length, body), end]), strip(width, [grown, end]))

    return pair


@concept("extend")
def bars_grow_by_one(p: Draws) -> Maker:
    """Each bar grows by one cell of another colour on both sides."""
    body, edge = p.colours(2)

    def pair(d: Draws) -> Pair:
        width = d.between(18, 26)
        lengths = [d.between(3, 6) for _ in range(d.between(2, 3))]
        starts = spread(d, width, lengths)
        inner = [(s + 1, n - 2, body) for s, n in zip(starts, lengths, strict=True)]
        ends = [(s, 1, edge) for s in starts]
        ends += [(s + n - 1, 1, edge) for s, n in zip(starts, lengths, strict=True)]
        return one(strip(width, inner), strip(width, inner + ends))

    return pair


@concept("complete a pattern")
def row_continues(p: Draws) -> Maker:
    """A repeated pattern continues to the end of the row."""
    del p

    def pair(d: Draws) -> Pair:
        width, pattern = d.between(14, 22), d.colours(d.between(2, 3))
        pattern += [0] * d.between(0, 1)
        whole = (pattern * width)[:width]
        seen = 2 * len(pattern) + d.between(0, 2)
        return one(whole[:seen] + [0] * (width - seen), whole)

    return pair


@concept("connect")
def bars_join(p: Draws) -> Maker:
    """The gap between two bars is filled with a third colour."""
    body, link = p.colours(2)

    def pair(d: Draws) -> Pair:
        width, lengths = d.between(14, 22), [d.between(1, 4), d.between(1, 4)]
        a, b = spread(d, width, lengths, 2)
        bars = [(a, lengths[0], body), (b, lengths[1], body)]
        gap = (a + lengths[0], b - a - lengths[0], link)
        return one(strip(width, bars), strip(width, [*bars, gap]))

    return pair


@concept("order and rank")
def bars_exchange_colours(p: Draws) -> Maker:
    """The two bars exchange their colours."""
    del p

    def pair(d: Draws) -> Pair:
        width, lengths = d.between(12, 20), [d.between(1, 5), d.between(1, 5)]
        a, b = spread(d, width, lengths)
        left, right = d.colours(2)
        return one(
            strip(width, [(a, lengths[0], left), (b, lengths[1], right)]),
            strip(width, [(a, lengths[0], right), (b, lengths[1], left)]),
        )

    return pair


@concept("order and rank")
def shortest_bar_goes(p: Draws) -> Maker:
    """The shortest bar is removed."""
    del p

    def pair(d: Draws) -> Pair:
        width, lengths = d.between(16, 24), d.shuffled([1, 2, 3, 4, 5])[:3]
        starts = spread(d, width, lengths)
        bars = list(zip(starts, lengths, d.colours(3), strict=True))
        return one(strip(width, bars), strip(width, [b for b in bars if b[1] > min(lengths)]))

    return pair


@concept("extract")
def longest_bar(p: Draws) -> Maker:
    """The longest bar is cropped."""
    del p

    def pair(d: Draws) -> Pair:
        width, lengths = d.between(16, 24), d.shuffled([1, 2, 3, 4, 5])[:3]
        starts, colours = spread(d, width, lengths), d.colours(3)
        bars = list(zip(starts, lengths, colours, strict=True))
        longest = max(lengths)
        return one(strip(width, bars), [colours[lengths.index(longest)]] * longest)

    return pair


@concept("count")
def bars_as_cells(p: Draws) -> Maker:
    """Each bar becomes one cell of its colour, side by side."""
    del p

    def pair(d: Draws) -> Pair:
        colours = d.colours(d.between(2, 4))
        lengths = [d.between(1, 4) for _ in colours]
        width = sum(lengths) + len(lengths) + d.between(2, 6)
        starts = spread(d, width, lengths)
        return one(strip(width, list(zip(starts, lengths, colours, strict=True))), colours)

    return pair


@concept("centre")
def bar_middles(p: Draws) -> Maker:
    """The middle cell of each bar gets another colour."""
    body, middle = p.colours(2)

    def pair(d: Draws) -> Pair:
        width = d.between(16, 24)
        lengths = [d.pick([3, 5, 7]) for _ in range(2)]
        starts = spread(d, width, lengths)
        bars = [(s, n, body) for s, n in zip(starts, lengths, strict=True)]
        row = strip(width, bars)
        after = list(row)
        for s, n, _ in bars:
            after[s + n // 2] = middle
        return one(row, after)

    return pair


@concept("recolour by property")
def bars_take_mark_colour(p: Draws) -> Maker:
    """Each bar takes the colour of the mark that touches its end, which goes."""
    body = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        width = d.between(18, 26)
        lengths = [d.between(3, 6) for _ in range(2)]
        starts, marks = spread(d, width, lengths), d.colours(2, [body])
        row, after = [0] * width, [0] * width
        for s, n, mark in zip(starts, lengths, marks, strict=True):
            row[s : s + n] = [mark] + [body] * (n - 1)
            after[s + 1 : s + n] = [mark] * (n - 1)
        return one(row, after)

    return pair
