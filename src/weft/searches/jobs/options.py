"""The options of `weft jobs`, each declared once, and the group of execution options."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from weft.console import options
from weft.console.execution import ExecutionOptions
from weft.errors import UsageError
from weft.lazy_imports import lazy_imports
from weft.model.slots import Node

with lazy_imports():
    from weft.runs import execution as runs

Jobs = Annotated[Path, typer.Argument(metavar="JOBS", help="Jobs file: JSON, JSON lines or TOML.")]
OutUnlessDry = Annotated[
    Path | None, options.runtime("DIR", "The run's folder; required unless --dry-run.")
]
JobPlacement = Annotated[
    str | None,
    options.runtime(
        "greedy|static",
        "Next job to the first free slot, or planned in advance."
        " Default: static with a JSON node file, else greedy.",
    ),
]
JobWorkers = Annotated[
    int | None,
    options.runtime(
        "N",
        "Without --nodes: CPU slots of this machine (1). With --nodes: most jobs at a time.",
    ),
]
DryRun = Annotated[
    bool, options.runtime(None, "Print the plan and stop; nothing is created.", "--dry-run")
]
JobTimeout = Annotated[
    float,
    options.decision("S", "Time limit of an attempt in seconds, for jobs without timeout_s."),
]
ResultFolder = Annotated[Path, typer.Option(metavar="DIR", help="Folder for the results.")]
FetchedJobs = Annotated[
    list[str] | None,
    typer.Argument(metavar="JOB", help="Jobs to fetch. Default: all completed ones."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsExecutionOptions(ExecutionOptions):
    """Execution options of jobs, with different defaults for workers and placement."""

    workers: JobWorkers = None
    placement: JobPlacement = None

    def check(self) -> None:
        """Refuse invalid values before any file is read."""
        ExecutionOptions.check(self)
        if self.workers is not None and self.workers < 1:
            raise UsageError(f"--workers must be 1 or more, not {self.workers}")
        if self.backend == "ray" and self.nodes is None:
            raise UsageError("weft jobs with --backend ray needs a node file", hint="--nodes FILE")

    def plan_nodes(self) -> tuple[Node, ...]:
        """Return the nodes of the node file for a plan; they may be other machines."""
        self.check()
        return self.read_nodes(anywhere=not self.simulate_nodes)

    def mode(self) -> str:
        """Return the requested placement, or the default for the node file."""
        mode = self.placement or ("static" if self.has_classic_nodes() else "greedy")
        if mode not in runs.PLACEMENTS:
            known = ", ".join(runs.PLACEMENTS)
            raise UsageError(f"--placement must be one of {known}, not {mode!r}")
        return mode

    def execution(self, out: Path) -> runs.Execution:
        """Return the execution of a run in `out`."""
        return replace(ExecutionOptions.execution(self, out), placement=self.mode())
