"""`weft demo`: the first minute. Runs the shipped search twice and compares the heads."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli import options, render
from weft.cli.progress import watching
from weft.errors import BugError, RunFolderInvalid

if TYPE_CHECKING:
    from weft.wiring.outcome import Run

FOLDERS = {1: "one-worker", 2: "two-workers"}


def demo(
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where to put the two runs; a new folder by default."),
    ] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Paint a small picture by a parallel search, with one and with two workers.

    Both runs must end with the same head: the fingerprint of everything that was decided.
    """
    place = _fresh(out)
    if not quiet and not as_json:
        render.message(f"two runs of the search weft.demo:picture into {place}")
    one, two = (_run(place / FOLDERS[n], n, quiet, verbose) for n in FOLDERS)
    if as_json:
        render.print_json({"equal": one.head == two.head, "runs": [one.to_dict(), two.to_dict()]})
    else:
        _show(one, two)
    if one.head != two.head:
        raise BugError("the two runs differ", hint=render.command("diff", one.out, two.out))


def _fresh(out: Path | None) -> Path:
    """Return a folder without runs: the demo shows work being done, not read back."""
    if out is None:
        return Path(tempfile.mkdtemp(prefix="weft-demo-"))
    if any((out / name).exists() for name in FOLDERS.values()):
        raise RunFolderInvalid(f"{out} holds an earlier demo", hint="choose a new --out")
    return out


def _run(out: Path, workers: int, quiet: bool, verbose: int) -> Run:
    from weft.demo import picture  # noqa: PLC0415
    from weft.wiring.run import run  # noqa: PLC0415 - slow to import

    with watching(quiet, verbose) as watcher:
        return run(picture(), out=out, workers=workers, watcher=watcher)


def _show(one: Run, two: Run) -> None:
    from weft.demo import paint, target  # noqa: PLC0415

    if render.is_terminal(sys.stdout):
        _draw(target(), paint(one.answer["strips"]))
    error = one.answer["error"]
    tasks = one.completed + one.failed
    found = f"{tasks} tasks found {one.answer['count']} rectangles"
    render.out(f"{found}; {error / 10:.1f} % of the error is left")
    render.out(f"1 worker   head {one.size} {one.head}")
    render.out(f"2 workers  head {two.size} {two.head}")
    if one.head == two.head:
        render.out("equal: whoever did the work, the same was decided, byte for byte")
        render.out(f"next: {render.command('verify', two.out)}")


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
