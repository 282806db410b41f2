"""The request that decides a run of `weft arc solve`: check it, and run it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from weft.errors import UsageError
from weft.model.codec import to_json
from weft.model.values import Value
from weft.runs.execution import Execution
from weft.runs.outcome import Run
from weft.runs.run import Watcher, run_search
from weft.searches.arc import search
from weft.searches.arc.bank import Bank
from weft.searches.arc.confidence import SURE
from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.ops.registry import fingerprint
from weft.searches.arc.records import OptionsRecord
from weft.searches.arc.synthesis.ablation import (
    BANK,
    CHECKS,
    CONFIDENCE,
    PRUNING,
    check_without,
)
from weft.searches.arc.synthesis.budget import SLICES, SearchBudget
from weft.searches.arc.synthesis.reach import RULES
from weft.searches.arc.task import ArcTask
from weft.searches.arc.verdict import MARGIN


@dataclass(frozen=True, slots=True)
class ArcRequest:
    """The tasks, and everything that decides how programs for them are searched and judged."""

    tasks: tuple[ArcTask, ...]
    budget: SearchBudget = field(default_factory=SearchBudget)
    seed: int = 0
    no_prune: tuple[str, ...] = ()
    min_permille: int = SURE
    margin_bits: int | None = None
    bank: Bank | None = None
    slices: int = SLICES
    without: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        unknown = [rule for rule in self.no_prune if rule not in RULES]
        if unknown:
            raise UsageError(f"--no-prune takes {', '.join(RULES)}, not {unknown[0]!r}")
        if not 1 <= self.slices <= 1024:
            raise UsageError(f"--slices must be 1 to 1024, not {self.slices}")
        if not 0 <= self.min_permille <= 1000:
            raise UsageError(f"--min-confidence must be 0 to 1000 permille: {self.min_permille}")
        check_without(self.without)

    def options(self) -> dict[str, Value]:
        """Return what the genesis binds besides the tasks: an `OptionsRecord` as JSON."""
        bank = None if BANK in self.without else self.bank
        return to_json(
            OptionsRecord(
                self.budget, self._rules(), self.seed, self.slices, self.min_permille,
                self._margin_millibits(), fingerprint(), bank, self.without,
            )
        )  # fmt: skip

    def _rules(self) -> tuple[str, ...]:
        """Return the pruning rules that are enabled."""
        if PRUNING in self.without:
            return ()
        return tuple(rule for rule in RULES if rule not in self.no_prune)

    def _margin_millibits(self) -> int | None:
        """Return the requested margin; without one, None, or the default if the price decides."""
        if self.margin_bits is not None:
            return BIT * self.margin_bits
        by_price = CONFIDENCE in self.without and CHECKS not in self.without
        return MARGIN if by_price else None


def _largest_first(task: ArcTask) -> tuple[int, str]:
    """Return a sort key that starts large grids first; last, they would leave cores idle."""
    return -task.input_cells, task.digest


def solve(request: ArcRequest, execution: Execution, watcher: Watcher | None = None) -> Run:
    """Run the search as `execution` specifies.

    A task that occurs twice in the request is searched once. Tasks are ordered by their contents,
    so that their names in a source do not matter; names are stored as labels outside the ledger.
    """
    unique = {task.digest: task for task in sorted(request.tasks, key=_largest_first)}
    return run_search(
        search.solve(list(unique), request.options()),
        replace(execution, labels={digest: task.name for digest, task in unique.items()}),
        seed=request.seed,
        inputs={digest: task.canonical() for digest, task in unique.items()},
        watcher=watcher,
    )
