"""Where in the stream of one seed the draws are: every start and every skip at once.

Two draws that follow one another and are both right give the place and the skip. So each draw
is looked up in the stream, then its follower at every skip, and only what fits is counted.
"""

from __future__ import annotations

from typing import Any

from weft.searches.prng.kernels.compiled import KERNELS


@KERNELS.entry
def find_places(stream: Any, draws: Any, starts: Any, skips: Any, enough: int, out: Any) -> int:
    """Write (start, skip, hits) with at least `enough` hits to `out`; return how many rows.

    A place is written once, when the first pair of right draws is met. What does not fit into
    `out` is counted and not written.
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


@KERNELS.kernel
def hits_from(stream: Any, draws: Any, start: int, skip: int, pair: int, enough: int) -> int:
    """Count the hits of a place; 0 if too few, or if an earlier pair is right and wrote it."""
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
