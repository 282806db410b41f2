"""Operators that restore the cells that one colour hides: facts and plain definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from weft.searches.arc.codes import completion as k
from weft.searches.arc.codes.fills import SYMMETRY, TILES
from weft.searches.arc.ops.operator import Operator, OperatorFamily, ShapeEffect
from weft.searches.arc.values import Grid, Value

Place = tuple[int, int]
Image = Callable[[Place], Place]


def hidden_colour(grid: Grid, p: int) -> int | None:
    """Return the hiding colour: black, the rarest, or that of the largest one-coloured square.

    Ties go to the lowest. Returns None if the grid has no cell of that colour, or no other cell.
    """
    colours = sorted(set(grid.cells))
    colour = 0
    if p == k.RARE:
        colour = min(colours, key=grid.cells.count)
    if p == k.SQUARE:
        colour = max(colours, key=lambda c: _largest_square(grid, c))
    return colour if len(colours) > 1 and colour in colours else None


def _largest_square(grid: Grid, colour: int) -> int:
    """Return the side of the largest square that is entirely of one colour."""
    rows = grid.rows()
    plain = bytes([colour])
    return max(
        side
        for side in range(min(grid.height, grid.width) + 1)
        for r in range(grid.height - side + 1)
        for c in range(grid.width - side + 1)
        if all(bytes(row[c : c + side]) == plain * side for row in rows[r : r + side])
    )


def _places(grid: Grid) -> Iterator[Place]:
    return ((r, c) for r in range(grid.height) for c in range(grid.width))


def _inside(grid: Grid, place: Place) -> bool:
    return 0 <= place[0] < grid.height and 0 <= place[1] < grid.width


def _mirror(kind: int, s: int) -> Image:
    if kind == k.COLUMNS:
        return lambda at: (at[0], s - at[1])
    if kind == k.ROWS:
        return lambda at: (s - at[0], at[1])
    return lambda at: (at[1] - s, at[0] + s)


def best_mirror(grid: Grid, hidden: int, kind: int) -> int:
    """Return the mirror axis on which the known cells agree best.

    Each pair of cells that agree scores 1, each that do not scores -PENALTY; ties go to the axis
    nearest to the middle, then to the lowest.
    """
    middle = (grid.width if kind == k.COLUMNS else grid.height) - 1
    return max(
        range(1, 2 * middle),
        key=lambda s: (_agreement(grid, hidden, _mirror(kind, s)), -abs(s - middle), -s),
        default=middle,
    )


def _agreement(grid: Grid, hidden: int, image: Image) -> int:
    score = 0
    for place in _places(grid):
        counterpart = image(place)
        if _inside(grid, counterpart) and counterpart > place:
            cell, other = grid.at(*place), grid.at(*counterpart)
            if hidden not in (cell, other):
                score += 1 if cell == other else -k.PENALTY
    return score


def _images(grid: Grid, hidden: int, q: int) -> list[Image] | None:
    """Return all combinations of the mirrors in `q`: columns first, then rows, then the diagonal.

    The diagonal passes through the centre that the others define; None if that is impossible.
    """
    places = {kind: best_mirror(grid, hidden, kind) for kind in (k.COLUMNS, k.ROWS) if q & kind}
    if q & k.DIAGONAL:
        shift = places[k.COLUMNS] - places[k.ROWS]
        if shift % 2:
            return None
        places[k.DIAGONAL] = shift // 2
    images: list[Image] = []
    for expected in range(1, 8):
        if expected & ~q == 0:
            steps = [_mirror(kind, place) for kind, place in places.items() if expected & kind]
            images.append(lambda at, steps=steps: _follow(at, steps))  # type: ignore[misc]
    return images


def _follow(at: Place, steps: list[Image]) -> Place:
    for step in steps:
        at = step(at)
    return at


def _filled(grid: Grid, hidden: int, fill: Callable[[Place], int], crop: bool) -> Grid:
    """Return the grid with hidden cells filled, or only the box around them."""
    cells = {at: fill(at) if grid.at(*at) == hidden else grid.at(*at) for at in _places(grid)}
    cells_shown = [at for at in cells if not crop or grid.at(*at) == hidden]
    rows, columns = [r for r, _ in cells_shown], [c for _, c in cells_shown]
    return Grid.of([
        [cells[r, c] for c in range(min(columns), max(columns) + 1)]
        for r in range(min(rows), max(rows) + 1)
    ])  # fmt: skip


def by_symmetry(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Fill each hidden cell from the first of its mirror images that is known."""
    assert isinstance(value, Grid)
    hidden = hidden_colour(value, p)
    images = _images(value, hidden, q) if hidden is not None else None
    if hidden is None or images is None:
        return None

    def fill(at: Place) -> int:
        counterparts = [place for image in images if _inside(value, place := image(at))]
        known = (value.at(*place) for place in counterparts)
        return next((colour for colour in known if colour != hidden), hidden)

    return _filled(value, hidden, fill, q & k.ONLY_HIDDEN > 0)


def by_period(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Fill hidden cells from the smallest tile (ties: fewest rows) that the known cells allow.

    Returns None if the tile exceeds half the grid. A slanted tile is a strip of cells; each row of
    the grid starts further along it by the same number of cells.
    """
    assert isinstance(value, Grid)
    hidden = hidden_colour(value, p)
    if hidden is None:
        return None
    for place_in in _tilings(value, q & 3):
        tile: dict[int, set[int]] = {}
        for at in _places(value):
            tile.setdefault(place_in(at), set()).add(value.at(*at))
        known = {place: sorted(colours - {hidden}) for place, colours in tile.items()}
        if all(len(colours) <= 1 for colours in known.values()):
            fill = {place: (*colours, hidden)[0] for place, colours in known.items()}
            crop = q & k.ONLY_HIDDEN > 0
            return _filled(value, hidden, lambda at, p=place_in, f=fill: f[p(at)], crop)  # type: ignore[misc]
    return None


def _tilings(grid: Grid, kind: int) -> Iterator[Callable[[Place], int]]:
    """Yield ways to number the cells of a tile, the smallest tiles first."""
    h, w = grid.height, grid.width
    if kind == k.SLANTED:
        for n in range(1, min(w, h * w // 2 + 1)):
            for shift in range(n):
                yield lambda at, n=n, shift=shift: (at[1] + shift * at[0]) % n  # type: ignore[misc]
        return
    heights = range(h, h + 1) if kind == k.ALONG_ROWS else range(1, h + 1)
    widths = range(w, w + 1) if kind == k.ALONG_COLUMNS else range(1, w + 1)
    sizes = sorted((a * b, a, b) for a in heights for b in widths if 2 * a * b <= h * w)
    for _, a, b in sizes:
        yield lambda at, a=a, b=b: at[0] % a * b + at[1] % b  # type: ignore[misc]


_complete = OperatorFamily(SYMMETRY, by_symmetry, shape=ShapeEffect.KEEP)
_tile = OperatorFamily(TILES, by_period, shape=ShapeEffect.KEEP)
_hidden = OperatorFamily(SYMMETRY, by_symmetry, shape=ShapeEffect.SHRINK)
_hidden_tile = OperatorFamily(TILES, by_period, shape=ShapeEffect.SHRINK)
FOURFOLD, EIGHTFOLD = k.COLUMNS + k.ROWS, k.EIGHTFOLD
OPERATORS: tuple[Operator, ...] = (
    _complete("mirror_black_across", k.BLACK, k.COLUMNS, 7,
              "Fill black from the left-right mirror image."),
    _complete("mirror_black_down", k.BLACK, k.ROWS, 7,
              "Fill black from the top-bottom mirror image."),
    _complete("mirror_black_fourfold", k.BLACK, FOURFOLD, 6,
              "Fill black from both mirror images."),
    _complete("mirror_black_eightfold", k.BLACK, EIGHTFOLD, 7,
              "Fill black from all mirror images and rotations."),
    _complete("mirror_rare_fourfold", k.RARE, FOURFOLD, 8,
              "Fill the rarest colour from mirror images."),
    _complete("mirror_square_fourfold", k.SQUARE, FOURFOLD, 7,
              "Fill the colour of the largest one-coloured square from mirror images."),
    _hidden("hidden_black_fourfold", k.BLACK, FOURFOLD + k.ONLY_HIDDEN, 8,
            "What mirror images show in place of black."),
    _hidden("hidden_square_fourfold", k.SQUARE, FOURFOLD + k.ONLY_HIDDEN, 7,
            "What mirror images show in place of the largest one-coloured square."),
    _tile("tile_black_rows", k.BLACK, k.ALONG_ROWS, 7, "Fill black by repeating along rows."),
    _tile("tile_black_columns", k.BLACK, k.ALONG_COLUMNS, 7,
          "Fill black by repeating along columns."),
    _tile("tile_black", k.BLACK, k.BOTH, 6, "Fill black from the smallest repeated tile."),
    _tile("tile_black_slanted", k.BLACK, k.SLANTED, 7,
          "Fill black from a row that repeats with a shift."),
    _hidden_tile("hidden_square_tile", k.SQUARE, k.BOTH + k.ONLY_HIDDEN, 8,
                 "What the smallest repeated tile shows in place of that square."),
)  # fmt: skip
