"""The options of `weft tree`, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli import options

Config = Annotated[Path, typer.Argument(metavar="CONFIG", help="The search's tree.toml.")]
Settings = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any field of the config, its value as in TOML: --set score.timeout_s=5. Repeatable.",
        rich_help_panel=options.DECIDES,
    ),
]


def _count(text: str) -> Any:
    return typer.Option(metavar="N", help=text, rich_help_panel=options.DECIDES)


BeamWidth = Annotated[int | None, _count("How many evals of a depth become nodes.")]
IdeasPerNode = Annotated[int | None, _count("Ideas tried on each node.")]
MaxDepth = Annotated[int | None, _count("How many ideas may stand on top of each other.")]
MaxTotalEvals = Annotated[int | None, _count("Evals of the whole search.")]
EvalRetries = Annotated[int | None, _count("More attempts after a time-out or exit code 75.")]
RootRepeats = Annotated[int | None, _count("Scorings of the root, whose spread is the noise band.")]
ReviewRounds = Annotated[int | None, _count("How often an idea is implemented until approved.")]
EvalTimeout = Annotated[
    float | None,
    typer.Option(metavar="S", help="Seconds for a stage.", rich_help_panel=options.DECIDES),
]
Scope = Annotated[
    str | None,
    typer.Option(
        metavar="node|ancestors|global|none",
        help="Where an idea with the same text is not tried again.",
        rich_help_panel=options.DECIDES,
    ),
]
StrictDepth = Annotated[
    bool | None,
    typer.Option(
        "--strict-fail-depth/--no-strict-fail-depth",
        help="The first failed eval ends the search.",
        show_default=False,
        rich_help_panel=options.DECIDES,
    ),
]
StopOnEmpty = Annotated[
    bool | None,
    typer.Option(
        "--stop-on-empty-frontier/--no-stop-on-empty-frontier",
        help="End when a depth promotes nothing, or try the next ideas on the same nodes.",
        show_default=False,
        rich_help_panel=options.DECIDES,
    ),
]
Parallel = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Evals at a time: 1 if not said.", rich_help_panel=options.CARRIES_OUT
    ),
]
PerNode = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Evals at a time of one node.", rich_help_panel=options.CARRIES_OUT
    ),
]
ParallelBackend = Annotated[
    str | None,
    typer.Option(
        "--parallel-backend",
        "--backend",
        metavar="serial|local|ray",
        help="Who runs evals: one after the other, workers of this machine (also called"
        " threadpool), or a Ray cluster.",
        rich_help_panel=options.CARRIES_OUT,
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Run the whole engine with made-up outcomes; no command of the config is run.",
        rich_help_panel=options.DECIDES,
    ),
]


Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="The run's folder.", rich_help_panel=options.CARRIES_OUT),
]
CheckParity = Annotated[
    bool,
    typer.Option(
        "--check-parity",
        help="Run it again with another number of workers and compare the ledgers.",
        rich_help_panel=options.CARRIES_OUT,
    ),
]
ValidateOnly = Annotated[
    bool,
    typer.Option(
        "--validate-only",
        help="Check config, repository, ideas, protected paths and commands, and score the root"
        " twice; with --out the table is written there.",
        rich_help_panel=options.CARRIES_OUT,
    ),
]
ReportOnly = Annotated[
    bool,
    typer.Option(
        "--report-only",
        help="Write the summary of the run that is there again; nothing is run.",
        rich_help_panel=options.CARRIES_OUT,
    ),
]


Area = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Note ideas and what came of them in the index of this area, for later runs.",
        rich_help_panel=options.CARRIES_OUT,
    ),
]
FeedIndex = Annotated[
    bool | None,
    typer.Option(
        "--feed-index/--no-feed-index",
        help="Tell the proposing command what earlier runs of the area found.",
        show_default=False,
        rich_help_panel=options.DECIDES,
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="off|replay",
        help="Whether commands get the transcript of the way to their node.",
        rich_help_panel=options.DECIDES,
    ),
]
ImportFrom = Annotated[
    Path | None,
    typer.Option(
        metavar="RUN",
        help="Take over completed evals of an earlier run: same parent commit, same idea.",
        rich_help_panel=options.DECIDES,
    ),
]
KeepRejected = Annotated[
    bool,
    typer.Option(
        "--keep-rejected-worktrees",
        help="Write the files of evals that were not promoted to RUN/kept.",
        rich_help_panel=options.CARRIES_OUT,
    ),
]
KeepFailed = Annotated[
    bool,
    typer.Option(
        "--keep-failed-artifacts",
        help="Keep the folders of failed attempts in RUN/kept.",
        rich_help_panel=options.CARRIES_OUT,
    ),
]
