"""Calls of searches and their budgets."""

from __future__ import annotations

import pytest

from weft.errors import SearchInvalid
from weft.model.tasks import (
    COMMAND,
    FORMER_COMMAND,
    Budget,
    Milestone,
    SearchCall,
    StreamRound,
    TaskCall,
    check_call,
    make_round,
    make_stream,
)


def test_search_is_not_in_order_when_its_tasks_fail() -> None:
    assert not SearchCall("m:s", 1, {}, lambda: None).failures_expected  # type: ignore[arg-type]


def test_budget_may_be_empty_and_is_never_overspent() -> None:
    budget = Budget({"programs": 0, "seeds": 5})
    assert budget.spend(programs=3, seeds=2).counts == {"programs": 0, "seeds": 3}
    assert budget.spend(programs=1).counts == {"programs": 0, "seeds": 5}


def test_budget_is_split_evenly_with_the_rest_in_the_first_shares() -> None:
    shares = Budget({"seeds": 5, "tries": 3}).split(3)
    assert [share.counts for share in shares] == [
        {"seeds": 2, "tries": 1}, {"seeds": 2, "tries": 1}, {"seeds": 1, "tries": 1}
    ]  # fmt: skip
    assert Budget({"seeds": 5}).split(1) == (Budget({"seeds": 5}),)
    with pytest.raises(SearchInvalid, match="split into 0 parts"):
        Budget({"seeds": 5}).split(0)


@pytest.mark.parametrize("count", [-1, True, 1.0])
def test_budget_that_is_no_count_is_refused(count: object) -> None:
    with pytest.raises(SearchInvalid, match="'seeds' must be a count of 0 or more"):
        Budget({"seeds": count})  # type: ignore[dict-item]


def test_search_is_the_same_whatever_file_it_was_read_from() -> None:
    here, second = (SearchCall("m:s", 1, {}, print, source=path) for path in "ab")
    assert here == second
    assert "source" not in repr(here)


def test_milestone_expects_the_tasks_of_its_rounds() -> None:
    assert (Milestone("fit", (3, 4)).tasks, Milestone("end").tasks) == (7, 0)


def test_round_takes_calls_only_and_says_which_is_none() -> None:
    call = TaskCall("m:f", {})
    assert make_round([call, call]).tasks == (call, call)
    assert check_call(call, 0) is call
    with pytest.raises(SearchInvalid, match="task 1 of a round is int"):
        make_round([call, 3])  # type: ignore[list-item]


@pytest.mark.parametrize(("width", "most", "name"), [(0, 1, "width"), (1, 0, "most")])
def test_stream_of_no_task_is_refused_by_the_name_of_its_limit(width, most, name) -> None:
    with pytest.raises(SearchInvalid, match=f"needs a {name} of 1 or more, not 0"):
        make_stream(iter_calls(), width=width, most=most)
    assert isinstance(make_stream(iter_calls(), width=1, most=1), StreamRound)


def test_call_repr_is_the_call_on_one_line() -> None:
    assert repr(TaskCall("m:f", {"x": 1, "y": "a\nb"})) == r"<TaskCall m:f(x=1, y='a\nb')>"
    assert repr(TaskCall("m:f", {"x": "a" * 999})) == f"<TaskCall m:f(x='{'a' * 197}…)>"
    assert repr(TaskCall("m:f", {"x": "a" * 196})) == f"<TaskCall m:f(x='{'a' * 196}')>"
    assert repr(SearchCall("m:s", 1, {"width": 3}, iter_calls)) == "<SearchCall m:s(width=3)>"


def iter_calls():
    yield TaskCall("m:f", {})


def test_commands_have_the_names_that_ledgers_hold() -> None:
    assert (COMMAND, FORMER_COMMAND) == ("weft.command", "weft.worker.command:run_command")
