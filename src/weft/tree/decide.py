"""Gate and rank: who may become a node, and in which order. Recorded decimals only, no floats.

Gate: each rule has a name, which is what an eval is refused for. Rank: by score, best first,
then by eval id; evals whose files are equal share one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal

from weft.tree.plot import Plot
from weft.tree.story import Eval, Rule, Story
from weft.treetools.stage import is_protected

EXACT = Context(prec=4000)
"""Scores are compared to their last digit; the default context would round after 28."""


def gate(item: Eval, plot: Plot, story: Story) -> list[Rule]:
    """Judge an eval against its parent; the first rule that is broken names the refusal."""
    rules = [_completed(item)]
    if item.candidate is not None:
        rules.append(_untouched(item, plot))
    if item.result is None:
        return rules
    rules += [_sealed(item, story), _complete_rows(item), _no_worse(item, plot, story)]
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
    return Decimal(item.result["score"])


def gain(score: Decimal, than: Decimal, direction: str) -> Decimal:
    """By how much a score is better than another; negative when it is worse."""
    return EXACT.subtract(score, than) if direction == "max" else EXACT.subtract(than, score)


def touched(item: Eval, plot: Plot) -> list[str]:
    """Return the protected paths that a candidate changed."""
    changed = item.candidate["changed"] if item.candidate else []
    return [name for name in changed if is_protected(name, plot.protected)]


def _completed(item: Eval) -> Rule:
    if item.error is None:
        return Rule("completed", True, "every stage ended well")
    kind = str(item.error["type"])
    code = item.error.get("exit_code")
    told = f"{item.stage}: {kind}" + ("" if code is None else f", exit code {code}")
    return Rule(kind, False, told)


def _untouched(item: Eval, plot: Plot) -> Rule:
    found = touched(item, plot)
    if not found:
        return Rule("tampered", True, "no protected path is changed")
    return Rule("tampered", False, f"changes the protected {', '.join(found[:5])}")


def _sealed(item: Eval, story: Story) -> Rule:
    assert item.result is not None
    same = item.result.get("seal") == story.nodes[0].result.get("seal")
    return Rule("tampered", same, "scored with the root's scorer" if same else "another scorer")


def _complete_rows(item: Eval) -> Rule:
    rows = (item.result or {}).get("rows") or (item.sweep or {}).get("rows")
    if rows is None:
        return Rule("incomplete", True, "no rows are reported")
    said = f"{rows['ok']} of {rows['expected']} rows"
    return Rule("incomplete", rows["ok"] == rows["expected"], said)


def _no_worse(item: Eval, plot: Plot, story: Story) -> Rule:
    better = gain(score_of(item), item.parent.score, plot.direction)
    said = f"score {score_of(item)} against {item.parent.score} of {item.parent.name}"
    if story.band:
        said += f", noise band {story.band}"
        return Rule("within-noise", better > story.band, said)
    return Rule("regressed", better >= 0, said)
