"""Tasks in the terminal: in true colour if the terminal has colour, as digits otherwise.

A cell of a small grid is two spaces wide, otherwise half a character high: `▀` shows two cells, the
upper in its foreground colour, the lower in its background colour. Pairs are drawn side by side as
far as the width allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest

from rich.console import Console
from rich.style import Style
from rich.text import Text

from weft.inspect.report.text import visible
from weft.searches.arc.values import EMPTY, Grid
from weft.searches.arc.views.model import (
    AnswerView,
    PictureBlock,
    StepView,
    TaskView,
    Tile,
    blocks,
    letter,
    price,
)
from weft.searches.arc.views.palette import PALETTE

WIDE_SIDE = 12
"""Grids up to this side are drawn with wide cells."""
ARROW = " → "
GAP = 4
INKS = ("#1c1c1c", *PALETTE[1:])
"""Black is lightened, so that a grid is visible on a black background."""
_BADGES = {"solved": "bold green", "wrong": "bold red", "ambiguous": "bold yellow"}

Draw = Callable[[Grid], list[Text]]


def show(view: TaskView, console: Console, *, steps: bool = False) -> None:
    """Print a task, its answers and their programs; with `steps`, the values of each step."""
    coloured = console.color_system in ("truecolor", "256") and not console.no_color
    for line in lines(view, console.width, coloured=coloured, steps=steps):
        console.print(line, soft_wrap=True)


def lines(view: TaskView, width: int, *, coloured: bool, steps: bool = False) -> Iterator[Text]:
    """Yield the lines of a task for a terminal of this width."""
    yield _heading(view)
    if view.note:
        yield Text(visible(view.note), style="dim" if coloured else "")
    all_blocks = blocks(view)
    draw = _drawing(all_blocks, width, coloured=coloured)
    yield from _wrapped((_block(block, width, draw) for block in all_blocks), width)
    for i, answer in enumerate(view.answers):
        name = "program" if len(view.answers) == 1 else f"program {letter(i)}"
        yield from _program(name, answer, width, steps=steps, coloured=coloured)
    if view.nearest is not None:
        name = "nearest program, not an answer"
        yield from _program(name, view.nearest, width, steps=steps, coloured=coloured)


def draw_cells(grid: Grid) -> list[Text]:
    """Draw a grid with cells two characters wide."""
    return [_line(("  ", _style(None, cell)) for cell in row) for row in _rows(grid)]


def draw_halves(grid: Grid) -> list[Text]:
    """Draw a grid with two cells in each character, one above the other."""
    rows = _rows(grid)
    pairs = zip_longest(rows[::2], rows[1::2], fillvalue=bytes([EMPTY]) * grid.width)
    return [_line(_half(a, b) for a, b in zip(*pair, strict=True)) for pair in pairs]


def draw_digits(grid: Grid) -> list[Text]:
    """Draw a grid with digits, and dots for empty cells."""
    return [Text("".join("." if c == EMPTY else str(c) for c in row)) for row in _rows(grid)]


def _heading(view: TaskView) -> Text:
    heading = Text.assemble((visible(view.name), "bold"))
    if view.outcome:
        heading.append("  ")
        heading.append(visible(view.words), _BADGES.get(view.kind, "bold"))
    return heading.append(f"  {visible(view.digest[:12])}", "dim")


def _drawing(shown: Sequence[PictureBlock], width: int, *, coloured: bool) -> Draw:
    if not coloured:
        return draw_digits
    grids = [tile.grid for block in shown for tile in block.tiles]
    small = all(max(grid.height, grid.width) <= WIDE_SIDE for grid in grids)
    widest = max((sum(2 * t.grid.width + 3 for t in block.tiles) for block in shown), default=0)
    return draw_cells if small and widest <= width else draw_halves


def _wrapped(parts: Iterable[list[Text]], width: int) -> Iterator[Text]:
    """Place parts side by side, in as many rows as needed."""
    row: list[list[Text]] = []
    for drawn in parts:
        used = sum(part[0].cell_len + GAP for part in row)
        if row and used + drawn[0].cell_len > width:
            yield from _beside(row)
            row = []
        row.append(drawn)
    yield from _beside(row)


def _beside(parts: Sequence[Sequence[Text]]) -> Iterator[Text]:
    yield Text()
    yield from _joined(parts, " " * GAP)


def _joined(parts: Sequence[Sequence[Text]], gap: str, arrow_at: int = -1) -> Iterator[Text]:
    """Place parts side by side, with an arrow from the first to the second on line `arrow_at`."""
    for at in range(max(map(len, parts), default=0)):
        line = Text()
        for i, part in enumerate(parts):
            if i:
                line.append(ARROW if i == 1 and at == arrow_at else gap)
            line.append_text(part[at] if at < len(part) else Text(" " * part[0].cell_len))
        yield line


def _padded(lines: list[Text]) -> list[Text]:
    """Pad lines to equal width."""
    widest = max(line.cell_len for line in lines)
    for line in lines:
        line.pad_right(widest - line.cell_len)
    return lines


def _block(block: PictureBlock, width: int, draw: Draw) -> list[Text]:
    """Return lines of equal width: the title, then the tiles side by side or stacked."""
    drawn = [_padded([Text(tile.label, style="dim"), *draw(tile.grid)]) for tile in block.tiles]
    across = sum(part[0].cell_len for part in drawn) + len(ARROW) * (len(drawn) - 1)
    middle = 1 + (len(drawn[0]) - 2) // 2  # below the label
    body = _joined(drawn, "   ", middle) if across <= width else (line for d in drawn for line in d)
    return _padded([Text(block.title, style="bold"), *body])


def _program(
    name: str, answer: AnswerView, width: int, *, steps: bool, coloured: bool
) -> Iterator[Text]:
    yield Text()
    yield Text.assemble((name, "bold"), (f"  {price(answer)}", "dim"))
    for line in answer.program:
        yield Text(f"  {visible(line)}")
    if steps and answer.steps:
        yield Text()
        yield Text(f"step by step: {', '.join(answer.inputs)}", style="dim" if coloured else "")
        yield from _steps(answer, width, coloured=coloured)


def _steps(answer: AnswerView, width: int, *, coloured: bool) -> Iterator[Text]:
    """Place the steps side by side: each line of the program above its values."""
    values = [value for step in answer.steps for value in step.values]
    tiles = [Tile("", value) for value in values if isinstance(value, Grid)]
    draw = _drawing([PictureBlock("", (tile,)) for tile in tiles], width, coloured=coloured)
    yield from _wrapped((_step(step, draw) for step in answer.steps), width)


def _step(step: StepView, draw: Draw) -> list[Text]:
    """Return lines of equal width: the program's line, then its values side by side."""
    parts = [draw(value) if isinstance(value, Grid) else [Text(value)] for value in step.values]
    return _padded([Text(visible(step.line)), *_joined(parts, "  ")])


def _rows(grid: Grid) -> list[bytes]:
    w = grid.width
    return [grid.cells[r * w : (r + 1) * w] for r in range(grid.height)]


def _line(parts: Iterator[tuple[str, Style]]) -> Text:
    line = Text()
    for text, style in parts:
        line.append(text, style)
    return line


def _half(above: int, below: int) -> tuple[str, Style]:
    if above == EMPTY:
        return ("▄" if below != EMPTY else " "), _style(below, EMPTY)
    return "▀", _style(above, below)


def _style(ink: int | None, ground: int) -> Style:
    return Style(
        color=None if ink is None or ink == EMPTY else INKS[ink],
        bgcolor=None if ground == EMPTY else INKS[ground],
    )
