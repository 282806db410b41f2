"""The report's page of an ARC run: every task with its grids, outcome, programs and steps.

Pure: views in, markup out. The report's policy allows the page no script: its filter is a row of
radio buttons styled by CSS, and its search box is the report's. The grids of a task are cut from
one small image. Tasks that do not fit into `max_bytes` are named instead of drawn; wrong, solved
and ambiguous tasks come first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.resources import files

from markupsafe import Markup, escape

from weft.inspect.report.text import counted, visible
from weft.inspect.report.view import MAX_PAGE_BYTES
from weft.searches.arc.values import Grid
from weft.searches.arc.views.calibration import calibration
from weft.searches.arc.views.model import (
    AnswerView,
    PictureBlock,
    Shown,
    TaskView,
    Tile,
    blocks,
    letter,
    price,
)
from weft.searches.arc.views.sprites import Sprites

KINDS = ("wrong", "solved", "ambiguous", "incomplete", "budget", "no-program")
"""Kinds of tasks in the order of the page; other reasons follow, by name."""
BADGES = {"solved": "good", "wrong": "bad", "ambiguous": "paused"}
RESERVE_BYTES = 4_000
"""Space for everything but the tasks and the names of those left out."""
MAX_PROGRAM_LINES = 60
_FINDER = Markup(
    '<input class=find type=search data-finder placeholder="find by name, digest or outcome"'
    ' aria-label="find puzzles"> <span class=quiet data-found aria-live=polite></span>'
)
_STEPPER = Markup(
    '<p class="js stepper"><button type=button data-step-by=-1 aria-label="step before">←</button>'
    "<span data-step-said aria-live=polite></span>"
    '<button type=button data-step-by=1 aria-label="next step">→</button></p>'
)
"""The report's script drives `_FINDER` and `_STEPPER`: it hides articles without the words, and
shows one step at a time."""


def build_page(views: Sequence[TaskView], *, max_bytes: int = MAX_PAGE_BYTES) -> Markup:
    """Return the page of these tasks in at most `max_bytes` bytes of UTF-8."""
    kinds = _kinds(views)
    ordered = sorted(views, key=lambda view: (kinds.index(view.kind), view.name))
    kinds += _failures(views)
    style = _style(len(kinds))
    around = RESERVE_BYTES + len(style.encode()) + 200 * len(kinds)
    cards, left_out = _cards(ordered, kinds, max_bytes - around)
    return Markup("{}<div class=arc>{}{}{}{}{}<div class=tasks>{}</div></div>").format(
        style,
        _summary(views, _kinds(views)),
        calibration(views),
        _FINDER,
        _filters(views, kinds),
        _left_out(left_out),
        Markup("").join(cards),
    )


# -- around the tasks ------------------------------------------------------------------------


def _kinds(views: Sequence[TaskView]) -> list[str]:
    present = {view.kind for view in views}
    return [k for k in KINDS if k in present] + sorted(present - {*KINDS})


def _failures(views: Sequence[TaskView]) -> list[str]:
    return sorted({view.failure for view in views} - {""})


def _style(filters: int) -> Markup:
    rules = files("weft.searches.arc.views").joinpath("page.css").read_text("utf-8")
    chosen = [f"#arc-f{i}:checked~.tasks>:not(.k{i}){{display:none}}" for i in range(filters)]
    return Markup(f"<style>{rules}{''.join(chosen)}</style>")  # noqa: S704 - our own text


def _summary(views: Sequence[TaskView], kinds: Sequence[str]) -> Markup:
    figure = Markup("<div><dt>{}</dt><dd>{:,}</dd></div>")
    counts = [(kind, sum(view.kind == kind for view in views)) for kind in kinds]
    bars = [
        Markup('<i class="{}" style="flex-grow:{}"></i>').format(_colour(kind), count)
        for kind, count in counts
    ]
    figures = [figure.format(_title(kind), count) for kind, count in counts]
    return Markup(
        '<dl class="figures">{}{}</dl><div class="bar" aria-hidden="true">{}</div>'
    ).format(figure.format("puzzles", len(views)), Markup("").join(figures), Markup("").join(bars))


def _filters(views: Sequence[TaskView], kinds: Sequence[str]) -> Markup:
    button = Markup(
        '<input type="radio" name="arc-f" id="arc-f{}"{}>'
        '<label for="arc-f{}">{} <small>{:,}</small></label>'
    )
    buttons = [button.format("", Markup(" checked"), "", "all", len(views))]
    for i, kind in enumerate(kinds):
        count = sum(kind in (view.kind, view.failure) for view in views)
        buttons.append(button.format(i, "", i, _title(kind), count))
    return Markup("").join(buttons)


def _left_out(views: Sequence[TaskView]) -> Markup:
    if not views:
        return Markup("")
    names = ", ".join(visible(view.name) for view in views)
    notice = f"{counted(len(views), 'task')} not drawn here, the page would grow too large"
    return Markup(
        "<details class=left><summary>{}; <code>weft arc show RUN TASK</code> draws any of them"
        "</summary><p><code>{}</code></p></details>"
    ).format(notice, names)


def _title(kind: str) -> str:
    if kind in ("solved", "wrong", "unknown") or kind.isupper():  # a class of failure
        return kind.lower().replace("_", " ") if kind.isupper() else kind
    return f"unknown: {visible(kind)}"


def _colour(kind: str) -> str:
    states = {"solved": "completed", "wrong": "failed", "ambiguous": "ambiguous"}
    return states.get(kind, "queued")


# -- one task --------------------------------------------------------------------------------


def _cards(
    ordered: Sequence[TaskView], kinds: Sequence[str], room: int
) -> tuple[list[Markup], list[TaskView]]:
    """Draw tasks while there is room; return the cards, and the tasks that do not fit."""
    drawn: list[Markup] = []
    left_out: list[TaskView] = []
    names = sum(_name_bytes(view) for view in ordered)
    for view in ordered:
        card = _card(view, kinds) if names < room else Markup("")
        size = len(card.encode())
        if card and size + names - _name_bytes(view) <= room:
            drawn.append(card)
            room -= size
            names -= _name_bytes(view)
        else:
            left_out.append(view)
    return drawn, left_out


def _name_bytes(view: TaskView) -> int:
    return len(escape(visible(view.name)).encode()) + 2


def _card(view: TaskView, kinds: Sequence[str]) -> Markup:
    badge = Markup("")
    if view.outcome:
        badge = Markup('<span class="badge small {}">{}</span>').format(
            BADGES.get(view.kind, "quiet"), visible(view.words)
        )
    sprites = Sprites()
    label = f"{counted(len(view.pairs), 'training pair')}, {counted(len(view.tests), 'test')}"
    row = Markup("").join(_block(block, sprites) for block in blocks(view))
    programs = [_program(name, answer, sprites) for name, answer in _programs(view)]
    note = Markup("<p class=note>{}</p>").format(visible(view.note)) if view.note else ""
    return Markup(
        '<article class="{}" data-find="{}" style="{}"><h3>{}{}{}<small>{}</small></h3>{}'
        '<div class=row role=img aria-label="{}">{}</div>{}</article>'
    ).format(
        " ".join(f"k{i}" for i, kind in enumerate(kinds) if kind in (view.kind, view.failure)),
        f"{visible(view.name)} {view.digest[:12]} {visible(view.words)} {view.failure}".lower(),
        Markup(sprites.style()),  # noqa: S704 - numbers and base64
        visible(view.name),
        badge,
        _confidence(view),
        visible(view.digest[:12]),
        note,
        label,
        row,
        Markup("").join(programs),
    )


def _confidence(view: TaskView) -> Markup:
    """Show the confidence in the first answer, and whether the best guess is right if unsolved."""
    words = []
    if view.confidence_permille is not None:
        words.append(f"confidence {view.confidence_permille / 1000:g}")
    if view.truth and view.outcome != "SOLVED" and view.answers:
        words.append("best guess " + ("right" if view.best_is_right else "wrong"))
    return Markup("<em>{}</em>").format(", ".join(words)) if words else Markup("")


def _block(block: PictureBlock, sprites: Sprites) -> Markup:
    """Draw a pair; the style sheet adds its caption and the arrow."""
    if block.title.startswith("train"):
        tiles = [sprites.place(tile.grid) for tile in block.tiles]
        return Markup("<p>{}</p>").format(Markup("").join(tiles))
    named = [
        Markup("<span>{}{}</span>").format(_tile(tile, block, sprites), tile.label)
        for tile in block.tiles
    ]
    return Markup("<p class=q>{}</p>").format(Markup("").join(named))


def _tile(tile: Tile, block: PictureBlock, sprites: Sprites) -> Markup:
    """Draw a grid; a difference is drawn over its answer, which is faint."""
    drawn = sprites.place(tile.grid)
    if tile.label != "difference":
        return drawn
    return Markup("<b class=over>{}{}</b>").format(sprites.place(block.tiles[1].grid), drawn)


def _programs(view: TaskView) -> Iterator[tuple[str, AnswerView]]:
    for i, answer in enumerate(view.answers):
        yield "program" if len(view.answers) == 1 else f"program {letter(i)}", answer
    if view.nearest is not None:
        yield "nearest program, not an answer", view.nearest


def _program(name: str, answer: AnswerView, sprites: Sprites) -> Markup:
    lines = [visible(line) for line in answer.program[:MAX_PROGRAM_LINES]]
    if len(answer.program) > MAX_PROGRAM_LINES:
        lines.append(f"… {len(answer.program) - MAX_PROGRAM_LINES} more lines")
    return Markup("<section><h4>{} <small>{}</small></h4><pre>{}</pre>{}</section>").format(
        name, price(answer), "\n".join(lines), _steps(answer, sprites)
    )


def _steps(answer: AnswerView, sprites: Sprites) -> Markup:
    if not answer.steps:
        return Markup("")
    head = ", ".join(visible(text) for text in answer.inputs)
    steps = [
        Markup("<li data-step><code>{}</code><div>{}</div>").format(
            visible(step.line), Markup("").join(_value(value, sprites) for value in step.values)
        )
        for step in answer.steps[:MAX_PROGRAM_LINES]
    ]
    return Markup(
        "<details><summary>step by step{}</summary><div data-steps tabindex=0 role=group"
        ' aria-label="steps; the arrow keys go through them">{}<ol>{}</ol></div></details>'
    ).format(f": {head}" if head else "", _STEPPER, Markup("").join(steps))


def _value(value: Shown, sprites: Sprites) -> Markup:
    if isinstance(value, Grid):
        return sprites.place(value)
    return Markup("<span class=word>{}</span>").format(visible(value))
