"""`weft hello`: parses, runs, prints.

weft hello "hello, world" --out runs/hello
weft hello "hello, world" --out runs/hello --workers 4 --seed 7 --json
"""

from typing import Annotated

import typer

from weft.console import options, render
from weft.console.execution import ExecutionOptions, OutputOptions
from weft.console.groups import with_groups
from weft.console.progress import resumable, watching
from weft.inspect.products import summary_lines
from weft.runs.run import run_search
from weft_hello.request import Request
from weft_hello.search import evolve

app = typer.Typer(add_completion=False, rich_markup_mode=None)

Text = Annotated[str, typer.Argument(metavar="TEXT", help="What to find: letters and , . ! ? ' -")]
Families = Annotated[int, options.decision("N", "Tasks in a generation.")]
Children = Annotated[int, options.decision("N", "Copies that a task makes of the parent.")]
Generations = Annotated[int, options.decision("N", "Give up after so many.")]


@app.command()
@with_groups
def hello(
    text: Text,
    out: options.Out,
    families: Families = 4,
    children: Children = 25,
    generations: Generations = 500,
    seed: options.Seed = 0,
    *,
    execution: ExecutionOptions,
    output: OutputOptions,
) -> None:
    """Find a text again by mutation and selection.

    Exit code 0 when it was found, 1 when the generations were not enough.
    """
    request = Request(text, families, children, generations)
    search = evolve(request.text, request.families, request.children, request.generations)
    how = execution.execution(out)
    with watching(output.quiet, output.verbose) as watcher, resumable(out):
        run = run_search(search, how, seed=seed, watcher=watcher)
    lines = () if output.as_json else summary_lines(run.out, run.search)
    render.show_run(run, as_json=output.as_json, lines=lines)
    raise typer.Exit(run.exit_code)
