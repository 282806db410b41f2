"""`weft doctor`: is this machine fit to run searches, and what to do if not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.console import options, render

if TYPE_CHECKING:
    from weft.doctor.finding import Check

FOUND_PROBLEMS = 1
STYLES = {"ok": "green", "note": "yellow", "problem": "bold red"}


def doctor(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where runs would go; nothing is left there.")
    ] = Path(),
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,  # noqa: ARG001 - main looks for -vv
) -> None:
    """Check that this machine can run searches, and say what to do if it cannot.

    Looks at Python and packages, the machine, the folder that runs go to, and runs a small search
    whose head is known. Exit code 0 when nothing is a problem (notes are none), 1 otherwise.
    """
    from weft.doctor.examine import examine  # noqa: PLC0415 - slow to import
    from weft.doctor.finding import Health  # noqa: PLC0415

    checks = []
    for check in examine(out):
        checks.append(check)
        if not as_json:
            _show(check)
    health = Health(tuple(checks))
    if as_json:
        render.print_json(health.to_dict())
    else:
        problems = "no problem" if not health.problems else f"{health.problems} with a problem"
        render.out(f"{len(checks)} checks, {problems}")
    raise typer.Exit(FOUND_PROBLEMS if health.problems else 0)


def _show(check: Check) -> None:
    line = f"{check.name:12} {render.one_line(check.found)}"
    if check.next:
        line += f"; {render.one_line(check.next)}"
    if not render.is_terminal(sys.stdout):
        print(f"{check.verdict:8}{line}", flush=True)
        return
    from rich.text import Text  # noqa: PLC0415 - slow to import

    verdict = Text(f"{check.verdict:8}", style=STYLES[check.verdict])
    render.console(sys.stdout).print(verdict.append(line, style="default"), soft_wrap=True)
