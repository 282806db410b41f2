"""When a depth ends before its end: a failure that is not allowed, money or tokens that are spent.

ScoredEval on results in eval order only, so that it is the same for any number at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from weft.model.codec import from_json
from weft.model.results import Result
from weft.searches.tree.config import TreeConfig
from weft.searches.tree.decide import EXACT
from weft.searches.tree.history import TreeHistory
from weft.searches.tree.results import StageCost


class Spending:
    """Judges results in eval order: a failure when that is not allowed, or money that is spent."""

    def __init__(self, config: TreeConfig, history: TreeHistory) -> None:
        self._config, self._history = config, history
        self._usd, self._tokens = history.usd, history.tokens
        self.limited = bool(config.strict_fail_depth or config.max_usd or config.max_tokens)

    def stops(self, result: Result) -> bool:
        """Whether nothing after this result may count."""
        return bool(self._take(result))

    def settle(self, results: Sequence[Result]) -> None:
        """Book what a round spent, and why the search ends with it, if it does."""
        again = Spending(self._config, self._history)
        for result in results:
            self._history.stopped = again._take(result) or self._history.stopped
        self._history.usd, self._history.tokens = again._usd, again._tokens

    def _take(self, result: Result) -> str:
        if not result.ok:
            return "strict: an eval failed" if self._config.strict_fail_depth else ""
        cost = from_json(StageCost, result.value.get("cost") or {})
        self._usd = EXACT.add(self._usd, Decimal(cost.usd))
        self._tokens += cost.input_tokens + cost.output_tokens
        if self._config.max_usd and self._usd >= Decimal(self._config.max_usd):
            return f"max_usd is spent: {self._usd}"
        if self._config.max_tokens and self._tokens >= self._config.max_tokens:
            return f"max_tokens are spent: {self._tokens}"
        return ""
