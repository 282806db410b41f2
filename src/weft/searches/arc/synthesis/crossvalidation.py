"""Leave-one-out cross-validation of rules that have no fitted parameters, only alternatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from weft.searches.arc.synthesis.learnlists import FEW_PAIRS

_Rule = TypeVar("_Rule")


def each_predicted(
    rules: Sequence[_Rule], explains: Callable[[_Rule, int], bool], pairs: int
) -> bool:
    """Whether each pair is explained by the first rule that explains all other pairs.

    `rules` are ordered, the cheapest first. False if there are too few pairs to show anything.
    """
    return pairs > FEW_PAIRS and all(_predicted(rules, explains, pairs, n) for n in range(pairs))


def _predicted(
    rules: Sequence[_Rule], explains: Callable[[_Rule, int], bool], pairs: int, left: int
) -> bool:
    others = [n for n in range(pairs) if n != left]
    first = next((rule for rule in rules if all(explains(rule, n) for n in others)), None)
    return first is not None and explains(first, left)
