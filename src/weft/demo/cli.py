"""`weft demo`: the first minute. Four small searches, each run twice, and their heads compared."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.console import options, render
from weft.console.progress import watching
from weft.errors import BugError

if TYPE_CHECKING:
    from weft.demo.parts import Part, Shown
    from weft.runs.outcome import Run

SHOWN_DRAWS = 8


def demo(
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where to put the runs; a new folder by default."),
    ] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Run four small searches with one and with two workers: a picture, a puzzle, code, a seed.

    Both runs of each must end with the same head: the fingerprint of everything that was
    decided. One run is killed on the way and resumed.
    """
    from weft.demo import parts  # noqa: PLC0415 - slow to import
    from weft.searches.arc.compile import compile_kernels  # noqa: PLC0415

    if out is not None:
        parts.fresh(out)
    compile_kernels(_silent if quiet else render.message)
    place = Path(tempfile.mkdtemp(prefix="weft-demo-")) if out is None else out
    shown = []
    for part in parts.PARTS:
        shown.append(_perform(part, place, quiet or as_json, verbose))
        if not as_json:
            _show(shown[-1])
    if as_json:
        equal = all(each.equal for each in shown)
        render.print_json({"equal": equal, "parts": [each.to_dict() for each in shown]})
    else:
        _close(shown, place)
    _check(shown)


def _perform(part: Part, place: Path, quiet: bool, verbose: int) -> Shown:
    from weft.demo import parts  # noqa: PLC0415

    say = _silent if quiet else render.message
    say(f"{part.title}: two runs into {place / part.name}")
    with watching(quiet, verbose) as watcher:
        return parts.perform(part, place, watcher, say)


def _silent(line: str) -> None:
    """Say nothing."""


def _check(shown: list[Shown]) -> None:
    for each in shown:
        if not each.equal:
            again = render.command("diff", each.one.out, each.two.out)
            raise BugError(f"the two runs of {each.part.name} differ", hint=again)


# -- saying -------------------------------------------------------------------------------------


def _show(shown: Shown) -> None:
    """Print what a part found, then its two heads below each other."""
    views: dict[str, Callable[[Run], None]] = {
        "picture": _show_picture, "puzzle": _show_puzzle, "tree": _show_tree, "seed": _show_seed,
    }  # fmt: skip
    views[shown.part.name](shown.two)
    render.out(f"1 worker   head {shown.one.size} {shown.one.head}")
    note = "  killed, then resumed" if shown.killed else ""
    render.out(f"2 workers  head {shown.two.size} {shown.two.head}{note}")
    render.out()


def _close(shown: list[Shown], place: Path) -> None:
    if all(each.equal for each in shown):
        render.out("equal: whoever did the work, the same was decided, byte for byte")
    for each in shown:
        render.out(f"report  {each.report}")
    last = shown[-1].two.out
    render.out(f"next    {render.command('verify', last)}, or {render.command('serve', place)}")


def _show_picture(run: Run) -> None:
    from weft.demo.picture import paint, target  # noqa: PLC0415

    if render.is_terminal(sys.stdout):
        _draw(target(), paint(run.answer["strips"]))
    found = f"{run.completed + run.failed} tasks found {run.answer['count']} rectangles"
    render.out(f"picture: {found}; {run.answer['error'] / 10:.1f} % of the error is left")


def _show_puzzle(run: Run) -> None:
    """Draw the puzzle, its answer, and what every step of the program gives."""
    from weft.searches.arc.recorded import read_run  # noqa: PLC0415 - slow to import
    from weft.searches.arc.runview import view_of  # noqa: PLC0415
    from weft.searches.arc.views import terminal  # noqa: PLC0415

    view = view_of(read_run(run.out).items[0])
    terminal.show(view, render.console(sys.stdout), steps=True)
    program = "; ".join(view.answers[0].program) if view.answers else "no program"
    render.out()
    render.out(f"puzzle: {view.name} {view.outcome} by {program}")


def _show_tree(run: Run) -> None:
    """Print the states that were kept, each with its score, and what was refused."""
    from weft.searches.tree.run import load_tree_run  # noqa: PLC0415 - slow to import

    history = load_tree_run(run.out).history
    for node in history.nodes:
        what = node.idea.name if node.idea else "the files as they are"
        render.out(f"  {node.score_text:>6} bytes  {'+ ' * bool(node.idea)}{what}")
    for each in history.evals:
        if each.refused == "tampered":
            render.out(f"  refused       {each.idea.name} on n{each.parent.node_id}: tampered")
    answer = run.answer
    scores = f"{answer['root_score']} to {answer['best_score']} bytes"
    render.out(f"tree: {answer['evals']} evals brought the compressed text from {scores}")


def _show_seed(run: Run) -> None:
    """Print the seed that was found and the draws it predicts, beside the true ones."""
    from weft.demo.parts import DRAWS, WRONG, true_next  # noqa: PLC0415
    from weft.searches.prng.families.java import seeding  # noqa: PLC0415

    best = run.answer["found"][0]
    (seed,) = seeding(int(best["hypothesis"]["state"], 16))  # scrambling undoes itself
    coming, true = best["next"][:SHOWN_DRAWS], true_next(SHOWN_DRAWS)
    skip = best["hypothesis"]["skips"]["between"][0]
    render.out(f"  predicted {_numbers(coming)}")
    render.out(f"  true      {_numbers(true)}")
    render.out(f"seed: new Random({seed}), {skip} calls skipped, from {DRAWS} draws, {WRONG} wrong")


def _numbers(draws: list[int]) -> str:
    return " ".join(f"{draw:3}" for draw in draws)


def _draw(wanted: Any, found: Any) -> None:
    """Draw two pictures side by side, two pixels to a character."""
    from rich.color import Color  # noqa: PLC0415 - slow to import
    from rich.segment import Segment, Segments  # noqa: PLC0415
    from rich.style import Style  # noqa: PLC0415

    def half_block(upper: tuple[int, int, int], lower: tuple[int, int, int]) -> Segment:
        style = Style(color=Color.from_rgb(*upper), bgcolor=Color.from_rgb(*lower))
        return Segment("▀", style)

    console = render.console(sys.stdout)
    if console.no_color or console.color_system is None or console.width < 2 * len(wanted[0]) + 6:
        return
    for y in range(0, len(wanted), 2):
        line = []
        for picture in (wanted, found):
            line += [half_block(*pair) for pair in zip(picture[y], picture[y + 1], strict=True)]
            line.append(Segment("   "))
        console.print(Segments([*line, Segment.line()]), end="")
    console.print()
