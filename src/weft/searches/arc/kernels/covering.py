"""The inner step of learning a decision list: which clauses explain most for their price.

Sets of cells are rows of 64-bit words. A clause is an action and one or two tests; it must be
right wherever it decides open cells, and is worth the faulty cells that it makes right.

    faulty cells     ──► every set squeezed to them: gains are counted in few words
    a few open cells ──► every set squeezed to one word, the probe: most errors show there

The long sets are consulted for what probes miss, for clauses that would be among the best.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from weft.searches.arc.kernels.compiled import entry, kernel
from weft.searches.arc.kernels.layout import I64

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
    """How many bits of a word are set; LLVM knows the pattern and takes the machine's own count."""
    word = word - ((word >> np.uint64(1)) & np.uint64(_ONES))
    word = (word & np.uint64(_TWOS)) + ((word >> np.uint64(2)) & np.uint64(_TWOS))
    word = (word + (word >> np.uint64(4))) & np.uint64(_FOURS)
    return np.int64((word * np.uint64(_BYTES)) >> np.uint64(56))  # type: ignore[return-value]


@kernel
def places_of(cells: Sets) -> I64:
    """The numbers of the cells in a set."""
    count = 0
    for w in range(len(cells)):
        count += bits(cells[w])
    places, n = np.empty(count, np.int64), 0
    for place in range(64 * len(cells)):
        if (cells[place >> 6] >> np.uint64(place & 63)) & np.uint64(1):
            places[n] = place
            n += 1
    return places


@kernel
def squeezed(rows: Sets, places: I64) -> Sets:
    """The same sets with these cells alone, one behind the other."""
    squeezed_rows = np.zeros((len(rows), (len(places) + 63) >> 6), np.uint64)
    for r in range(len(rows)):
        for w in range(squeezed_rows.shape[1]):
            word = np.uint64(0)
            for n in range(64 * w, min(64 * w + 64, len(places))):
                place = places[n]
                bit = (rows[r, place >> 6] >> np.uint64(place & 63)) & np.uint64(1)
                word |= bit << np.uint64(n & 63)
            squeezed_rows[r, w] = word
    return squeezed_rows


@kernel
def spread_out(cells: Sets) -> Sets:
    """Of some cells up to 64, no two of them at the same place of their words."""
    masks = np.zeros(len(cells), np.uint64)
    for place in range(64):
        bit, begin = np.uint64(1) << np.uint64(place), place * len(cells) >> 6
        for w in range(begin, begin + len(cells)):
            if cells[w % len(cells)] & bit:
                masks[w % len(cells)] |= bit
                break
    return masks


@kernel
def probed(rows: Sets, masks: Sets) -> Sets:
    """The same sets with the cells that were spread out, in one word."""
    common = np.zeros(len(rows), np.uint64)
    for r in range(len(rows)):
        for w in range(len(masks)):
            common[r] |= rows[r, w] & masks[w]
    return common


@kernel
def overlap(tests: Sets, i: int, j: int, cells: Sets) -> int:
    """How many of some cells pass two tests."""
    count = 0
    for w in range(len(cells)):
        count += bits(tests[i, w] & tests[j, w] & cells[w])
    return count


@kernel
def count_all(columns: Sets, cells: Sets, gains: I64) -> None:
    """How many of some cells each set has, of sets that lie as columns: word by word, no jumps."""
    gains[:] = 0
    for w in range(len(cells)):
        word = cells[w]
        if word:
            for j in range(len(gains)):
                gains[j] += bits(columns[w, j] & word)


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
    count = 0
    for p in range(len(pairs)):
        for w in range(len(helps)):
            if tests[i, w] & tests[j, w] & helps[w] & pairs[p, w]:
                count += 1
                break
    return count


@kernel
def note(best: I64, gain: int, cost: int, action: int, i: int, j: int, pairs: int) -> None:
    """Keep a clause if it is among the best; of equals the one found first."""
    score, place = gain * SCALE // cost, len(best) - 1
    if pairs < 2:
        score //= LONELY
    if score <= best[place, SCORE]:
        return
    while place > 0 and best[place - 1, SCORE] < score:
        for field in range(FIELDS):
            best[place, field] = best[place - 1, field]
        place -= 1
    best[place, SCORE] = score
    best[place, ACTION] = action
    best[place, FIRST] = i
    best[place, SECOND] = -1 if j == i else j
    best[place, PAIRS] = pairs


@kernel
def hopeless(best: I64, gain: int, cost: int) -> bool:
    """Whether a gain at a price cannot be among the best: `gain * SCALE // cost` is no higher."""
    return bool(gain * SCALE < (best[len(best) - 1, SCORE] + 1) * cost)


@kernel
def promising(
    tests: Sets, probes: Sets, costs: I64, harms: Sets, probe: np.uint64, gains: I64, chosen: I64,
    scores: I64, alone: I64, best: I64, action_cost: int,
) -> tuple[int, int]:  # fmt: skip
    """Choose the tests worth combining with others: those that help most for their price.

    `gains` is how many cells each test helps; `alone` gets those that are never wrong by
    themselves. Return how many of both there are.
    """
    count, loners = 0, 0
    for j in range(len(tests)):
        gain = gains[j]
        if gain == 0 or hopeless(best, gain, costs[j] + action_cost + ONE_TEST):
            continue
        if probes[j] & probe == 0 and disjoint(tests, j, j, harms):
            alone[loners] = j
            loners += 1
            continue
        if count == len(chosen):  # a score no higher than the last one's is seen undivided
            if gain * SCALE < (scores[count - 1] + 1) * (costs[j] + TEST_OVERHEAD):
                continue
            count -= 1
        score = gain * SCALE // (costs[j] + TEST_OVERHEAD)
        place = count
        while place > 0 and scores[place - 1] < score:
            scores[place] = scores[place - 1]
            chosen[place] = chosen[place - 1]
            place -= 1
        scores[place] = score
        chosen[place] = j
        count += 1
    return count, loners


@kernel
def combinable(chosen: I64, count: int, gains: I64, costs: I64, best: I64, action_cost: int) -> int:
    """Keep those of the chosen that could be among the best with the cheapest of them."""
    least = costs[chosen[0]]
    for x in range(count):
        least = min(least, costs[chosen[x]])
    hopeful = 0
    for x in range(count):
        j = chosen[x]
        if not hopeless(best, gains[j], costs[j] + least + action_cost + TWO_TESTS):
            chosen[hopeful] = j
            hopeful += 1
    return hopeful


@entry
def best_clauses(
    tests: Sets, test_costs: I64, right: Sets, wrong: Sets, action_costs: I64, open_cells: Sets,
    faulty: Sets, pairs: Sets, width: int, best: I64,
) -> None:  # fmt: skip
    """Fill `best` with the clauses of the highest score, highest first; -1 where there is none.

    `right` and `wrong` are where each action is right and where wrong. Of `faulty` cells,
    which are open, some must become right. `width` tests per action are combined in twos.
    """
    best[:] = 0
    best[:, SCORE] = -1
    chosen, scores = np.empty(width, np.int64), np.empty(width, np.int64)
    gains, alone = np.empty(len(tests), np.int64), np.empty(len(tests), np.int64)
    places, masks = places_of(faulty), spread_out(open_cells)
    few, few_right, few_pairs = (
        squeezed(tests, places), squeezed(right, places), squeezed(pairs, places),
    )  # fmt: skip
    columns = few.T.copy()
    probes, probes_wrong = probed(tests, masks), probed(wrong, masks)
    seen_harms, harms = np.empty(width, np.uint64), np.empty(len(open_cells), np.uint64)
    for a in range(len(right)):
        helps, most, price = few_right[a], 0, action_costs[a]
        for w in range(len(helps)):
            most += bits(helps[w])
        if most == 0 or hopeless(best, most, price + ONE_TEST):
            continue
        for w in range(len(harms)):
            harms[w] = open_cells[w] & wrong[a, w]
        count_all(columns, helps, gains)
        count, loners = promising(
            tests, probes, test_costs, harms, probes_wrong[a], gains, chosen, scores, alone, best,
            price,
        )  # fmt: skip
        for x in range(loners):
            j = alone[x]
            cost = test_costs[j] + price + ONE_TEST
            if not hopeless(best, gains[j], cost):
                note(best, gains[j], cost, a, j, j, pairs_helped(few, j, j, helps, few_pairs))
        if count > 0:
            count = combinable(chosen, count, gains, test_costs, best, price)
        common = ~np.uint64(0)  # a harm that all before see: none of them goes with who sees it
        for x in range(count):
            seen_harms[x] = probes[chosen[x]] & probes_wrong[a]
            free = seen_harms[x] & common == 0
            common &= seen_harms[x]
            for y in range(x if free else 0):
                if seen_harms[x] & seen_harms[y]:
                    continue
                i, j = chosen[y], chosen[x]
                cost = test_costs[i] + test_costs[j] + price + TWO_TESTS
                if hopeless(best, min(gains[i], gains[j]), cost):
                    continue
                gain = overlap(few, i, j, helps)
                if gain > 0 and not hopeless(best, gain, cost) and disjoint(tests, i, j, harms):
                    note(best, gain, cost, a, i, j, pairs_helped(few, i, j, helps, few_pairs))
