"""Every view shows exactly the cells it was given, whatever the size, colours and texts."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from rich.console import Console
from rich.text import Text

from tests.inspect.report.browser import started
from tests.support.arcvalues import grids, values
from weft.inspect.report.view import MAX_PAGE_BYTES
from weft.searches.arc.data import load
from weft.searches.arc.task import Pair
from weft.searches.arc.values import EMPTY, Grid, Piece, ValueStage
from weft.searches.arc.views import png, svg, terminal
from weft.searches.arc.views.layout import PlacedGrid, Sheet, cell_size, task_sheet
from weft.searches.arc.views.model import AnswerView, Shown, StepView, TaskView, blocks
from weft.searches.arc.views.page import build_page
from weft.searches.arc.views.palette import PALETTE, rgb
from weft.searches.arc.views.paths import rectangles
from weft.searches.arc.views.picture import shown
from weft.searches.arc.views.sprites import Sprites

HOSTILE = "<script>alert(1)</script>&\"'\x1b[31m\n\u202e"
ONE, TWO = Grid.of([[1, 2], [3, 0]]), Grid.of([[4, 5, 6]])
quick = settings(max_examples=60, deadline=None, derandomize=True, database=None)


@st.composite
def holed(draw: st.DrawFn) -> Grid:
    """A grid with or without empty cells."""
    grid = draw(grids(side=30) if draw(st.booleans()) else grids())
    if draw(st.booleans()):
        return grid
    return replace(grid, cells=grid.cells.replace(b"\0", bytes([EMPTY])))


def answer(*outputs: Grid, steps: tuple[StepView, ...] = ()) -> AnswerView:
    return AnswerView(("a = input", "return flip(a)"), 12_345, outputs, 2, steps, ("train 1",))


def view(kind: str = "solved", name: str = "aa", **more: object) -> TaskView:
    base = TaskView(name, "d" * 64, (Pair(ONE, TWO), Pair(TWO, ONE)), (ONE,))
    known: dict[str, TaskView] = {
        "bare": base,
        "solved": replace(base, outcome="SOLVED", answers=(answer(TWO),)),
        "wrong": replace(base, outcome="SOLVED", answers=(answer(TWO),), truth=(ONE,)),
        "right": replace(base, outcome="SOLVED", answers=(answer(TWO),), truth=(TWO,)),
        "ambiguous": replace(
            base, outcome="UNKNOWN", reason="ambiguous", answers=(answer(TWO), answer(ONE))
        ),
        "budget": replace(base, outcome="UNKNOWN", reason="budget", nearest=answer(ONE)),
    }
    return replace(known[kind], **more)  # type: ignore[arg-type]


# -- model, blocks, pictures -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "counted", "words"),
    [
        ("bare", "unknown", ""),
        ("solved", "solved", "SOLVED"),
        ("wrong", "wrong", "SOLVED, wrong"),
        ("right", "solved", "SOLVED, right"),
        ("ambiguous", "ambiguous", "UNKNOWN: ambiguous"),
    ],
)
def test_outcome_is_said_in_words(kind: str, counted: str, words: str) -> None:
    assert (view(kind).kind, view(kind).words) == (counted, words)


def test_blocks_hold_pairs_then_tests_with_all_answers() -> None:
    labels = [(b.title, [t.label for t in b.tiles]) for b in blocks(view("ambiguous"))]
    assert labels == [
        ("train 1", ["input", "output"]),
        ("train 2", ["input", "output"]),
        ("test 1", ["input", "answer A", "answer B"]),
    ]
    assert [t.label for t in blocks(view("right"))[-1].tiles] == ["input", "answer"]
    assert [t.label for t in blocks(view("wrong"))[-1].tiles] == ["input", "answer", "expected"]


@pytest.mark.parametrize(
    ("stage", "value", "expected"),
    [
        (ValueStage.GRID, TWO, TWO),
        (ValueStage.OBJECTS, (), "no objects"),
        (ValueStage.OBJECTS, (Piece(0, 1, 1, 1, b"\7"), Piece(0, 0, 1, 1, b"\3")),
         [[3, 7], [10, 10]]),
        (ValueStage.OBJECT, Piece(-1, -1, 2, 2, b"\1\2\3\4"), [[4, 10], [10, 10]]),
        (ValueStage.OBJECT, Piece(5, 5, 1, 2, b"\1\2"), [[1, 2]]),
        (ValueStage.COLOUR, 8, [[8]]),
        (ValueStage.COUNT, 12, "12"),
    ],
)  # fmt: skip
def test_every_stage_has_a_picture_or_words(
    stage: ValueStage, value: object, expected: object
) -> None:
    expected = Grid.of(expected) if isinstance(expected, list) else expected
    assert shown(stage, value, ONE) == expected  # type: ignore[arg-type]


@quick
@given(data=st.data(), stage=st.sampled_from(ValueStage))
def test_any_value_can_be_shown(data: st.DataObject, stage: ValueStage) -> None:
    value: Shown = shown(stage, data.draw(values(stage)), data.draw(grids()))
    page = build_page([view(answers=(answer(TWO, steps=(StepView("x", (value,)),)),))])
    assert "step by step" in page


# -- terminal --------------------------------------------------------------------------------


def printed(shown_view: TaskView, width: int = 80, **console: object) -> str:
    out = io.StringIO()
    terminal.show(shown_view, Console(file=out, width=width, **console))  # type: ignore[arg-type]
    return out.getvalue()


def test_terminal_without_colour_shows_digits() -> None:
    text = printed(view("ambiguous"), 60)
    assert [line.rstrip() for line in text.splitlines()] == [
        "aa  UNKNOWN: ambiguous  dddddddddddd",
        "",
        "train 1           train 2",
        "input   output    input   output",
        "12    → 456       456   → 12",
        "30                        30",
        "",
        "test 1",
        "input   answer A   answer B",
        "12    → 456        12",
        "30                 30",
        "",
        "program A  12.3 bits, 2 programs agree",
        "  a = input",
        "  return flip(a)",
        "",
        "program B  12.3 bits, 2 programs agree",
        "  a = input",
        "  return flip(a)",
    ]
    assert "\x1b" not in text


def test_terminal_respects_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    bright = {"force_terminal": True, "color_system": "truecolor"}
    assert "48;2;0;116;217" in printed(view(), **bright)
    assert "48;2" not in printed(view(), no_color=True, **bright)
    monkeypatch.setenv("NO_COLOR", "1")
    without = printed(view(), **bright)
    assert "48;2" not in without
    assert "456" in without


def test_terminal_makes_hostile_texts_visible() -> None:
    text = printed(view("budget", name=HOSTILE, note=HOSTILE, reason=HOSTILE, digest=HOSTILE))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\x1b[31m\\n\\u202e" in text


def read_back(lines: list[Text], cells: int) -> list[list[int]]:
    """Read the colours of cells from lines: the background of a space, both halves of a block."""
    rows: list[list[int]] = []
    for line in lines:
        above, below = [], []
        for at in range(0, line.cell_len, cells):
            style = line.get_style_at_offset(Console(), at)
            ink = terminal.INKS.index(style.color.name) if style.color else EMPTY
            ground = terminal.INKS.index(style.bgcolor.name) if style.bgcolor else EMPTY
            char = line.plain[at]
            above.append({"▀": ink, "▄": EMPTY, " ": ground}[char])
            below.append({"▀": ground, "▄": ink, " ": ground}[char])
        rows += [above] if cells == 2 else [above, below]
    return rows


@quick
@given(holed())
def test_terminal_shows_the_cells(grid: Grid) -> None:
    assert read_back(terminal.draw_cells(grid), 2) == grid.rows()
    halves = read_back(terminal.draw_halves(grid), 1)
    assert halves[: grid.height] == grid.rows()
    assert all(set(row) == {EMPTY} for row in halves[grid.height :])
    digits = [line.plain for line in terminal.draw_digits(grid)]
    assert digits == ["".join("." if c == EMPTY else str(c) for c in r) for r in grid.rows()]


@quick
@given(st.lists(grids(side=30), min_size=2, max_size=8), st.integers(31, 200), st.booleans())
def test_terminal_keeps_to_its_width(found: list[Grid], width: int, coloured: bool) -> None:
    pairs = tuple(Pair(a, b) for a, b in zip(found[::2], found[1::2], strict=False))
    wide = replace(view("bare"), pairs=pairs, tests=(found[0],))
    lines = list(terminal.lines(wide, width, coloured=coloured))
    assert max(line.cell_len for line in lines) <= width


# -- SVG and PNG -----------------------------------------------------------------------------

RECT = re.compile(r"M(\d+) (\d+)h(\d+)v(\d+)h-(\d+)z")
NS = "{http://www.w3.org/2000/svg}"


def grids_of(document: str) -> list[dict[tuple[int, int], int]]:
    """Read the cells back from the paths of each grid of an SVG."""
    grids_found = []
    for group in ElementTree.fromstring(document).findall(f"{NS}g"):
        cells: dict[tuple[int, int], int] = {}
        for path in group.findall(f"{NS}g/{NS}path"):
            colour = PALETTE.index(path.attrib["fill"])
            for c, r, w, h, back in RECT.findall(path.attrib["d"]):
                assert w == back
                for y in range(int(r), int(r) + int(h)):
                    for x in range(int(c), int(c) + int(w)):
                        assert (y, x) not in cells
                        cells[y, x] = colour
        grids_found.append(cells)
    return grids_found


def cells_of(grid: Grid) -> dict[tuple[int, int], int]:
    cells = enumerate(grid.cells)
    return {divmod(at, grid.width): colour for at, colour in cells if colour != EMPTY}


def sheet_of(grid: Grid) -> Sheet:
    cell = cell_size([grid])
    placed = PlacedGrid(0, 0, cell, grid, "")
    return Sheet(grid.width * cell + 1, grid.height * cell + 1, "", (placed,), ())


@quick
@given(holed())
def test_svg_shows_the_cells(grid: Grid) -> None:
    assert grids_of(svg.draw(sheet_of(grid))) == [cells_of(grid)]


def test_svg_of_a_task_holds_every_grid_and_says_what_it_shows() -> None:
    document = svg.task_svg(view("ambiguous"))
    tiles = [tile.grid for block in blocks(view("ambiguous")) for tile in block.tiles]
    assert grids_of(document) == [cells_of(grid) for grid in tiles]
    title = ElementTree.fromstring(document).findtext(f"{NS}title")
    assert title == "ARC task aa: 2 training pairs, 1 tests, UNKNOWN: ambiguous"
    assert "answer B" in document


def test_svg_makes_hostile_texts_inert() -> None:
    hostile = view("budget", name=HOSTILE, reason=HOSTILE)
    document = svg.task_svg(hostile)
    ElementTree.fromstring(document)
    assert "<script" not in document
    assert "\x1b" not in document


def test_large_areas_are_one_rectangle() -> None:
    grid = Grid(30, 30, bytes(900))
    assert list(rectangles(grid, 0)) == [(0, 0, 30, 30)]


@quick
@given(holed())
def test_png_shows_the_cells(grid: Grid) -> None:
    data = png.draw(sheet_of(grid))
    assert data == png.draw(sheet_of(grid))
    image = Image.open(io.BytesIO(data)).convert("RGB")
    cell = cell_size([grid])
    for at, colour in enumerate(grid.cells):
        row, col = divmod(at, grid.width)
        pixel = image.getpixel((col * cell + cell // 2, row * cell + cell // 2))
        assert pixel == (png.NO_CELL if colour == EMPTY else rgb(colour))


def test_png_of_a_task_has_the_size_of_its_sheet() -> None:
    for kind in ("bare", "ambiguous", "wrong"):
        sheet = task_sheet(view(kind))
        assert Image.open(io.BytesIO(png.task_png(view(kind)))).size == (sheet.width, sheet.height)


# -- the report's page -----------------------------------------------------------------------


@quick
@given(st.lists(holed(), min_size=1, max_size=6))
def test_page_cuts_every_grid_from_its_image(found: list[Grid]) -> None:
    sprites = Sprites()
    cuts = [sprites.place(grid) for grid in [*found, *found]]
    assert cuts[: len(found)] == cuts[len(found) :]
    encoded = sprites.style().split("base64,")[1].rstrip(")")
    image = Image.open(io.BytesIO(base64.b64decode(encoded)))
    assert image.width == 30
    for grid, cut in zip(found, cuts, strict=False):
        w, h, y = map(int, re.findall(r"--[why]:(\d+)", cut))
        assert image.crop((0, y, w, y + h)).tobytes() == grid.cells
        assert (h, w) == (grid.height, grid.width)


def test_page_shows_wrong_solved_ambiguous_first() -> None:
    kinds = ("budget", "ambiguous", "solved", "wrong")
    page = build_page([view(kind, name=f"task-{kind}") for kind in kinds])
    places = [page.index(f"task-{kind}") for kind in kinds]
    assert places == sorted(places, reverse=True)
    for words in ("12.3 bits, 2 programs agree", "nearest program, not an answer", "answer B"):
        assert words in page


def test_page_without_tasks_is_a_page() -> None:
    assert "<dt>puzzles</dt><dd>0</dd>" in build_page([])


def test_page_makes_hostile_texts_inert() -> None:
    steps = (StepView(HOSTILE, (HOSTILE, ONE)),)
    bad = AnswerView((HOSTILE,), 1, (TWO,), 1, steps, (HOSTILE,))
    page = build_page(
        [view("budget", name=HOSTILE, note=HOSTILE, reason=HOSTILE, digest=HOSTILE, nearest=bad)]
        * 2,
        max_bytes=20_000,
    )
    assert "<script" not in page
    assert "\x1b" not in page
    assert "&lt;script&gt;" in page


def test_page_of_a_whole_split_stays_small_and_names_what_it_leaves_out() -> None:
    tasks = load("arc-agi-1", "training").tasks
    steps = tuple(StepView("b = step(a)", (t.train[0].input,)) for t in tasks[:3])
    views = [
        replace(TaskView.of(t), outcome="SOLVED", answers=(answer(*t.test, steps=steps),))
        for t in tasks
    ]
    for limit in (20_000, 100_000, 300_000):
        page = build_page(views, max_bytes=limit)
        drawn = page.count("<article")
        assert limit * 0.7 < len(page.encode()) <= limit
        assert f"{400 - drawn:,} tasks not drawn here" in page
        assert all(task.name in page for task in tasks)
    assert drawn > 150
    everything = build_page(views, max_bytes=MAX_PAGE_BYTES)
    assert everything.count("<article") == 400
    assert "not drawn" not in everything


def test_page_in_a_browser_filters_fits_and_complains_of_nothing(
    tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    kinds = ("budget", "ambiguous", "solved", "solved", "wrong")
    views = [view(kind, name=f"task-{i}") for i, kind in enumerate(kinds)]
    css = files("weft.inspect.report").joinpath("templates/report.css").read_text("utf-8")
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    path = tmp_path / "page.html"
    path.write_text(
        "<!doctype html><meta charset=utf-8>"
        f'<meta http-equiv=Content-Security-Policy content="{policy}">'
        f"<meta name=viewport content=width=device-width><style>{css}</style>"
        f"<main>{build_page(views)}</main>",
        encoding="utf-8",
    )
    script = "[...document.querySelectorAll('.arc article')].filter(a => a.offsetParent).length"
    with started(require_tool("chromium-headless-shell"), tmp_path / "profile") as browser:
        for width in (1300, 390):
            with browser.open(path, width=width) as tab:
                counts = []
                for i in ("", "0", "1", "2", "3"):
                    tab.js(f"document.querySelector('label[for=arc-f{i}]').click()")
                    counts.append(tab.js(script))
                assert counts == [5, 1, 2, 1, 1]
                grid = "getComputedStyle(document.querySelector('.arc article i'))"
                assert "data:image/png" in tab.js(f"{grid}.backgroundImage")
                assert tab.js(f"{grid}.width") == "32px"
                assert not tab.overflows()
                assert tab.complaints() == []
