"""Rules that read one cell at a time: its colour, alone or with the input's colour there."""

from __future__ import annotations

from collections.abc import Iterator

from weft.searches.arc.fitted.rule import BASE, COLOUR, Examples, FittedRule, digit, sizes_equal
from weft.searches.arc.ops.operator import BIT, ShapeEffect
from weft.searches.arc.values import Grid

KEEP, CONST, TABLE = 0, 1, 2


class ColourMap(FittedRule):
    """Parameters: 1 if other colours stay, else 0; then pairs (from, to), sorted.

    If others do not stay, the rule fails on them. They stay if one stays in training and every
    changing colour occurs in at least two training pairs: then each pair is predicted by the
    others. Otherwise all observed pairs are listed, even (1, 1).
    """

    name = "colour_map"
    doc = (
        "Maps each colour to another: `1:2 3:4`. With `keep`, colours that are not listed stay; "
        "otherwise the program fails on them."
    )
    shape = ShapeEffect.KEEP

    def propose(self, examples: Examples) -> Iterator[bytes]:
        if not sizes_equal(examples):
            return
        colour_map: dict[int, int] = {}
        pairs: dict[int, set[int]] = {}
        for e, (value, target) in enumerate(examples.pairs()):
            colour_map.update(zip(value.cells, target.cells, strict=True))
            for colour in value.cells:
                pairs.setdefault(colour, set()).add(e)
        changes = {old for old, new in colour_map.items() if old != new}
        keep = len(changes) < len(colour_map) and all(len(pairs[old]) > 1 for old in changes)
        listed = sorted(changes if keep else colour_map)
        yield bytes((keep, *(colour for old in listed for colour in (old, colour_map[old]))))

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        table = dict(zip(params[1::2], params[2::2], strict=True))
        if not params[0] and any(cell not in table for cell in value.cells):
            return None
        cells = bytes(table.get(cell, cell) for cell in value.cells)
        return Grid(value.height, value.width, cells)

    def price(self, params: bytes) -> int:
        changes = sum(a != b for a, b in zip(params[1::2], params[2::2], strict=True))
        return BASE + changes * 2 * COLOUR

    def show(self, params: bytes) -> str:
        table = dict(zip(params[1::2], params[2::2], strict=True))
        pairs = [f"{a}:{b}" for a, b in table.items()]
        return " ".join(pairs + ["keep"] * params[0])

    def read(self, text: str) -> bytes:
        words = text.split(" ")
        keep = words[-1] == "keep"
        pairs = [word.split(":") for word in words[: len(words) - keep]]
        changes = sorted((digit(a), digit(b)) for a, b in pairs)
        return bytes((keep, *(colour for pair in changes for colour in pair)))


class CellTable(FittedRule):
    """Parameters per colour v of the grid, ascending: v KEEP | v CONST c | v TABLE n (in, out)….

    A colour v that is not KEEP is trusted in a test grid only if two training pairs have it.
    """

    name = "cell_table"
    doc = (
        "Each cell decides what happens to the input's cell at its position: `v=keep` keeps it, "
        "`v=c` paints it in colour c, `v=a:b,c:d` maps its colour by a table; anything else fails."
    )
    shape = ShapeEffect.KEEP

    def propose(self, examples: Examples) -> Iterator[bytes]:
        inputs = examples.given[: len(examples.expected)]
        pairs = zip(inputs, examples.expected, strict=True)
        if not sizes_equal(examples) or any(given.size != target.size for given, target in pairs):
            return
        entries = {
            cell
            for value, given, target in zip(
                examples.values, inputs, examples.expected, strict=False
            )
            for cell in zip(value.cells, given.cells, target.cells, strict=True)
        }
        if _is_function({(v, t) for v, _, t in entries}) or _is_function(
            {(i, t) for _, i, t in entries}
        ):
            return  # one of the two is enough: a colour map
        params = bytearray()
        for v in sorted({cell[0] for cell in entries}):
            params += bytes((v, *_branch(sorted((i, t) for w, i, t in entries if w == v))))
        yield bytes(params)

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        if value.size != given.size:
            return None
        branches = _branches(params)
        cells = []
        for v, i in zip(value.cells, given.cells, strict=True):
            kind, table = branches.get(v, (TABLE, {}))
            cell = i if kind == KEEP else table[0] if kind == CONST else table.get(i)
            if cell is None:
                return None
            cells.append(cell)
        return Grid(value.height, value.width, bytes(cells))

    def covers(self, params: bytes, examples: Examples) -> bool:
        weak = {v for v, (kind, _) in _branches(params).items() if kind != KEEP}
        train = len(examples.expected)
        weak = {v for v in weak if sum(v in g.cells for g in examples.values[:train]) == 1}
        return not any(cell in weak for g in examples.values[train:] for cell in g.cells)

    def price(self, params: bytes) -> int:
        cost = {KEEP: 0, CONST: COLOUR, TABLE: 2 * COLOUR}
        branches = _branches(params).values()
        return BASE + sum(BIT + cost[kind] * len(table) for kind, table in branches)

    def show(self, params: bytes) -> str:
        words = []
        for v, (kind, table) in _branches(params).items():
            pairs = ",".join(f"{i}:{t}" for i, t in table.items())
            words.append(f"{v}=" + ("keep", str(table.get(0)), pairs)[kind])
        return " ".join(words)

    def read(self, text: str) -> bytes:
        params = bytearray()
        for v, rest in sorted(word.split("=") for word in text.split(" ")):
            params.append(digit(v))
            if rest == "keep":
                params.append(KEEP)
            elif ":" not in rest:
                params += bytes((CONST, digit(rest)))
            else:
                pairs = sorted(pair.split(":") for pair in rest.split(","))
                params += bytes((TABLE, len(pairs)))
                params += bytes(digit(symbol) for i, t in pairs for symbol in (i, t))
        return bytes(params)


def _is_function(pairs: set[tuple[int, int]]) -> bool:
    return len({a for a, _ in pairs}) == len(pairs)


def _branch(pairs: list[tuple[int, int]]) -> tuple[int, ...]:
    """Return the simplest branch that fits: (KEEP), (CONST, c) or (TABLE, n, in, out, …)."""
    if all(i == t for i, t in pairs):
        return (KEEP,)
    if len({t for _, t in pairs}) == 1:
        return (CONST, pairs[0][1])
    return (TABLE, len(pairs), *(colour for pair in pairs for colour in pair))


def _branches(params: bytes) -> dict[int, tuple[int, dict[int, int]]]:
    """Return the kind and the table of each colour; CONST has its colour under 0."""
    branches: dict[int, tuple[int, dict[int, int]]] = {}
    at = 0
    while at < len(params):
        v, kind = params[at], params[at + 1]
        table: dict[int, int] = {}
        at += 2
        if kind == CONST:
            table = {0: params[at]}
            at += 1
        elif kind == TABLE:
            end = at + 1 + 2 * params[at]
            table = dict(zip(params[at + 1 : end : 2], params[at + 2 : end : 2], strict=True))
            at = end
        branches[v] = (kind, table)
    return branches
