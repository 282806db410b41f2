"""Estimate what more workers would gain on hard puzzles, from the times of a run with one worker.

A puzzle's tasks come in rounds, and a round waits for the one before it. So its longest chain, the
sum of the longest task of each round, is a lower bound for any number of workers. `scheduled`
replays the measured times on more workers, giving the first ready task to the first free worker.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from weft.inspect.report.view import ViewedTask

COUNTS = (2, 4, 8, 16)
Figures = dict[str, Any]
Rounds = Sequence[Sequence[float]]
"""Seconds of each task, round by round."""


def figures(tasks: Iterable[ViewedTask]) -> Figures:
    """Return each puzzle's work and longest chain, and the speed-ups with more workers."""
    by_lane: dict[str, dict[int, list[tuple[int, float]]]] = defaultdict(lambda: defaultdict(list))
    for task in tasks:
        if task.run_s is not None:
            by_lane[task.lane][task.round].append((task.index, task.run_s))
    lanes = {
        lane: [[seconds for _, seconds in sorted(rounds[r])] for r in sorted(rounds)]
        for lane, rounds in by_lane.items()
    }
    alone = scheduled(list(lanes.values()), 1)
    return {
        "work_s": alone,
        "puzzles": [
            {"tasks": sum(map(len, rounds)), "work_s": sum(map(sum, rounds)), "chain_s": chain,
             "first_s": rounds[0][0], "gain_16": sum(map(sum, rounds)) / scheduled([rounds], 16)}
            for rounds, chain in ((rounds, sum(map(max, rounds))) for rounds in lanes.values())
        ],
        "gains": {str(n): alone / scheduled(list(lanes.values()), n) for n in COUNTS},
    }  # fmt: skip


def scheduled(lanes: Sequence[Rounds], workers: int) -> float:
    """Return when the last task ends; a lane's next round is ready when its current one ends."""
    ready: list[tuple[float, int, int, int, float]] = []  # since, lane, round, index, seconds
    remaining: dict[int, int] = {}

    def release(lane: int, number: int, now_s: float) -> None:
        tasks = lanes[lane][number]
        remaining[lane] = len(tasks)
        for index, seconds in enumerate(tasks):
            heapq.heappush(ready, (now_s, lane, number, index, seconds))

    for lane in range(len(lanes)):
        release(lane, 0, 0.0)
    running: list[tuple[float, int, int]] = []
    now_s = 0.0
    while ready or running:
        while ready and len(running) < workers:
            _, lane, number, _, seconds = heapq.heappop(ready)
            heapq.heappush(running, (now_s + seconds, lane, number))
        now_s, lane, number = heapq.heappop(running)
        remaining[lane] -= 1
        if not remaining[lane] and number + 1 < len(lanes[lane]):
            release(lane, number + 1, now_s)
    return now_s


def section(part: Mapping[str, Any]) -> str:
    """Return this part of the page."""
    rows = [
        f"| {number} | {puzzle['tasks']} | {puzzle['work_s']:.1f} s | {puzzle['first_s']:.1f} s"
        f" | {puzzle['chain_s']:.1f} s | {puzzle['gain_16']:.1f} × |"
        for number, puzzle in enumerate(part["puzzles"], 1)
    ]
    gains = ", ".join(
        f"{n}: {gain:.1f} ×" for n, gain in sorted(part["gains"].items(), key=_workers)
    )
    longest = max(puzzle["chain_s"] for puzzle in part["puzzles"])
    return f"""\
What the times of these puzzles with 1 worker would give on more, without start and end. A round of
tasks waits for the one before it, so a puzzle never takes less than its longest chain; the shallow
phase is one task.

| puzzle | tasks | work | shallow phase | longest chain | alone, 16 workers |
|---|---|---|---|---|---|
{chr(10).join(rows)}

All together: {part["work_s"]:.1f} s of work, {longest:.1f} s in the longest chain; replayed on more
workers {gains}.

"""


def _workers(item: tuple[str, float]) -> int:
    return int(item[0])
