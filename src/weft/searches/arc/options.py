"""Options of `weft arc`, the loading of its tasks, and the request built from the options."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from weft.console import options
from weft.console.execution import ExecutionOptions
from weft.errors import UsageError
from weft.lazy_imports import lazy_imports

with lazy_imports():
    from weft.searches.arc import bank as banks
    from weft.searches.arc import data as datasets
    from weft.searches.arc import request as requests
    from weft.searches.arc.synthesis import ablation
    from weft.searches.arc.synthesis import budget as budgets

_tasks = partial(typer.Option, rich_help_panel="Tasks")
_decides = partial(typer.Option, rich_help_panel="Decision (bound into the ledger)")
_executes = partial(typer.Option, rich_help_panel=options.EXECUTION)
_count = partial(_decides, metavar="N")

Tasks = Annotated[
    list[str] | None,
    typer.Argument(metavar="TASK...", help="Names or digests of tasks. Default: all."),
]
DATA_HELP = "arc-agi-1, arc-agi-1-2019, arc-agi-2; or a clone, a folder, a zip, a file."
Data = Annotated[str, _tasks("--data", "--arc_root", metavar="SET|PATH", help=DATA_HELP)]
Split = Annotated[str | None, _tasks(metavar="training|evaluation", help="Which split.")]
Limit = Annotated[int | None, _tasks(min=1, metavar="N", help="The first N tasks by name.")]
MaxPrograms = Annotated[
    int, _count("--max-programs", "--max_programs", min=1, help="Programs tried per task.")
]
MaxDepth = Annotated[
    int, _count("--max-depth", "--max_depth", min=1, help="Most operators in a row.")
]
MaxStates = Annotated[int, _count(min=1, help="Vectors kept per search.")]
COMPETITORS_HELP = "Programs tried after the first fit, to find others that disagree."
Competitors = Annotated[int, _count(min=0, help=COMPETITORS_HELP)]
BITS_HELP = "Longer programs count only as guesses, neither as answers nor as competitors."
MaxBits = Annotated[int, _count(min=1, help=BITS_HELP)]
StopOnFirst = Annotated[
    bool, _decides("--stop-on-first", help="Stop at the first program that fits.")
]
NoPrune = Annotated[
    str, _decides(metavar="RULES", help="Pruning rules to turn off: shape,palette,stage.")
]
SURE_HELP = "Confidence an answer needs, 0 to 1; below it the outcome is UNKNOWN."
MinConfidence = Annotated[str, _decides("--min-confidence", metavar="P", help=SURE_HELP)]
MARGIN_HELP = "Also require that every competitor costs over N bits more."
Margin = Annotated[int | None, _count("--margin-bits", min=0, help=MARGIN_HELP)]
WITHOUT_HELP = (
    "Parts of the method to disable, for ablation:"
    " fitted,lists,views,omission,pruning,bank,checks,behaviour,support,confidence."
)
Without = Annotated[str, _decides("--without", metavar="PARTS", help=WITHOUT_HELP)]
Attempts = Annotated[
    int, typer.Option(min=1, max=2, metavar="1|2", help="Guesses per test in the submission.")
]
BankFile = Annotated[Path | None, _decides("--bank", metavar="FILE", help="Concepts to use.")]
Submission = Annotated[
    Path | None,
    typer.Option("--submission", metavar="FILE", help="Write answers in the ARC Prize format."),
]
OutBase = Annotated[Path, _executes("--out", "--out_base", metavar="DIR", help="The run's folder.")]
JOBS_HELP = "Worker processes. Default: 1; on resume, as before."
Jobs = Annotated[int | None, _executes("--workers", "--jobs", metavar="N", help=JOBS_HELP)]
DEFAULT_PROGRAMS, DEFAULT_DEPTH, DEFAULT_STATES, DEFAULT_COMPETITORS = 60_000, 4, 40_000, 6_000
DEFAULT_BITS = 100
DEFAULT_CONFIDENCE = "0.95"
_PROBABILITY = re.compile(r"0?\.[0-9]{1,3}|[01](\.0{0,3})?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """The tasks to search programs for, and the options that decide the outcome."""

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
    min_confidence: MinConfidence = DEFAULT_CONFIDENCE
    margin_bits: Margin = None
    without: Without = ""
    bank: BankFile = None
    seed: options.Seed = 0

    def choose(self) -> datasets.TaskSet:
        """Return the tasks to search."""
        return choose(self.data, self.split, self.tasks or (), self.limit)

    def request(self, tasks: datasets.TaskSet) -> requests.ArcRequest:
        """Return the request that decides the run, checked."""
        return requests.ArcRequest(
            tasks.tasks,
            self._budget(),
            self.seed,
            no_prune=tuple(rule for rule in self.no_prune.split(",") if rule),
            min_permille=permille(self.min_confidence),
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
    """The shared options, with `--jobs` as another spelling of `--workers`."""

    workers: Jobs = None


def permille(text: str) -> int:
    """Read a probability with up to three decimals; raises `UsageError` for anything else."""
    if _PROBABILITY.fullmatch(text) is None:
        raise UsageError(
            f"--min-confidence takes a probability from 0 to 1 with up to three decimals,"
            f" not {text!r}",
            hint=f"--min-confidence {DEFAULT_CONFIDENCE}",
        )
    whole, _, decimals = text.partition(".")
    return 1000 * int(whole or "0") + int(decimals.ljust(3, "0"))


def choose(
    data: str, split: str | None, names: Sequence[str], limit: int | None = None
) -> datasets.TaskSet:
    """Return the named tasks of a data source (all without names), up to a limit."""
    return datasets.load(data, split).select(tuple(names), limit)
