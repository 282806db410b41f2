"""`weft prng`: its commands, each in a file of its own."""

from __future__ import annotations

import typer

from weft.searches.prng import (
    clianalyse as prnganalyse,
)
from weft.searches.prng import (
    climake as prngmake,
)
from weft.searches.prng import (
    clipipeline as prngpipe,
)

app = typer.Typer(
    name="prng",
    help="Which generator and seed produced these draws, and what comes next?",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for _command in (
    prnganalyse.analyse,
    prngpipe.pipeline,
    prngpipe.adapt,
    prngmake.generate,
    prngmake.families,
):
    app.command()(_command)


@app.callback()
def _prng() -> None:
    """Find the generator and the seed behind draws, and what comes next."""
