"""Blocks with some recorded tasks: those are answered, the others run, and none is lost."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from weft.backends.recorded import REUSED, ReusedResults
from weft.model.attempts import Assignment, BackendEvent, Completed


class Collected:
    """A backend that only records its calls."""

    def __init__(self) -> None:
        self.submitted: list[Assignment] = []
        self.cancelled: list[int] = []

    def capacity(self) -> Sequence[int]:
        return [7]

    def submit(self, assignments: Sequence[Assignment]) -> None:
        self.submitted += assignments

    def poll(self, timeout_s: float) -> list[BackendEvent]:
        return []

    def cancel(self, tickets: Sequence[int]) -> None:
        self.cancelled += tickets

    def close(self) -> None:
        return


def block_of(size: int) -> Assignment:
    texts = [f'{{"x":{number}}}' for number in range(size)]
    return Assignment(10, "m:f", texts[0], "/a", 2, 100, "key", more=tuple(texts[1:]))


@pytest.mark.parametrize("recorded", [(), (0,), (5,), (0, 1, 4), (1, 3, 4), tuple(range(6))])
def test_every_task_of_a_block_is_answered_or_run_once(recorded: tuple[int, ...]) -> None:
    def value_at(lane: str, round_: int, index: int, function: str, args: str) -> str | None:
        assert (lane, round_, function, args) == ("/a", 2, "m:f", f'{{"x":{index - 100}}}')
        return str(index) if index - 100 in recorded else None

    inner = Collected()
    backend = ReusedResults(inner, value_at)
    backend.submit([block_of(6)])
    answers = {}
    for event in backend.poll(0.0):
        assert isinstance(event, Completed)
        assert event.worker.node == REUSED
        answers.update({event.ticket + n: value for n, value in enumerate(event.values)})
    assert answers == {10 + number: str(100 + number) for number in recorded}
    tasks = [task for part in inner.submitted for task in part.each()]
    others = [number for number in range(6) if number not in recorded]
    assert [(task.ticket, task.index, task.args) for task in tasks] == [
        (10 + number, 100 + number, f'{{"x":{number}}}') for number in others
    ]
    assert [task.key for task in tasks] == ["key" if number == 0 else "" for number in others]


def test_cancelled_task_takes_no_other_of_its_block_with_it() -> None:
    inner = Collected()
    backend = ReusedResults(inner, lambda *_: "1")
    backend.submit([block_of(3)])
    backend.cancel([10])
    assert inner.cancelled == [10]
    [event] = backend.poll(0.0)
    assert isinstance(event, Completed)
    assert list(event.values) == ["1"] * 3
