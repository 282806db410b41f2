"""A machine on a test bench: scripted events in, commands out, and a journal without history."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from random import Random
from typing import Any

from hypothesis import strategies as st

from weft.coordinator.machine import Machine
from weft.coordinator.making import LazyLimits
from weft.coordinator.policy import Policy
from weft.coordinator.steps import Command, RecordResult
from weft.model.attempts import Assignment, Finished, GivenBack, Lost, Started, Worker
from weft.model.results import Result, TaskError
from weft.model.tasks import Limits, SearchCall, TaskCall
from weft.model.values import decode, encode

GENESIS = "0" * 64


RANDOM = st.integers(0, 2**32).map(Random)


def outcomes(results: Iterable[Result]) -> list[tuple[int, Any]]:
    """The search's view of results: each index with its value or the type of its failure."""
    return [(r.index, r.value if r.error is None else r.error.type) for r in results]


def call(
    x: Any = 0,
    *,
    function: str = "lab:task",
    timeout_s: float | None = None,
    retries: int | None = None,
) -> TaskCall:
    """A task call."""
    return TaskCall(function, {"x": x}, Limits(timeout_s, retries))


def outcome_of(assignment: Assignment) -> int | None:
    """The value of a test task: ten times x, or None (a failure) if x % 7 is 5."""
    x: Any = decode(assignment.args)["x"]  # type: ignore[index]
    return None if x % 7 == 5 else x * 10


class Bench:
    """Drives one machine, and collects its commands in `commands`."""

    def __init__(
        self,
        body: Callable[[], Any],
        *,
        policy: Policy = Policy(),  # noqa: B008 - frozen
        lazy: LazyLimits = LazyLimits(),  # noqa: B008 - frozen
        context: dict[str, Any] | None = None,
        needs: tuple[str, ...] = (),
    ) -> None:
        self.commands: list[Command] = []
        self.stored: dict[tuple[str, int, int], Result] = {}
        self.fetches: list[tuple[int, int]] = []
        root = SearchCall("lab:search", 1, {}, body, needs=needs)
        self.machine = Machine(GENESIS, root, context or {}, policy, self._fetch, lazy)
        self.follow([])

    def follow(self, commands: Iterable[Command]) -> None:
        """Execute commands, and those of every lane that can advance, then commit."""
        waiting = deque(commands)
        while waiting or (waiting := deque(self.machine.advance())):
            command = waiting.popleft()
            self.commands.append(command)
            if isinstance(command, RecordResult):
                t = command.task
                self.stored[t.lane, t.round, t.index] = Result(
                    t.index, t.key, t.function, t.args, command.value, command.error
                )
        self.machine.dispatch.release()

    def take(self, count: int = 1 << 30) -> list[Assignment]:
        assignments = self.machine.dispatch.take([count])
        return [task for assignment in assignments for task in assignment.each()]

    def give(self, event: Any, now_s: float = 0.0) -> None:
        self.follow(self.machine.apply(event, now_s))

    def start(self, assignment: Assignment, now_s: float = 0.0) -> None:
        self.give(Started(assignment.ticket, Worker(pid=7)), now_s)

    def succeed(self, assignment: Assignment, value: Any) -> None:
        self.give(Finished(assignment.ticket, encode(value)))

    def fail(
        self, assignment: Assignment, kind: str = "exception", *, retriable: bool = False
    ) -> None:
        self.give(Finished(assignment.ticket, error=TaskError(kind, "run"), retriable=retriable))

    def lose(self, assignment: Assignment) -> None:
        self.give(Lost(assignment.ticket, "worker-killed"))

    def give_back(self, assignment: Assignment) -> None:
        self.give(GivenBack(assignment.ticket))

    def end(self, assignment: Assignment) -> None:
        """End an attempt as `outcome_of` determines."""
        value = outcome_of(assignment)
        if value is None:
            self.fail(assignment)
        else:
            self.succeed(assignment, value)

    def run(self, chance: Random | None = None, slots: int = 1 << 30) -> Any:
        """Run to the answer; attempts end in the order of dispatch or in a random order."""
        out: list[Assignment] = []
        while not self.machine.done:
            out += self.take(slots - len(out))
            assert out, "the machine waits for nothing"
            self.end(out.pop(chance.randrange(len(out)) if chance else 0))
            alive = self.machine.dispatch.out
            out = [a for a in out if a.ticket in alive]
        return self.machine.value

    def of(self, kind: type) -> list[Any]:
        """The commands of one type, in order."""
        return [command for command in self.commands if isinstance(command, kind)]

    def _fetch(self, lane: str, round_: int, start: int, end: int) -> list[Result]:
        self.fetches.append((start, end))
        return [self.stored[lane, round_, i] for i in range(start, end)]


def once(*steps: Any) -> Callable[[], Any]:
    """A search that yields these steps and answers None."""

    def body() -> Any:
        for step in steps:  # noqa: UP028 - results are sent in, which a tuple cannot take
            yield step

    return body
