"""Attempts: each test has its own, distinct ones, and a task is solved if all its tests are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from weft.searches.arc import submission
from weft.searches.arc.attempts import attempts, right_outputs, solved_within
from weft.searches.arc.recorded import ArcRun, Recorded
from weft.searches.arc.score import score
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid

A, B, C = ([[n]] for n in (1, 2, 3))
TRUTH = (Grid.of(A), Grid.of(B))
TASK = ArcTask("t", (Pair(Grid.of(A), Grid.of(B)),), (Grid.of(C), Grid.of(A)), TRUTH)


def answer(*groups: list[Any], outcome: str = "UNKNOWN/budget") -> Any:
    """Return an answer with these groups of outputs."""
    return {"outcome": outcome, "failure": None, "groups": [{"outputs": own} for own in groups]}


def run_of(own: Any) -> ArcRun:
    """Return a run with one task and its answer."""
    item = Recorded(TASK.without_truth(), own)
    return ArcRun(Path("run"), (item,))


def test_output_that_an_earlier_group_gives_is_no_attempt() -> None:
    assert attempts([[A, C], [A, B], [B, B]], 2) == [[A, B], [C, B]]
    assert attempts([], 2) == [[], []]


def test_tests_may_be_right_in_different_groups() -> None:
    apart = answer([C, B], [A, C])
    assert right_outputs(apart, TRUTH, 1) == 1
    assert not solved_within(apart, TRUTH, 1)
    assert solved_within(apart, TRUTH, 2)


def test_repeated_output_leaves_room_for_the_third_group() -> None:
    third = answer([A, A], [A, C], [B, B])
    assert right_outputs(third, TRUTH, 2) == 1
    assert not solved_within(third, TRUTH, 2)
    assert solved_within(answer([A, A], [C, A], [B, B]), TRUTH, 2)
    assert not solved_within(None, TRUTH, 2)


def test_score_counts_tasks_by_attempts_and_outputs() -> None:
    truth = {TASK.digest: TASK}
    apart = score(run_of(answer([C, B], [A, C])), truth)
    assert (apart.top1, apart.top2, apart.outputs, apart.outputs_top2) == (0, 1, 2, 2)
    half = score(run_of(answer([C, B], [B, C], outcome="SOLVED")), truth)
    assert (half.right, half.wrong, half.top2, half.outputs_top2) == (0, 1, 0, 1)


def test_submission_has_distinct_attempts_for_each_test() -> None:
    data = submission.of_run(run_of(answer([A, A], [A, C], [B, B])), [TASK], 2)
    assert json.loads(data)["t"] == [
        {"attempt_1": A, "attempt_2": B},
        {"attempt_1": A, "attempt_2": C},
    ]
