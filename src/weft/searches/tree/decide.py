"""Gate and rank: who may become a node, and in which order. Recorded decimals only, no floats.

Gate: each rule has a name, which is what an eval is refused for. Rank: by score, best first,
then by eval id; evals whose files are equal share one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal

from weft.searches.tree.config import TreeConfig
from weft.searches.tree.history import Eval, Rule, TreeHistory
from weft.searches.tree.slot.stage import is_protected

EXACT = Context(prec=4000)
"""Scores are compared to their last digit; the default context would round after 28."""


def gate(item: Eval, config: TreeConfig, history: TreeHistory) -> list[Rule]:
    """Judge an eval against its parent; the first rule that is broken names the refusal."""
    rules = [_completed(item)]
    if item.candidate is not None:
        rules.append(_untouched(item, config))
    if item.result is None:
        return rules
    rules += [_sealed(item, history), _complete_rows(item), _no_worse(item, config, history)]
    return rules


def ranked(evals: Sequence[Eval], direction: str) -> list[Eval]:
    """Order evals that passed: best score first, equal scores by eval id."""
    return sorted(evals, key=lambda e: (lower_is_better(score_of(e), direction), e.eval_id))


def lower_is_better(score: Decimal, direction: str) -> Decimal:
    """Return a score for sorting; negated without rounding."""
    return score.copy_negate() if direction == "max" else score


def score_of(item: Eval) -> Decimal:
    """Return an eval's recorded score."""
    assert item.result is not None
    return item.result.decimal


def gain(score: Decimal, than: Decimal, direction: str) -> Decimal:
    """By how much a score is better than another; negative when it is worse."""
    return EXACT.subtract(score, than) if direction == "max" else EXACT.subtract(than, score)


def touched(item: Eval, config: TreeConfig) -> list[str]:
    """Return the protected paths that a candidate changed."""
    changed = item.candidate.changed if item.candidate else ()
    return [name for name in changed if is_protected(name, config.protected)]


def _completed(item: Eval) -> Rule:
    if item.error is None:
        return Rule("completed", True, "every stage ended well")
    code = item.error.exit_code
    suffix = "" if code is None else f", exit code {code}"
    return Rule(item.error.type, False, f"{item.stage}: {item.error.type}{suffix}")


def _untouched(item: Eval, config: TreeConfig) -> Rule:
    paths = touched(item, config)
    if not paths:
        return Rule("tampered", True, "no protected path is changed")
    return Rule("tampered", False, f"changes the protected {', '.join(paths[:5])}")


def _sealed(item: Eval, history: TreeHistory) -> Rule:
    assert item.result is not None
    root = history.nodes[0].result
    same = item.result.seal == (root.seal if root else None)
    return Rule("tampered", same, "scored with the root's scorer" if same else "another scorer")


def _complete_rows(item: Eval) -> Rule:
    rows = next((r.rows for r in (item.result, item.sweep) if r and r.rows), None)
    if rows is None:
        return Rule("incomplete", True, "no rows are reported")
    return Rule("incomplete", rows.complete, str(rows))


def _no_worse(item: Eval, config: TreeConfig, history: TreeHistory) -> Rule:
    better = gain(score_of(item), item.parent.score, config.direction)
    detail = f"score {score_of(item)} against {item.parent.score} of {item.parent.name}"
    if history.band:
        detail += f", noise band {history.band}"
        return Rule("within-noise", better > history.band, detail)
    return Rule("regressed", better >= 0, detail)
