"""Custom gates and ranks: pure functions over recorded values, named in the config.

    gate = "mine:gate"      def gate(scored: ScoredEval) -> Iterable[Rule]
    rank = "mine:rank"      def rank(passed: Sequence[ScoredEval]) -> Iterable[ScoredEval]

They get copies of recorded values and see neither clock nor files. The run binds the source of
their module, so that the same code judges it whenever it is loaded.
"""

from __future__ import annotations

import copy
import hashlib
import importlib
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from weft.errors import InputError, RunMismatch, SearchInvalid
from weft.model.codec import Table
from weft.searches.tree.config import TreeConfig
from weft.searches.tree.decide import gate, ranked
from weft.searches.tree.decimals import gain
from weft.searches.tree.history import Eval, Rule, TreeHistory


@dataclass(frozen=True, slots=True)
class ScoredEval:
    """A scored eval with everything that a rule may read. Scores are decimals, never floats."""

    eval_id: int
    depth: int
    idea: str
    changed: tuple[str, ...]
    """Paths that the idea changed."""
    result: Table
    """The scorer's result: score, rows, metrics, holdout; numbers as text."""
    sweep: Table
    parent: Table
    """The parent's result."""
    root: Table
    band: Decimal
    """Noise band: the spread of a root's scores; 0 if it was scored once."""
    direction: str
    rules: tuple[Rule, ...]
    """The rules of the built-in gate."""

    @property
    def score(self) -> Decimal:
        """Its recorded score."""
        return Decimal(str(self.result["score"]))

    @property
    def gain(self) -> Decimal:
        """Its gain over its parent; negative if it is worse."""
        return gain(self.score, Decimal(str(self.parent["score"])), self.direction)


Judge = Callable[..., Iterable[Rule | ScoredEval]]
"""A user function: a gate returns rules, a rank returns the evals in order."""


class Judges:
    """The gate and the rank of one search."""

    def __init__(self, config: TreeConfig, history: TreeHistory) -> None:
        self._config, self._history = config, history
        self._gate = find(config.gate, config.gate_source) if config.gate else None
        self._rank = find(config.rank, config.rank_source) if config.rank else None

    def gate(self, item: Eval) -> list[Rule]:
        """Judge an eval; a custom gate cannot pass one that failed or tampered with the scorer."""
        rules = gate(item, self._config, self._history)
        is_refused = any(not rule.passed and rule.name in FIXED for rule in rules)
        if self._gate is None or item.result is None or is_refused:
            return rules
        verdict = list(self._gate(self._judged(item, rules)))
        own = [rule for rule in verdict if isinstance(rule, Rule)]
        if len(own) < len(verdict):
            raise SearchInvalid(
                f"{self._config.gate} must return only weft.searches.tree.history.Rule objects"
            )
        fixed = [rule for rule in rules if rule.name in FIXED]
        return fixed + [rule for rule in own if rule.name not in FIXED]

    def ranked(self, evals: Sequence[Eval]) -> list[Eval]:
        """Order evals that passed the gate, best first."""
        usual = ranked(evals, self._config)
        if self._rank is None:
            return usual
        known = {item.eval_id: item for item in usual}
        ranking = self._rank([self._judged(item, item.rules) for item in usual])
        order = [item.eval_id for item in ranking if isinstance(item, ScoredEval)]
        if sorted(order) != sorted(known):
            raise SearchInvalid(f"{self._config.rank} must return each eval exactly once")
        return [known[number] for number in order]

    def _judged(self, item: Eval, rules: Sequence[Rule]) -> ScoredEval:
        assert item.candidate is not None
        results = (item.result, item.sweep, item.parent.result, item.parent.path()[0].result)
        result, sweep, parent, root = (copy.deepcopy(r.recorded) if r else {} for r in results)
        return ScoredEval(
            item.eval_id, item.depth, item.idea.name, item.candidate.changed,
            result, sweep, parent, root, self._history.band, self._config.direction,
            tuple(rules),
        )  # fmt: skip


FIXED = ("completed", "tampered")
"""Rules that a custom gate cannot override."""


# -- loading ------------------------------------------------------------------------------------


def find(name: str, source: str) -> Judge:
    """Return the function `module:function`; raises RunMismatch if its source has changed."""
    function, now = load(name)
    if now != source:
        raise RunMismatch(
            f"the source of {name} has changed since this run started",
            hint="restore it, or start a new --out",
        )
    return function


def load(name: str) -> tuple[Judge, str]:
    """Import `module:function` and return it with the hash of its module's source."""
    module_name, _, attribute = name.partition(":")
    try:
        importlib.invalidate_caches()
        module = importlib.import_module(module_name)
        function = getattr(module, attribute)
        source = Path(module.__file__ or "").read_bytes()
    except (ImportError, AttributeError, OSError, SyntaxError) as error:
        raise InputError(
            f"{name}: {error}", hint="write module:function, with the module next to the config"
        ) from None
    if not callable(function):
        raise InputError(f"{name} is not a function")
    return function, hashlib.sha256(source).hexdigest()


def add_import_folder(folder: Path) -> None:
    """Add a folder to the import path."""
    place = str(folder.resolve())
    if place not in sys.path:
        sys.path.append(place)
