"""`weft doctor`: is this machine fit to run searches, and what to do if not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from weft.console import options, render
from weft.lazy_imports import lazy_imports

with lazy_imports():
    from weft.doctor import examine, result, terminal

PROBLEMS_EXIT_CODE = 1


def doctor(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for runs; nothing is left there.")
    ] = Path(),
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,  # noqa: ARG001 - main reads -vv
) -> None:
    """Check that this machine can run searches, and how to fix what is wrong.

    Checks Python and packages, the machine and the output folder, and runs a small search with a
    known head. Exit code 0 if there is no problem (notes are fine), 1 otherwise.
    """
    results = []
    for check in examine.examine(out):
        results.append(check)
        if not as_json:
            _print_result(check)
    health = result.Health(tuple(results))
    if as_json:
        render.print_json(health.to_dict())
    else:
        problems = "no problem" if not health.problems else f"{health.problems} with a problem"
        render.out(f"{len(results)} checks, {problems}")
    raise typer.Exit(PROBLEMS_EXIT_CODE if health.problems else 0)


def _print_result(check: result.CheckResult) -> None:
    line = f"{check.name:12} {render.one_line(check.detail)}"
    if check.next:
        line += f"; {render.one_line(check.next)}"
    if render.is_terminal(sys.stdout):
        terminal.print_result(check.verdict, line)
    else:
        print(f"{check.verdict:8}{line}", flush=True)
