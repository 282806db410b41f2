"""When a depth ends before its end: a failure that is not allowed, money or tokens that are spent.

Judged on results in eval order only, so that it is the same for any number at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from weft.model.results import Result
from weft.tree.decide import EXACT
from weft.tree.plot import Plot
from weft.tree.story import Story


class Spending:
    """Judges results in eval order: a failure when that is not allowed, or money that is spent."""

    def __init__(self, plot: Plot, story: Story) -> None:
        self._plot, self._story = plot, story
        self._usd, self._tokens = story.usd, story.tokens
        self.limited = bool(plot.strict_fail_depth or plot.max_usd or plot.max_tokens)

    def stops(self, result: Result) -> bool:
        """Whether nothing after this result may count."""
        return bool(self._take(result))

    def settle(self, results: Sequence[Result]) -> None:
        """Book what a round spent, and why the search ends with it, if it does."""
        again = Spending(self._plot, self._story)
        for result in results:
            self._story.stopped = again._take(result) or self._story.stopped
        self._story.usd, self._story.tokens = again._usd, again._tokens

    def _take(self, result: Result) -> str:
        if not result.ok:
            return "strict: an eval failed" if self._plot.strict_fail_depth else ""
        cost = result.value.get("cost") or {"usd": "0", "input_tokens": 0, "output_tokens": 0}
        self._usd = EXACT.add(self._usd, Decimal(cost["usd"]))
        self._tokens += cost["input_tokens"] + cost["output_tokens"]
        if self._plot.max_usd and self._usd >= Decimal(self._plot.max_usd):
            return f"max_usd is spent: {self._usd}"
        if self._plot.max_tokens and self._tokens >= self._plot.max_tokens:
            return f"max_tokens are spent: {self._tokens}"
        return ""
