"""`weft arc solve` as one function: from tasks and settings to a finished run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from weft.errors import UsageError
from weft.runs.outcome import Run
from weft.runs.run import run
from weft.searches.arc import search
from weft.searches.arc.bank import Bank
from weft.searches.arc.data import TaskSet
from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.ops.registry import fingerprint
from weft.searches.arc.records import OptionsRecord
from weft.searches.arc.synthesis.ablation import BANK, CHECKS, PRUNING, check_without
from weft.searches.arc.synthesis.budget import SLICES, SearchBudget
from weft.searches.arc.synthesis.reach import RULES
from weft.searches.arc.verdict import MARGIN


@dataclass(frozen=True, slots=True)
class ArcSettings:
    """What decides the outcome of a search, beside the tasks."""

    budget: SearchBudget = field(default_factory=SearchBudget)
    seed: int = 0
    no_prune: Sequence[str] = ()
    margin_bits: int | None = None
    bank: Bank | None = None
    slices: int = SLICES
    without: Sequence[str] = ()

    def options(self) -> OptionsRecord:
        """Return what the genesis record binds; refuses rules that do not exist."""
        unknown = [rule for rule in self.no_prune if rule not in RULES]
        if unknown:
            raise UsageError(f"--no-prune takes {', '.join(RULES)}, not {unknown[0]!r}")
        if not 1 <= self.slices <= 1024:
            raise UsageError(f"--slices must be 1 to 1024, not {self.slices}")
        check_without(self.without)
        rules = [rule for rule in RULES if rule not in self.no_prune]
        return make_options(
            self.budget,
            prune=[] if PRUNING in self.without else rules,
            seed=self.seed,
            slices=self.slices,
            margin_millibits=self._margin_millibits(),
            bank=None if BANK in self.without else self.bank,
            without=self.without,
        )

    def _margin_millibits(self) -> int | None:
        """The margin that was asked for, else the usual one; without checks none is enough."""
        if self.margin_bits is not None:
            return BIT * self.margin_bits
        return None if CHECKS in self.without else MARGIN


def solve(tasks: TaskSet, settings: ArcSettings, execution: Mapping[str, Any]) -> Run:
    """Run the search; `execution` are the options of `weft.run` that decide nothing.

    A task that is in the set twice is searched once. Tasks are ordered by digest, so that what
    a source calls them changes nothing; their names are remembered beside the ledger.
    """
    unique = {task.digest: task for task in sorted(tasks.tasks, key=attrgetter("digest"))}
    inputs = {digest: task.canonical() for digest, task in unique.items()}
    labels = {digest: task.name for digest, task in unique.items()}
    call = search.solve(list(unique), settings.options())
    return run(call, inputs=inputs, seed=settings.seed, labels=labels, **execution)


def make_options(
    budget: SearchBudget,
    *,
    prune: Sequence[str],
    seed: int,
    slices: int,
    margin_millibits: int | None,
    bank: Bank | None,
    without: Sequence[str] = (),
) -> OptionsRecord:
    """Everything that decides a search's outcome, bound into the genesis record."""
    return {
        "budget": budget.to_dict(),
        "prune": list(prune),
        "seed": seed,
        "slices": slices,
        "margin_millibits": margin_millibits,
        "operators": fingerprint(),
        "bank": None if bank is None else bank.to_dict(),
        "without": list(without),
    }
