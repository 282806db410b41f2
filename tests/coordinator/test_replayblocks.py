"""A lazy round's recorded results are replayed in blocks; deviations go through the slow path."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.inspect.runs import Stopper
from weft.coordinator.lane import Lane, OpenRoundState
from weft.coordinator.machine import Machine
from weft.coordinator.making import LazyLimits
from weft.coordinator.policy import Policy
from weft.coordinator.replay import BLOCK, Replay
from weft.coordinator.steps import Advance, Close, Command, Queue, Recalled
from weft.errors import Interrupted, ReplayDiverged
from weft.model.keys import sha256_hex, task_key
from weft.model.tasks import COMMAND, LazyRound, Limits, SearchCall, TaskCall
from weft.model.values import encode_args
from weft.storage.rows import FinalRow

GENESIS = sha256_hex("genesis")
SIZE = 3000


def call(index: int) -> TaskCall:
    return TaskCall("m:f" if index < 2500 else "m:g", {"x": index})


def row(index: int, round_: int = 0) -> FinalRow:
    task_call = call(index)
    args = encode_args(task_call.args)
    key = task_key(GENESIS, "", round_, index, task_call.function, args)
    return key, task_call.function, args, index == 1999


@dataclass
class Recorded:
    """Stored rows of each round, of which the first `count` are final."""

    count: int = SIZE
    changed: dict[int, FinalRow] = field(default_factory=dict)
    used: list[tuple[str, str]] = field(default_factory=list)

    def final_rows(self, lane: str, round_: int, start: int, end: int) -> list[FinalRow]:
        assert lane == ""
        return [self.changed.get(i) or row(i, round_) for i in range(start, min(end, self.count))]

    def use(self, name: str, path: str) -> None:
        self.used.append((name, path))


def nothing() -> Generator[Any, Any, Any]:
    yield []


def opened(made: int = 10, recorded: int = 10) -> OpenRoundState:
    state = OpenRoundState(Lane("", (), nothing()), 0, LazyRound(SIZE, call))
    state.made, state.recorded = made, recorded
    return state


def test_all_that_is_recorded_is_taken_and_its_code_noted_once() -> None:
    recorded, state = Recorded(), opened()
    assert Replay(GENESIS, recorded, strict=False).advance(state, call, 32768)
    assert (state.made, state.recorded, state.closed) == (SIZE, SIZE, True)
    assert recorded.used == [("m:f", "m:f"), ("m:g", "m:g")]
    assert state.kinds == [SIZE - 10, 0]


@pytest.mark.parametrize(("strict", "made", "failed"), [(False, SIZE, 1), (True, 1999, 0)])
def test_a_failed_task_is_taken_unless_the_run_is_strict(
    strict: bool, made: int, failed: int
) -> None:
    state, replay = opened(), Replay(GENESIS, Recorded(), strict=strict)
    assert replay.advance(state, call, 32768) is not strict
    assert (state.made, replay.failed) == (made, failed)


@pytest.mark.parametrize("count", [10, 11, 10 + BLOCK, 1500])
def test_replay_ends_where_the_records_end(count: int) -> None:
    state = opened()
    assert not Replay(GENESIS, Recorded(count), strict=False).advance(state, call, 32768)
    assert (state.made, state.recorded) == (count, count)


def test_results_behind_one_that_is_missing_wait_for_it_within_reach() -> None:
    state, replay = opened(made=10, recorded=4), Replay(GENESIS, Recorded(), strict=False)
    assert replay.advance(state, call, 100)
    assert (state.made, state.recorded, [*state.waiting]) == (60, 4, [*range(10, 60)])
    assert replay.advance(state, call, 100)
    assert state.made == 60, "it must not go further before the missing one is there"
    state.waiting.update(dict.fromkeys(range(4, 10)))
    state.judge(strict=True)
    assert state.recorded == 60
    assert replay.advance(state, call, 1)
    assert state.recorded == SIZE


def raising(index: int) -> TaskCall:
    raise ZeroDivisionError(index)


OTHERS: list[Callable[[int], object]] = [
    raising,
    lambda index: "no call",
    lambda index: replace(call(index), function=COMMAND),
    lambda index: replace(call(index), limits=Limits(gpu=1)),
    lambda index: replace(call(index), function="m:other"),
    lambda index: replace(call(index), args={"x": index + 1}),
    lambda index: replace(call(index), args={"x": float(index)}),
    lambda index: replace(call(index), args={"x": object()}),
]


@pytest.mark.parametrize("other", OTHERS)
def test_a_call_that_is_not_the_recorded_one_is_left_to_the_plain_way(
    other: Callable[[int], TaskCall],
) -> None:
    state = opened()

    def make(index: int) -> TaskCall:
        return other(index) if index == 1234 else call(index)

    assert not Replay(GENESIS, Recorded(), strict=False).advance(state, make, 32768)
    assert (state.made, state.recorded) == (1234, 1234)


def test_a_row_with_another_key_is_left_to_the_plain_way() -> None:
    state, (_, *others) = opened(), row(77)
    recorded = Recorded(changed={77: (GENESIS, *others)})
    assert not Replay(GENESIS, recorded, strict=False).advance(state, call, 32768)
    assert state.made == 77


# -- whole runs ------------------------------------------------------------------------------


@weft.task
def double(x: int) -> int:
    if x % 500 == 499:
        raise ValueError(x)
    return 2 * x


TASKS = 20_000
"""Large enough that a stop after some tasks comes before the end."""
CHANGED: list[int] = []


@weft.search(version=1)
def doubles(n: int) -> Generator[Any, Any, int]:
    results = yield weft.lazy(n, lambda i: double(i + (i in CHANGED)))
    return sum(1 for result in results if result.ok)


def interrupted(out: Path, after: int, workers: int = 2) -> None:
    with pytest.raises(Interrupted):
        weft.run(doubles(n=TASKS), out=out, workers=workers, watcher=Stopper(after))


def test_a_run_resumed_by_blocks_has_the_ledger_of_one_that_never_stopped(tmp_path: Path) -> None:
    weft.run(doubles(n=TASKS), out=tmp_path / "whole", workers=1)
    interrupted(tmp_path / "run", 1900)
    weft.run(doubles(n=TASKS), out=tmp_path / "run", workers=2)
    whole, resumed = (tmp_path / name / "ledger.jsonl" for name in ("whole", "run"))
    assert resumed.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("index", [3, 300, 1700])
def test_a_changed_task_is_refused_wherever_it_stands(
    tmp_path: Path, index: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(tmp_path / "run", 1900, workers=1)  # one worker, so that blocks end in order
    before = (tmp_path / "run" / "ledger.jsonl").read_bytes()
    monkeypatch.setattr(f"{__name__}.CHANGED", [index])
    message = f'task {index} was .*"x":{index}.*, now .*"x":{index + 1}'
    with pytest.raises(ReplayDiverged, match=message):
        weft.run(doubles(n=TASKS), out=tmp_path / "run", workers=1)
    assert (tmp_path / "run" / "ledger.jsonl").read_bytes() == before


def replayed(recorded: Recorded, rounds: int = 1) -> tuple[Machine, list[Command]]:
    """A machine whose first tasks were recalled one by one, and all commands that followed."""

    def body() -> Generator[Any, Any, int]:
        for _ in range(rounds):
            results = yield LazyRound(SIZE, call)
        return len(results)

    search = SearchCall("s", 1, {}, body)
    limits = LazyLimits(window=40, reach=50, first=10)
    machine = Machine(GENESIS, search, {}, Policy(), lambda *_: [], limits, recall=recorded)
    commands = list[Command]()
    for round_ in range(rounds):
        [_, queue] = machine.advance()
        assert isinstance(queue, Queue)
        commands = [
            command for task in queue.tasks
            for command in machine.apply(Recalled("", round_, task.index, str(task.index), None))
        ]  # fmt: skip
        advances = [command.recorded for command in commands if isinstance(command, Advance)]
        assert advances == sorted(advances)
    return machine, commands


def test_machine_takes_blocks_in_order_and_closes_the_round() -> None:
    machine, commands = replayed(Recorded())
    assert commands[-1] == Close("", 0, SIZE, stopped=False)
    assert {type(command) for command in commands} == {Advance, Close}
    counts = machine.counts()
    assert (counts.finished, counts.failed, counts.planned) == (SIZE, 1, SIZE)
    machine.advance()
    assert machine.done


def test_machine_counts_the_failures_of_each_replayed_round_once() -> None:
    machine, _ = replayed(Recorded(), rounds=3)
    counts = machine.counts()
    assert (counts.finished, counts.failed, counts.planned) == (3 * SIZE, 3, 3 * SIZE)


def test_machine_makes_the_tasks_behind_the_recorded_ones() -> None:
    machine, commands = replayed(Recorded(1500))
    *_, advance, queue = commands
    assert advance == Advance("", 0, 1500)
    assert isinstance(queue, Queue)
    assert [task.index for task in queue.tasks] == [*range(1500, 1540)]
    assert machine.counts().finished == 1500
