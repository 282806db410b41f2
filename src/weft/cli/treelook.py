"""`weft tree transcript`: what was said on the way to a node."""

from __future__ import annotations

from typing import Annotated

import typer

from weft.cli import options, render


def transcript(
    run: options.RunArgument,
    node: Annotated[str, typer.Argument(metavar="NODE", help="A node, such as n3.")],
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,  # noqa: ARG001 - main looks for -vv
) -> None:
    """Print the transcript of a node: its ancestors' turns, then its own, oldest first."""
    from weft.wiring.treetalk import turns_of  # noqa: PLC0415 - slow to import

    turns = turns_of(run, node)
    if as_json:
        render.print_json({"run": str(run), "node": node, "turns": [t.to_dict() for t in turns]})
        return
    for turn in turns:
        render.out(f"{turn.role}: {turn.text}")
