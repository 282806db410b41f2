"""The rule that draws a pattern, learned from training, around marked cells."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from weft.searches.arc.fitted.rule import (
    BASE,
    COLOUR,
    Examples,
    FittedRule,
    changing_colours,
    colour_decides,
    digit,
    sizes_equal,
)
from weft.searches.arc.ops.operator import BIT, ShapeEffect
from weft.searches.arc.values import Grid

REACH = 2
SIDE = 2 * REACH + 1
MIDDLE = SIDE * SIDE // 2
Pattern = dict[int, int]
"""Colours by place in the 5×5 square around an anchor, row by row."""


class Stamp(FittedRule):
    """Parameters: background, then per anchor colour, ascending: colour, n, (place, colour)….

    The pattern is what training drew around every anchor, wherever there was background, reduced to
    what is needed to explain training. The rule is not fitted if
    - the places left out would make a difference in a test grid;
    - a test anchor has background at a place, no farther than the pattern reaches, where training
      never had any;
    - a test grid has a colour that training had not, and an anchor is in one training pair only.
    """

    name = "stamp"
    doc = (
        "Draws a 5×5 pattern around every cell of a colour, on cells of the background colour, "
        "which comes first: `0 2=...../.3.3./..2../.3.3./.....`; . draws nothing, / separates "
        "rows."
    )
    shape = ShapeEffect.KEEP

    def propose(self, examples: Examples) -> Iterator[bytes]:
        back = _background(examples)
        if back is None:
            return
        colours = sorted({cell for value, _ in examples.pairs() for cell in value.cells} - {back})
        drawings = {a: _shown(a, back, examples) for a in colours}
        patterns = {a: _pattern(drawn, back) for a, drawn in drawings.items()}
        patterns = {a: pattern for a, pattern in patterns.items() if pattern}
        for size in (1, 2):
            fitting = [
                chosen
                for names in combinations(sorted(patterns), size)
                if _explains(chosen := {a: patterns[a] for a in names}, back, examples)
            ]
            for chosen in fitting:
                yield _params(back, _leanest(chosen, back, examples))
                yield _params(back, chosen)
            if fitting:
                return

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        back, patterns = _patterns(params)
        cells = bytearray(value.cells)
        for anchor, place, at in _places(value, patterns):
            colour = patterns[anchor][place]
            if value.cells[at] != back:
                continue
            if cells[at] not in (back, colour):
                return None
            cells[at] = colour
        return Grid(value.height, value.width, bytes(cells))

    def covers(self, params: bytes, examples: Examples) -> bool:
        back, patterns = _patterns(params)
        train = len(examples.expected)
        known = [set(value.cells) for value in examples.values[:train]]
        new = set().union(*(value.cells for value in examples.values[train:]))
        if new - set().union(*known) and any(
            sum(a in colours for colours in known) == 1 for a in patterns
        ):
            return False
        for anchor, pattern in patterns.items():
            drawn = _shown(anchor, back, examples)
            reach = max(map(_distance, pattern))
            places = [p for p in range(SIDE * SIDE) if p not in drawn and _distance(p) <= reach]
            unknown = dict.fromkeys(places, back)
            for value in examples.values[len(examples.expected) :]:
                if any(value.cells[at] == back for _, _, at in _places(value, {anchor: unknown})):
                    return False
        return True

    def price(self, params: bytes) -> int:
        _, patterns = _patterns(params)
        cost = BASE + COLOUR
        for pattern in patterns.values():
            cost += COLOUR * (1 + len(set(pattern.values()))) + 4 * BIT * len(pattern)
        return cost

    def show(self, params: bytes) -> str:
        back, patterns = _patterns(params)
        words = [str(back)]
        for anchor, pattern in patterns.items():
            symbols = "".join(str(pattern.get(place, ".")) for place in range(SIDE * SIDE))
            symbols = symbols[:MIDDLE] + str(anchor) + symbols[MIDDLE + 1 :]
            rows = [symbols[at : at + SIDE] for at in range(0, SIDE * SIDE, SIDE)]
            words.append(f"{anchor}=" + "/".join(rows))
        return " ".join(words)

    def read(self, text: str) -> bytes:
        back, *words = text.split(" ")
        patterns: dict[int, Pattern] = {}
        for word in words:
            anchor, picture = word.split("=")
            symbols = picture.replace("/", "")
            if len(symbols) != SIDE * SIDE:
                raise ValueError(word)
            patterns[digit(anchor)] = {
                place: digit(symbol)
                for place, symbol in enumerate(symbols)
                if symbol != "." and place != MIDDLE
            }
        return _params(digit(back), patterns)


def _background(examples: Examples) -> int | None:
    """Return the one colour of all changing cells; None if there is none, or for a colour map."""
    if not sizes_equal(examples) or colour_decides(examples):
        return None
    changed = changing_colours(examples)
    return changed[0] if len(changed) == 1 else None


def _places(value: Grid, patterns: dict[int, Pattern]) -> Iterator[tuple[int, int, int]]:
    """Yield anchor colour, place in the square and cell, for all anchors and places of patterns."""
    for at, anchor in enumerate(value.cells):
        for place in patterns.get(anchor, ()):
            row = at // value.width + place // SIDE - REACH
            col = at % value.width + place % SIDE - REACH
            if 0 <= row < value.height and 0 <= col < value.width:
                yield anchor, place, row * value.width + col


def _shown(anchor: int, back: int, examples: Examples) -> dict[int, set[int]]:
    """Return, by place, what background cells there became around all anchors in training."""
    everywhere = {anchor: dict.fromkeys(range(SIDE * SIDE), back)}
    colours_at: dict[int, set[int]] = {}
    for value, target in examples.pairs():
        for _, place, at in _places(value, everywhere):
            if value.cells[at] == back:
                colours_at.setdefault(place, set()).add(target.cells[at])
    return colours_at


def _pattern(shown: dict[int, set[int]], back: int) -> Pattern:
    """Return the places where training always drew one colour, and not the background."""
    return {p: min(new) for p, new in sorted(shown.items()) if len(new) == 1 and back not in new}


def _explains(patterns: dict[int, Pattern], back: int, examples: Examples) -> bool:
    """Whether patterns draw every changing cell."""
    for value, target in examples.pairs():
        drawn = {at for _, _, at in _places(value, patterns)}
        if any(
            v != t and at not in drawn
            for at, (v, t) in enumerate(zip(value.cells, target.cells, strict=True))
        ):
            return False
    return True


def _leanest(patterns: dict[int, Pattern], back: int, examples: Examples) -> dict[int, Pattern]:
    """Remove every place that is not needed: the farthest first, then in order."""
    places = [(_distance(p), anchor, p) for anchor in patterns for p in patterns[anchor]]
    for _, anchor, place in sorted(
        places, key=lambda count_and_place: (-count_and_place[0], *count_and_place[1:])
    ):
        rest = {p: colour for p, colour in patterns[anchor].items() if p != place}
        if rest and _explains({**patterns, anchor: rest}, back, examples):
            patterns = {**patterns, anchor: rest}
    return patterns


def _distance(place: int) -> int:
    return max(abs(place // SIDE - REACH), abs(place % SIDE - REACH))


def _params(back: int, patterns: dict[int, Pattern]) -> bytes:
    params = bytearray((back,))
    for anchor, pattern in sorted(patterns.items()):
        params += bytes((anchor, len(pattern)))
        for place, colour in sorted(pattern.items()):
            params += bytes((place, colour))
    return bytes(params)


def _patterns(params: bytes) -> tuple[int, dict[int, Pattern]]:
    patterns: dict[int, Pattern] = {}
    at = 1
    while at < len(params):
        end = at + 2 + 2 * params[at + 1]
        patterns[params[at]] = dict(
            zip(params[at + 2 : end : 2], params[at + 3 : end : 2], strict=True)
        )
        at = end
    return params[0], patterns
