"""`weft demo`: the first minute. Four small searches, each run twice, and their heads compared."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.console import options, render
from weft.console.progress import watching
from weft.errors import BugError
from weft.lazy_imports import lazy_imports, require

with lazy_imports():
    from weft.demo import drawing, parts, picture
    from weft.searches.arc import recorded, runview
    from weft.searches.arc.views import terminal
    from weft.searches.tree import run as tree_run

if TYPE_CHECKING:
    from weft.runs.outcome import Run

SHOWN_DRAWS = 8


def demo(
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for the runs. Default: a new one."),
    ] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Run four small searches with one worker and with two, and compare.

    Both runs of each search must end with the same head, a fingerprint of everything it decided.
    One run is killed halfway and resumed.
    """
    require("weft demo", "arc", "prng", "tree")
    if out is not None:
        parts.check_unused(out)
    place = Path(tempfile.mkdtemp(prefix="weft-demo-")) if out is None else out
    results = []
    for part in parts.PARTS:
        results.append(_execute(part, place, quiet or as_json, verbose))
        if not as_json:
            _print_result(results[-1])
    if as_json:
        equal = all(result.equal for result in results)
        render.print_json({"equal": equal, "parts": [result.to_dict() for result in results]})
    else:
        _print_end(results, place)
    _check(results)


def _execute(part: parts.DemoPart, place: Path, quiet: bool, verbose: int) -> parts.PartResult:
    say = _silent if quiet else render.message
    say(f"{part.title}: two runs into {place / part.name}")
    with watching(quiet, verbose) as watcher:
        return parts.execute(part, place, watcher, say)


def _silent(line: str) -> None:
    """Print nothing."""


def _check(results: list[parts.PartResult]) -> None:
    for result in results:
        if not result.equal:
            command = render.command("diff", result.one_worker.out, result.two_workers.out)
            raise BugError(f"the two runs of {result.part.name} differ", hint=command)


# -- printing -----------------------------------------------------------------------------------


def _print_result(result: parts.PartResult) -> None:
    """Print the answer of a part, then its two heads below each other."""
    views: dict[str, Callable[[Run], None]] = {
        "picture": _print_picture,
        "puzzle": _print_puzzle,
        "tree": _print_tree,
        "seed": _print_seed,
    }
    one_worker, two_workers = result.one_worker, result.two_workers
    views[result.part.name](two_workers)
    render.out(f"1 worker   head {one_worker.size} {one_worker.head}")
    note = "  killed, then resumed" if result.killed else ""
    render.out(f"2 workers  head {two_workers.size} {two_workers.head}{note}")
    render.out()


def _print_end(results: list[parts.PartResult], place: Path) -> None:
    if all(result.equal for result in results):
        render.out("equal: with one worker or two, killed or not, the ledgers match byte for byte")
    for result in results:
        render.out(f"report  {result.report}")
    last = results[-1].two_workers.out
    render.out(f"next    {render.command('verify', last)}, or {render.command('serve', place)}")


def _print_picture(run: Run) -> None:
    if render.is_terminal(sys.stdout):
        drawing.draw(picture.target(), picture.paint(run.answer["strips"]))
    tasks = f"{run.completed + run.failed} tasks placed {run.answer['count']} rectangles"
    render.out(f"picture: {tasks}; {run.answer['error'] / 10:.1f} % of the error remains")


def _print_puzzle(run: Run) -> None:
    """Draw the puzzle, its answer, and the result of every step of the program."""
    view = runview.view_of(recorded.read_run(run.out).items[0])
    terminal.show(view, render.console(sys.stdout), steps=True)
    program = "; ".join(view.answers[0].program) if view.answers else "no program"
    render.out()
    render.out(f"puzzle: {view.name} {view.outcome} by {program}")


def _print_tree(run: Run) -> None:
    """Print the nodes of the tree, each with its score, and the ideas refused for tampering."""
    history = tree_run.load_tree_run(run.out).history
    for node in history.nodes:
        change = node.idea.name if node.idea else "the files as they are"
        render.out(f"  {node.score_text:>6} bytes  {'+ ' * bool(node.idea)}{change}")
    for evaluation in history.evals:
        if evaluation.refused == "tampered":
            where = f"{evaluation.idea.name} on n{evaluation.parent.node_id}"
            render.out(f"  refused       {where}: tampered")
    answer = run.answer
    scores = f"{answer['root_score']} to {answer['best_score']} bytes"
    render.out(f"tree: {answer['evals']} evals shrank the compressed text from {scores}")


def _print_seed(run: Run) -> None:
    """Print the seed and the draws it predicts, above the true ones."""
    best = run.answer["found"][0]
    seed = parts.java_seed(int(best["hypothesis"]["state"], 16))
    predicted, true = best["next"][:SHOWN_DRAWS], parts.true_next(SHOWN_DRAWS)
    skip = best["hypothesis"]["skips"]["between"][0]
    render.out(f"  predicted {_numbers(predicted)}")
    render.out(f"  true      {_numbers(true)}")
    draws = f"{parts.DRAWS} draws, {parts.WRONG} wrong"
    render.out(f"seed: new Random({seed}), {skip} calls skipped, from {draws}")


def _numbers(draws: list[int]) -> str:
    return " ".join(f"{draw:3}" for draw in draws)
