"""`weft pack`: a run in one text, to be handed over."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weft.console import options, render
from weft.console.execution import ViewOptions
from weft.console.groups import with_groups
from weft.lazy_imports import lazy_imports

with lazy_imports():
    from weft.inspect.pack import markdown, packing

DAMAGED = 5


@with_groups
def pack(
    run: options.RunArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write a folder with all that repeating the run needs, too."
        ),
    ] = None,
    replay: Annotated[
        bool, typer.Option("--replay", help="Run every function task again, to check the ledger.")
    ] = False,
    *,
    output: ViewOptions,
) -> None:
    """Describe a run so that someone else can continue it: a status pack in Markdown.

    What was asked, commands to repeat it, results, failures with examples, telemetry, invariants
    and how each was checked, the head, open ends. --json prints the same for programs.
    Exit code 0, and 5 when the run is damaged, which the pack then says.
    """
    packed = packing.make_pack(run, out, replayed=replay)
    if output.as_json:
        render.print_json(packed.to_dict())
    else:
        render.out(markdown.to_markdown(packed).rstrip("\n"))
    raise typer.Exit(0 if packed.sound else DAMAGED)
