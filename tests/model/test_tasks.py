"""Calls of searches and what they may spend."""

from __future__ import annotations

from weft.model.tasks import Budget, SearchCall


def test_search_is_not_in_order_when_its_tasks_fail() -> None:
    assert not SearchCall("m:s", 1, {}, lambda: None).failures_expected  # type: ignore[arg-type]


def test_budget_may_be_empty_and_is_never_overspent() -> None:
    budget = Budget({"programs": 0, "seeds": 5})
    assert budget.spend(programs=3, seeds=2).counts == {"programs": 0, "seeds": 3}
    assert budget.spend(programs=1).counts == {"programs": 0, "seeds": 5}
