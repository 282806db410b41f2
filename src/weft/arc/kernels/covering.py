"""The inner step of learning a decision list: which clauses explain most for their price.

Sets of cells are rows of 64-bit words. A clause is an action and one or two tests; it must be
right wherever it speaks of open cells, and is worth the faulty cells that it makes right.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from weft.arc.kernels.compiled import entry, kernel
from weft.arc.kernels.layout import I64, U8

Sets = npt.NDArray[np.uint64]
SCORE, ACTION, FIRST, SECOND, PAIRS = 0, 1, 2, 3, 4
"""Columns of what is found; no second test is -1."""
FIELDS = 5
SCALE = 1_000_000
ONE_TEST, TWO_TESTS = 2000, 3000
"""What a clause costs beside its tests and action, in thousandths of a bit."""
TEST_OVERHEAD = 3000
LONELY = 3
"""A clause that helps in one training pair only counts a third."""
_ONES, _TWOS, _FOURS = 0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F
_BYTES = 0x0101010101010101


@kernel
def bits(word: np.uint64) -> int:
    """How many bits of a word are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(_ONES))
    word = (word & np.uint64(_TWOS)) + ((word >> np.uint64(2)) & np.uint64(_TWOS))
    word = (word + (word >> np.uint64(4))) & np.uint64(_FOURS)
    return np.int64((word * np.uint64(_BYTES)) >> np.uint64(56))  # type: ignore[return-value]


@kernel
def overlap(tests: Sets, i: int, j: int, cells: Sets) -> int:
    """How many of some cells pass two tests."""
    found = 0
    for w in range(len(cells)):
        found += bits(tests[i, w] & tests[j, w] & cells[w])
    return found


@kernel
def disjoint(tests: Sets, i: int, j: int, cells: Sets) -> bool:
    """Whether no cell passes two tests."""
    w = 0
    while w < len(cells) and tests[i, w] & tests[j, w] & cells[w] == 0:
        w += 1
    return w == len(cells)


@kernel
def pairs_helped(tests: Sets, i: int, j: int, helps: Sets, pairs: Sets) -> int:
    """In how many training pairs some helped cell passes two tests."""
    seen = 0
    for p in range(len(pairs)):
        for w in range(len(helps)):
            if tests[i, w] & tests[j, w] & helps[w] & pairs[p, w]:
                seen += 1
                break
    return seen


@kernel
def note(
    best: I64, gain: int, cost: int, action: int, i: int, j: int, tests: Sets, helps: Sets,
    pairs: Sets,
) -> None:  # fmt: skip
    """Keep a clause if it is among the best; of equals the one found first."""
    score, last = gain * SCALE // cost, len(best) - 1
    if score <= best[last, SCORE]:
        return
    seen = pairs_helped(tests, i, j, helps, pairs)
    if seen < 2:
        score //= LONELY
    place = last
    if score <= best[last, SCORE]:
        return
    while place > 0 and best[place - 1, SCORE] < score:
        best[place] = best[place - 1]
        place -= 1
    best[place, SCORE] = score
    best[place, ACTION] = action
    best[place, FIRST] = i
    best[place, SECOND] = -1 if j == i else j
    best[place, PAIRS] = seen


@kernel
def hopeless(best: I64, gain: int, cost: int) -> bool:
    """Whether a gain at a price cannot be among the best."""
    return bool(gain * SCALE // cost <= best[len(best) - 1, SCORE])


@kernel
def promising(
    tests: Sets, costs: I64, helps: Sets, harms: Sets, chosen: I64, gains: I64, scores: I64,
    alone: U8, best: I64, action_cost: int,
) -> int:  # fmt: skip
    """Choose the tests worth combining with others: those that help most for their price.

    `gains` gets how many cells each test helps, `alone` whether it is never wrong by itself.
    """
    count = 0
    for j in range(len(tests)):
        alone[j] = 0
        gain = overlap(tests, j, j, helps)
        gains[j] = gain
        if gain == 0 or hopeless(best, gain, costs[j] + action_cost + ONE_TEST):
            continue
        if disjoint(tests, j, j, harms):
            alone[j] = 1
            continue
        score = gain * SCALE // (costs[j] + TEST_OVERHEAD)
        if count == len(chosen):
            if score <= scores[count - 1]:
                continue
            count -= 1
        place = count
        while place > 0 and scores[place - 1] < score:
            scores[place] = scores[place - 1]
            chosen[place] = chosen[place - 1]
            place -= 1
        scores[place] = score
        chosen[place] = j
        count += 1
    return count


@entry
def best_clauses(
    tests: Sets, test_costs: I64, right: Sets, wrong: Sets, action_costs: I64, open_cells: Sets,
    faulty: Sets, pairs: Sets, width: int, best: I64,
) -> None:  # fmt: skip
    """Fill `best` with the clauses of the highest score, highest first; -1 where there is none.

    `right` and `wrong` are where each action speaks the truth and where not. Of `faulty` cells,
    which are open, some must become right. `width` tests per action are combined in twos.
    """
    best[:] = 0
    best[:, SCORE] = -1
    chosen, scores = np.empty(width, np.int64), np.empty(width, np.int64)
    gains, alone = np.empty(len(tests), np.int64), np.empty(len(tests), np.uint8)
    for a in range(len(right)):
        helps, harms = faulty & right[a], open_cells & wrong[a]
        gain = 0
        for w in range(len(helps)):
            gain += bits(helps[w])
        if gain == 0 or hopeless(best, gain, action_costs[a] + ONE_TEST):
            continue
        count = promising(
            tests, test_costs, helps, harms, chosen, gains, scores, alone, best, action_costs[a]
        )
        for j in range(len(tests)):
            if alone[j]:
                cost = test_costs[j] + action_costs[a] + ONE_TEST
                note(best, gains[j], cost, a, j, j, tests, helps, pairs)
        for x in range(count):
            for y in range(x):
                i, j = chosen[y], chosen[x]
                cost = test_costs[i] + test_costs[j] + action_costs[a] + TWO_TESTS
                if hopeless(best, min(gains[i], gains[j]), cost):
                    continue
                if disjoint(tests, i, j, harms):
                    gain = overlap(tests, i, j, helps)
                    if gain > 0:
                        note(best, gain, cost, a, i, j, tests, helps, pairs)
