"""Options of `weft arc`, the one reader of its data, and the request that they become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from weft.console import options
from weft.console.execution import ExecutionOptions
from weft.lazy_imports import lazy_imports

with lazy_imports():
    from weft.searches.arc import bank as banks
    from weft.searches.arc import data as datasets
    from weft.searches.arc import request as requests
    from weft.searches.arc.synthesis import ablation
    from weft.searches.arc.synthesis import budget as budgets

DATA = "Tasks"
BUDGET = "Decision (bound into the ledger)"

Tasks = Annotated[
    list[str] | None,
    typer.Argument(metavar="TASK...", help="Names or digests of tasks; all without any."),
]
Data = Annotated[
    str,
    typer.Option(
        "--data",
        "--arc_root",
        metavar="SET|PATH",
        help="arc-agi-1, arc-agi-1-2019, arc-agi-2; or a clone, a folder, a file.",
        rich_help_panel=DATA,
    ),
]
Split = Annotated[
    str | None,
    typer.Option(metavar="training|evaluation", help="Which half.", rich_help_panel=DATA),
]
Limit = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="The first N tasks by name.", rich_help_panel=DATA),
]
MaxPrograms = Annotated[
    int,
    typer.Option(
        "--max-programs",
        "--max_programs",
        min=1,
        metavar="N",
        help="Programs tried per task.",
        rich_help_panel=BUDGET,
    ),
]
MaxDepth = Annotated[
    int,
    typer.Option(
        "--max-depth", "--max_depth", min=1, metavar="N", help="Operators in a row.",
        rich_help_panel=BUDGET,
    ),
]  # fmt: skip
MaxStates = Annotated[
    int,
    typer.Option(min=1, metavar="N", help="Vectors kept per search.", rich_help_panel=BUDGET),
]
Competitors = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="Programs tried after the first right one, looking for others that disagree.",
        rich_help_panel=BUDGET,
    ),
]
MaxBits = Annotated[
    int,
    typer.Option(
        min=1,
        metavar="N",
        help="Longer programs are guesses only: they answer nothing and contradict nothing.",
        rich_help_panel=BUDGET,
    ),
]
StopOnFirst = Annotated[
    bool,
    typer.Option("--stop-on-first", help="End at the first right program.", rich_help_panel=BUDGET),
]
NoPrune = Annotated[
    str,
    typer.Option(metavar="RULES", help="Switch off: shape,palette,stage.", rich_help_panel=BUDGET),
]
Margin = Annotated[
    int | None,
    typer.Option(
        "--margin-bits",
        min=0,
        metavar="N",
        help="Answer when every competitor costs over N bits more; 4 if not given.",
        rich_help_panel=BUDGET,
    ),
]
Without = Annotated[
    str,
    typer.Option(
        "--without",
        metavar="PARTS",
        help="Leave out, to measure what it is worth: fitted,lists,views,pruning,bank,checks.",
        rich_help_panel=BUDGET,
    ),
]
Attempts = Annotated[
    int,
    typer.Option(min=1, max=2, metavar="1|2", help="Guesses per test that are written out."),
]
BankFile = Annotated[
    Path | None,
    typer.Option("--bank", metavar="FILE", help="Concepts to use.", rich_help_panel=BUDGET),
]
Submission = Annotated[
    Path | None,
    typer.Option("--submission", metavar="FILE", help="Write answers in the ARC Prize form."),
]
OutBase = Annotated[
    Path,
    typer.Option(
        "--out", "--out_base", metavar="DIR", help="The run's folder.",
        rich_help_panel=options.EXECUTION,
    ),
]  # fmt: skip
Jobs = Annotated[
    int | None,
    typer.Option(
        "--workers",
        "--jobs",
        metavar="N",
        help="Worker processes: 1 at first, as before on resume.",
        rich_help_panel=options.EXECUTION,
    ),
]
DEFAULT_PROGRAMS, DEFAULT_DEPTH, DEFAULT_STATES, DEFAULT_COMPETITORS = 60_000, 4, 40_000, 6_000
DEFAULT_BITS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Which tasks to search programs for, and what decides the outcome."""

    tasks: Tasks = None
    data: Data = "arc-agi-1"
    split: Split = None
    limit: Limit = None
    max_programs: MaxPrograms = DEFAULT_PROGRAMS
    max_depth: MaxDepth = DEFAULT_DEPTH
    max_states: MaxStates = DEFAULT_STATES
    competitor_programs: Competitors = DEFAULT_COMPETITORS
    max_bits: MaxBits = DEFAULT_BITS
    stop_on_first: StopOnFirst = False
    no_prune: NoPrune = ""
    margin_bits: Margin = None
    without: Without = ""
    bank: BankFile = None
    seed: options.Seed = 0

    def choose(self) -> datasets.TaskSet:
        """Return the tasks to search."""
        return choose(self.data, self.split, self.tasks or (), self.limit)

    def request(self, tasks: datasets.TaskSet) -> requests.ArcRequest:
        """Return what decides the run, checked."""
        return requests.ArcRequest(
            tasks.tasks,
            self._budget(),
            self.seed,
            no_prune=tuple(rule for rule in self.no_prune.split(",") if rule),
            margin_bits=self.margin_bits,
            bank=None if self.bank is None else banks.Bank.read(self.bank),
            without=ablation.parse_without(self.without),
        )

    def _budget(self) -> budgets.SearchBudget:
        return budgets.SearchBudget(
            max_programs=self.max_programs,
            max_depth=self.max_depth,
            max_states=self.max_states,
            competitor_programs=self.competitor_programs,
            max_millibits=1000 * self.max_bits,
            stop_on_first=self.stop_on_first,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcExecutionOptions(ExecutionOptions):
    """The shared options, with the classic spelling of `--workers`."""

    workers: Jobs = None


def choose(
    data: str, split: str | None, names: Sequence[str], limit: int | None = None
) -> datasets.TaskSet:
    """Return the named tasks of some data, or all of them up to a limit."""
    return datasets.load(data, split).select(tuple(names), limit)
