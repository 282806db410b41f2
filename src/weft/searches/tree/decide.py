"""Gate, rank and stop: which evals become tree nodes, in which order, and when a depth ends early.

Gate: each rule has a name, which is given as the reason for a refusal. Rank: by score, best first,
then by eval id, or by Pareto fronts; evals with equal files share one place. Stop: judged on
results in eval order, so that it is independent of parallelism. Recorded decimals only, no floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from weft.model.results import Result
from weft.searches.tree.config import TreeConfig, is_protected
from weft.searches.tree.decimals import EXACT, gain, lower_is_better
from weft.searches.tree.history import CostSum, Eval, Rule, TreeHistory, TreeNode, stop_text
from weft.searches.tree.objectives import metric_rule, missing, pareto_ranked
from weft.searches.tree.results import StageResult, cost_of, declared_failure


def gate(item: Eval, config: TreeConfig, history: TreeHistory) -> list[Rule]:
    """Judge an eval against its parent; the first broken rule names the reason for a refusal."""
    rules = [_completed(item)]
    if item.candidate is not None:
        rules.append(_untouched(item, config))
    if item.result is None:
        return rules
    rules += [_sealed(item), *_complete_rows(item)]
    rules += gain_rules(item.result, item.parent, config, history.band)
    return rules


def ranked(evals: Sequence[Eval], config: TreeConfig) -> list[Eval]:
    """Rank evals that passed the gate: by score, then eval id, or by fronts with objectives."""
    if config.objectives:
        return pareto_ranked(evals, config)
    direction = config.direction
    return sorted(evals, key=lambda e: (lower_is_better(score_of(e), direction), e.eval_id))


def score_of(item: Eval) -> Decimal:
    """Return an eval's recorded score."""
    assert item.result is not None
    return item.result.decimal


def touched(item: Eval, config: TreeConfig) -> list[str]:
    """Return the protected paths that a candidate changed."""
    changed = item.candidate.changed if item.candidate else ()
    return [name for name in changed if is_protected(name, config.protected)]


def _completed(item: Eval) -> Rule:
    if item.error is None:
        return Rule("completed", True, "every stage ended well")
    code = item.error.exit_code
    suffix = "" if code is None else f", exit code {code}"
    reason = f": {item.reason}" if item.reason else ""
    return Rule(item.error.type, False, f"{item.stage}: {item.error.type}{suffix}{reason}")


def _untouched(item: Eval, config: TreeConfig) -> Rule:
    paths = touched(item, config)
    if not paths:
        return Rule("tampered", True, "no protected path is changed")
    return Rule("tampered", False, f"changes the protected {', '.join(paths[:5])}")


def _sealed(item: Eval) -> Rule:
    assert item.result is not None
    root = item.parent.path()[0].result
    same = item.result.seal == (root.seal if root else None)
    return Rule("tampered", same, "scored with the root's scorer" if same else "another scorer")


def _complete_rows(item: Eval) -> list[Rule]:
    """Require complete rows of every stage that reports rows: failures must not improve scores."""
    reported = [(n, r.rows) for n, r in (("sweep", item.sweep), ("score", item.result)) if r]
    rules = [Rule("incomplete", rows.complete, f"{n}: {rows}") for n, rows in reported if rows]
    return rules or [Rule("incomplete", True, "no rows are reported")]


# -- gain ---------------------------------------------------------------------------------------


def gain_rules(
    result: StageResult, parent: TreeNode, config: TreeConfig, band: Decimal
) -> list[Rule]:
    """Judge the gain of a result over its parent: in its score, or in any objective."""
    score = _score_rules(result, parent, config, band)
    if not config.objectives:
        return score
    unknown = missing(result, config)
    if unknown:
        names = ", ".join(unknown)
        return [Rule("metric-missing", False, f"the result has no number for {names}")]
    rules = [metric_rule(objective, result, parent) for objective in config.objectives]
    better = all(rule.passed for rule in score) or any(rule.passed for rule in rules)
    details = [score[0].detail, *(rule.detail for rule in rules)]
    return [Rule("dominated", better, "; ".join(details))]


def _score_rules(
    result: StageResult, parent: TreeNode, config: TreeConfig, band: Decimal
) -> list[Rule]:
    better = gain(result.decimal, parent.score, config.direction)
    detail = f"score {result.decimal} against {parent.score} of {parent.name}"
    if band:
        rules = [Rule("within-noise", better > band, f"{detail}, noise band {band}")]
    else:
        rules = [Rule("regressed", better >= 0, detail)]
    least = least_gain(config, parent.score)
    if least is None:
        return [*rules, Rule("no-gain", better > 0, f"gain {better:f}, more than 0 is needed")]
    return [*rules, Rule("no-gain", better >= least, f"gain {better:f}, {least:f} is needed")]


def least_gain(config: TreeConfig, parent: Decimal) -> Decimal | None:
    """Return the required gain over a parent; None if any gain is enough."""
    absolute = [Decimal(config.min_gain)] if config.min_gain else []
    share = config.min_relative_gain
    relative = [EXACT.multiply(Decimal(share), parent.copy_abs())] if share else []
    return max([*absolute, *relative], default=None)


# -- stop ---------------------------------------------------------------------------------------


class Spending:
    """Applies early stops to results in eval order: strict failures, and cost or token limits."""

    def __init__(self, config: TreeConfig, history: TreeHistory) -> None:
        self._config, self._history = config, history
        self._usd, self._tokens = history.usd, history.tokens
        self.limited = bool(config.strict_fail_depth or config.max_usd or config.max_tokens)

    def stops(self, result: Result) -> bool:
        """Add a result; return whether no result after it may count."""
        return bool(self._take(result))

    def settle(self, stage: str, results: Sequence[Result]) -> None:
        """Record the spending of a round in the history, and its stop reason, if any."""
        recounted = Spending(self._config, self._history)
        for result in results:
            self._history.stopped = recounted._take(result) or self._history.stopped
            if (cost := cost_of(result)) is not None:
                self._history.costs.setdefault(stage, CostSum()).add(cost)
        self._history.usd, self._history.tokens = recounted._usd, recounted._tokens

    def _take(self, result: Result) -> str:
        if (cost := cost_of(result)) is not None:
            self._usd = EXACT.add(self._usd, Decimal(cost.usd))
            self._tokens += cost.input_tokens + cost.output_tokens
        failed = not result.ok or declared_failure(result)
        if failed and self._config.strict_fail_depth:
            return stop_text("strict-fail-depth")
        if self._config.max_usd and self._usd >= Decimal(self._config.max_usd):
            return stop_text("max-usd", f"{self._usd:f} of {self._config.max_usd} USD are spent")
        if self._config.max_tokens and self._tokens >= self._config.max_tokens:
            spent = f"{self._tokens} of {self._config.max_tokens} tokens are spent"
            return stop_text("max-tokens", spent)
        return ""
