"""The options of `weft tree`, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weft.console import options

Config = Annotated[Path, typer.Argument(metavar="CONFIG", help="The search's tree.toml.")]
Settings = Annotated[
    list[str],
    options.decision(
        "NAME=VALUE",
        "Any field of the config, its value as in TOML: --set score.timeout_s=5. Repeatable.",
        "--set",
    ),
]
BeamWidth = Annotated[int | None, options.decision("N", "How many evals of a depth become nodes.")]
IdeasPerNode = Annotated[int | None, options.decision("N", "Ideas tried on each node.")]
MaxDepth = Annotated[
    int | None, options.decision("N", "How many ideas may stand on top of each other.")
]
MaxTotalEvals = Annotated[int | None, options.decision("N", "Evals of the whole search.")]
EvalRetries = Annotated[
    int | None, options.decision("N", "More attempts after a time-out or exit code 75.")
]
RootRepeats = Annotated[
    int | None, options.decision("N", "Scorings of the root, whose spread is the noise band.")
]
ReviewRounds = Annotated[
    int | None, options.decision("N", "How often an idea is implemented until approved.")
]
EvalTimeout = Annotated[float | None, options.decision("S", "Seconds for a stage.")]
Scope = Annotated[
    str | None,
    options.decision(
        "node|ancestors|global|none", "Where an idea with the same text is not tried again."
    ),
]
StrictDepth = Annotated[
    bool | None,
    options.decision(
        None,
        "The first failed eval ends the search.",
        "--strict-fail-depth/--no-strict-fail-depth",
        show_default=False,
    ),
]
StopOnEmpty = Annotated[
    bool | None,
    options.decision(
        None,
        "End when a depth promotes nothing, or try the next ideas on the same nodes.",
        "--stop-on-empty-frontier/--no-stop-on-empty-frontier",
        show_default=False,
    ),
]
Parallel = Annotated[int | None, options.runtime("N", "Evals at a time; default 1.")]
PerNode = Annotated[int | None, options.runtime("N", "Evals at a time of one node.")]
ParallelBackend = Annotated[
    str | None,
    options.runtime(
        "serial|local|ray",
        "Where evals run: one after the other, on workers of this machine (also called"
        " threadpool), or on a Ray cluster.",
        "--parallel-backend",
        "--backend",
    ),
]
DryRun = Annotated[
    bool,
    options.decision(
        None,
        "Run the whole engine with synthetic outcomes; no command of the config is run.",
        "--dry-run",
    ),
]
Out = Annotated[Path | None, options.runtime("DIR", "The run's folder.")]
CheckParity = Annotated[
    bool,
    options.runtime(
        None,
        "Run it again with another number of workers and compare the ledgers.",
        "--check-parity",
    ),
]
ValidateOnly = Annotated[
    bool,
    options.runtime(
        None,
        "Check config, repository, ideas, protected paths and commands, and score the root"
        " twice; with --out the table is written there.",
        "--validate-only",
    ),
]
ReportOnly = Annotated[
    bool,
    options.runtime(
        None, "Write the summary of the run that is there again; nothing is run.", "--report-only"
    ),
]
Area = Annotated[
    str | None,
    options.runtime(
        "NAME", "Record ideas and their outcomes in the index of this area, for later runs."
    ),
]
FeedIndex = Annotated[
    bool | None,
    options.decision(
        None,
        "Give the proposing command what earlier runs of the area found.",
        "--feed-index/--no-feed-index",
        show_default=False,
    ),
]
Memory = Annotated[
    str | None,
    options.decision(
        "off|replay", "Whether commands get the transcript of the path to their node."
    ),
]
ImportFrom = Annotated[
    Path | None,
    options.decision(
        "RUN", "Take over completed evals of an earlier run: same parent commit, same idea."
    ),
]
KeepRejected = Annotated[
    bool,
    options.runtime(
        None,
        "Write the files of evals that were not promoted to RUN/kept.",
        "--keep-rejected-worktrees",
    ),
]
KeepFailed = Annotated[
    bool,
    options.runtime(
        None, "Keep the folders of failed attempts in RUN/kept.", "--keep-failed-artifacts"
    ),
]
