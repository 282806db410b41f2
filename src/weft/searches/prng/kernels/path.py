"""The best way through a stream when the number of skipped calls varies from draw to draw.

A hidden chain: the place of a draw is one of the places a bounded number of calls after the
place of the draw before. Every way is looked at (Viterbi); the score is the number of hits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.searches.prng.kernels.compiled import KERNELS

NOWHERE = -30_000
"""Score of a place that no way leads to."""


@KERNELS.entry
def best_path(stream: Any, draws: Any, starts: Any, skips: Any, choices: Any) -> Any:
    """Return (last place, hits) of the way with most hits; of equals, the first place.

    `starts` and `skips` are the least and the greatest. Unless it is empty, row i of `choices`
    is filled with the skips, less the least, that lead to each place of draw i; of equal ways
    the one with the shorter skip.
    """
    size = len(stream)
    score, after = np.full(size, NOWHERE, np.int16), np.empty(size, np.int16)
    queue = np.empty(size, np.int64)
    for at in range(starts[0], starts[1] + 1):
        score[at] = 1 if stream[at] == draws[0] else 0
    for i in range(1, len(draws)):
        go_on(stream, draws[i], score, after, skips, queue, choices, i)
        score, after = after, score
    last = 0
    for at in range(size):
        if score[at] > score[last]:
            last = at
    return last, int(score[last])


@KERNELS.kernel
def go_on(
    stream: Any, draw: Any, score: Any, after: Any, skips: Any, queue: Any, choices: Any, row: int
) -> None:
    """Make the scores of the next draw; `queue` holds the places of the window that may win."""
    least, greatest = skips[0], skips[1]
    head, tail = 0, 0
    for at in range(len(stream)):
        new = at - 1 - least
        if new >= 0 and score[new] > NOWHERE:
            while tail > head and score[queue[tail - 1]] <= score[new]:
                tail -= 1
            queue[tail] = new
            tail += 1
        while tail > head and queue[head] < at - 1 - greatest:
            head += 1
        if tail == head:
            after[at] = NOWHERE
            continue
        after[at] = score[queue[head]] + (1 if stream[at] == draw else 0)
        if len(choices):
            choices[row, at] = at - 1 - queue[head] - least


@KERNELS.entry
def way_back(choices: Any, last: int, least: int, places: Any) -> None:
    """Fill `places` with the place of each draw, given the place of the last one."""
    at = last
    for i in range(len(places) - 1, -1, -1):
        places[i] = at
        if i:
            at -= choices[i, at] + least + 1
