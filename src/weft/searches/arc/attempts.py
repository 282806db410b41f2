"""Attempts: what an answer offers for each test, the best first.

A group is right if all its outputs are. ARC counts otherwise: each test has attempts of its own,
and a task is solved if for every test one of the two attempts is right. So a group that agrees with
an earlier one on a test adds no attempt there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from weft.searches.arc.records import AnswerRecord, Rows
from weft.searches.arc.values import Grid


def attempts(groups: Iterable[Sequence[Rows]], tests: int) -> list[list[Rows]]:
    """Return the distinct outputs for each test, in the order of the groups."""
    by_test: list[list[Rows]] = [[] for _ in range(tests)]
    for outputs in groups:
        for known, rows in zip(by_test, outputs, strict=True):
            if rows not in known:
                known.append(rows)
    return by_test


def attempts_of(answer: AnswerRecord | None, tests: int) -> list[list[Rows]]:
    """Return the attempts of an answer; none for any test if there is no answer."""
    groups = [] if answer is None else answer["groups"]
    return attempts((group["outputs"] for group in groups), tests)


def right_outputs(answer: AnswerRecord | None, truth: Sequence[Grid], most: int) -> int:
    """Return the number of tests with a right output among their first `most` attempts."""
    both = zip(attempts_of(answer, len(truth)), truth, strict=True)
    return sum(grid.rows() in own[:most] for own, grid in both)


def solved_within(answer: AnswerRecord | None, truth: Sequence[Grid], most: int) -> bool:
    """Whether every test has a right output among its first `most` attempts."""
    return right_outputs(answer, truth, most) == len(truth)
