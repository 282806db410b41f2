"""Locates draws in the stream of one seed.

`find_places` assumes a constant skip: two consecutive correct draws determine the place and the
skip, so each draw is located, then its successor at every skip, and hits are counted only where
both match. `best_path` lets the skip vary: a draw is a bounded number of calls after the one
before. Every path is considered (Viterbi); hits are the score.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.searches.prng.kernels.compiled import KERNELS

NOWHERE = -30_000
"""Score of a place that no path reaches."""


@KERNELS.entry
def best_path(stream: Any, draws: Any, starts: Any, skips: Any, choices: Any) -> Any:
    """Return (last place, hits) of the path with most hits; ties go to the first place.

    `starts` and `skips` are the least and the greatest values. Unless `choices` is empty, its row i
    is filled with the skips, less the least, that lead to each place of draw i; ties go to the
    shorter skip.
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
    """Compute the scores of the next draw; `queue` holds the places of the window that may win."""
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
    """Fill `places` with the place of each draw, going back from the last one."""
    at = last
    for i in range(len(places) - 1, -1, -1):
        places[i] = at
        if i:
            at -= choices[i, at] + least + 1


@KERNELS.entry
def find_places(stream: Any, draws: Any, starts: Any, skips: Any, enough: int, out: Any) -> int:
    """Write (start, skip, hits) with at least `enough` hits to `out`; return the number of rows.

    A place is written once, at its first pair of correct draws. Rows that do not fit into `out` are
    counted but not written.
    """
    count = 0
    for i in range(len(draws) - 1):
        for at in range(starts[0] + i * (skips[0] + 1), starts[1] + i * (skips[1] + 1) + 1):
            if stream[at] != draws[i]:
                continue
            for skip in range(skips[0], skips[1] + 1):
                start = at - i * (skip + 1)
                if start < starts[0]:
                    break
                if start > starts[1] or stream[at + skip + 1] != draws[i + 1]:
                    continue
                hits = hits_from(stream, draws, start, skip, i, enough)
                if hits < enough:
                    continue
                if count < len(out):
                    out[count, 0], out[count, 1], out[count, 2] = start, skip, hits
                count += 1
    return count


@KERNELS.entry
def find_in_each(
    streams: Any, draws: Any, starts: Any, skips: Any, enough: int, out: Any, counts: Any
) -> None:
    """Run `find_places` on each row of `streams`, with the same rows of `out` and `counts`."""
    for row in range(len(streams)):
        counts[row] = find_places(streams[row], draws, starts, skips, enough, out[row])


@KERNELS.kernel
def hits_from(stream: Any, draws: Any, start: int, skip: int, pair: int, enough: int) -> int:
    """Count the hits of a place; 0 if too few, or if an earlier correct pair already wrote it."""
    hits, before = 0, False
    for i in range(len(draws)):
        hit = stream[start + i * (skip + 1)] == draws[i]
        if hit and before and i <= pair:
            return 0
        before = hit
        hits += hit
        if hits + len(draws) - 1 - i < enough:
            return 0
    return hits
