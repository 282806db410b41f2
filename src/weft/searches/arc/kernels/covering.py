"""The inner step of learning a decision list: find the clauses that explain most for their price.

Sets of cells are rows of 64-bit words. A clause is an action and one or two tests; it must be
right on all open cells that it decides, and its gain is the faulty cells that it makes right.

    faulty cells     ──► every set squeezed to them: gains are counted in few words
    a few open cells ──► every set squeezed to one word, the probe: most errors show there

For clauses that would be among the best, the full sets are searched for errors that probes miss.
The actions that could gain most come first, so that a bound rejects most others, and most tests.
Ties go to the first action, then to the first tests, whatever the order in which they are tried.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from weft.searches.arc.kernels.compiled import entry, kernel
from weft.searches.arc.kernels.extract import STEPS, extracted
from weft.searches.arc.kernels.layout import I64, U8

Sets = npt.NDArray[np.uint64]
SCORE, ACTION, FIRST, SECOND, PAIRS = 0, 1, 2, 3, 4
"""Columns of a clause; the second test is -1 if there is none."""
FIELDS = 5
SCALE = 1_000_000
ONE_TEST, TWO_TESTS = 2000, 3000
"""Costs of a clause besides its tests and action, in thousandths of a bit."""
TEST_OVERHEAD = 3000
LONELY = 3
"""Divisor of the score of a clause that helps in one training pair only."""
_ONES, _TWOS, _FOURS = 0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F
_BYTES = 0x0101010101010101
LEAD = 8
"""Number of actions tried before the others: those that could gain most for their price."""
KEY_BITS = 20
"""Low bits of a test's sort key, which order equal scores by index; the score is above them."""


@kernel
def bits(word: np.uint64) -> int:
    """Count the set bits of a word; LLVM recognises the pattern and uses the CPU's instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(_ONES))
    word = (word & np.uint64(_TWOS)) + ((word >> np.uint64(2)) & np.uint64(_TWOS))
    word = (word + (word >> np.uint64(4))) & np.uint64(_FOURS)
    return np.int64((word * np.uint64(_BYTES)) >> np.uint64(56))  # type: ignore[return-value]


@kernel
def count_bits(cells: Sets) -> int:
    """Return the number of cells in a set."""
    count = 0
    for w in range(len(cells)):
        count += bits(cells[w])
    return count


@kernel
def moves_of(cells: Sets) -> Sets:
    """Return which bits of each word move by 1, 2, 4 … places when a set's cells are squeezed.

    Hacker's Delight, 7-4: all bits of a word move at once, in six steps.
    """
    moves = np.zeros((len(cells), STEPS), np.uint64)
    for w in range(len(cells)):
        mask = cells[w]
        gaps = ~mask << np.uint64(1)
        for step in range(STEPS):
            odd = gaps
            for by in range(STEPS):
                odd ^= odd << np.uint64(1 << by)
            moves[w, step] = odd & mask
            mask = (mask ^ moves[w, step]) | (moves[w, step] >> np.uint64(1 << step))
            gaps &= ~odd
    return moves


@kernel
def squeezed(rows: Sets, cells: Sets, moves: Sets) -> Sets:
    """Return the sets restricted to some cells, packed together."""
    count = count_bits(cells)
    squeezed_rows = np.zeros((len(rows), (count + 63) >> 6), np.uint64)
    for r in range(len(rows)):
        at = 0
        for w in range(len(cells)):
            if cells[w] == 0:
                continue
            word = extracted(rows[r, w], cells[w], moves, w)
            place = at & 63
            if word:
                squeezed_rows[r, at >> 6] |= word << np.uint64(place)
                if place and word >> np.uint64(64 - place):
                    squeezed_rows[r, (at >> 6) + 1] |= word >> np.uint64(64 - place)
            at += bits(cells[w])
    return squeezed_rows


@kernel
def spread_out(cells: Sets) -> Sets:
    """Select up to 64 of some cells, no two of them at the same bit of their words."""
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
    """Return the sets restricted to the cells that were spread out, as one word each."""
    common = np.zeros(len(rows), np.uint64)
    for r in range(len(rows)):
        for w in range(len(masks)):
            common[r] |= rows[r, w] & masks[w]
    return common


@kernel
def overlap(tests: Sets, i: int, j: int, cells: Sets) -> int:
    """Count those of some cells that pass both tests."""
    count = 0
    for w in range(len(cells)):
        count += bits(tests[i, w] & tests[j, w] & cells[w])
    return count


@kernel
def count_all(columns: Sets, cells: Sets, gains: I64) -> None:
    """Count some cells in each set; the sets are columns, so that the inner loop is sequential."""
    gains[:] = 0
    for w in range(len(cells)):
        word = cells[w]
        if word:
            for j in range(len(gains)):
                gains[j] += bits(columns[w, j] & word)


@kernel
def disjoint(tests: Sets, i: int, j: int, cells: Sets) -> bool:
    """Whether none of some cells passes both tests."""
    w = 0
    while w < len(cells) and tests[i, w] & tests[j, w] & cells[w] == 0:
        w += 1
    return w == len(cells)


@kernel
def pairs_helped(tests: Sets, i: int, j: int, helps: Sets, pairs: Sets) -> int:
    """Count the training pairs in which a helped cell passes both tests."""
    count = 0
    for p in range(len(pairs)):
        for w in range(len(helps)):
            if tests[i, w] & tests[j, w] & helps[w] & pairs[p, w]:
                count += 1
                break
    return count


@kernel
def is_lonely(sets: Sets, n: int, helps: Sets, pairs: Sets) -> bool:
    """Whether all helped cells of a set belong to one training pair."""
    w = 0
    while w < len(helps) and sets[n, w] & helps[w] == 0:
        w += 1
    if w == len(helps):
        return True
    word, p = sets[n, w] & helps[w], 0
    while word & pairs[p, w] == 0:
        p += 1
    while w < len(helps) and sets[n, w] & helps[w] & ~pairs[p, w] == 0:
        w += 1
    return w == len(helps)


@kernel
def needed_score(best: I64, action: int) -> int:
    """Return the score that a clause with this action needs to be among the best."""
    last = len(best) - 1
    return best[last, SCORE] + (1 if action >= best[last, ACTION] else 0)  # type: ignore[no-any-return]


@kernel
def note(best: I64, gain: int, cost: int, action: int, i: int, j: int, pairs: int) -> None:
    """Insert a clause if it is among the best; ties go to the lower action, then to the earlier."""
    score, place = gain * SCALE // cost, len(best) - 1
    if pairs < 2:
        score //= LONELY
    if score < needed_score(best, action):
        return
    while place > 0 and (
        best[place - 1, SCORE] < score
        or (best[place - 1, SCORE] == score and best[place - 1, ACTION] > action)
    ):
        for field in range(FIELDS):
            best[place, field] = best[place - 1, field]
        place -= 1
    best[place, SCORE] = score
    best[place, ACTION] = action
    best[place, FIRST] = i
    best[place, SECOND] = -1 if j == i else j
    best[place, PAIRS] = pairs


@kernel
def hopeless(needed: int, gain: int, cost: int) -> bool:
    """Whether a gain at a price does not reach the score that is needed."""
    return gain * SCALE < needed * cost


@kernel
def promising(
    tests: Sets, probes: Sets, costs: I64, live: I64, harms: Sets, probe: np.uint64, gains: I64,
    chosen: I64, keys: I64, alone: I64, few: Sets, helps: Sets, few_pairs: Sets, solitary: U8,
    lonely: U8, all_lonely: bool, needed: int, price: int, least_test: int,
) -> tuple[int, int]:  # fmt: skip
    """Choose the tests worth combining with others: those that help most for their price.

    `gains` holds how many cells each live test helps; `lonely` gets whether these are in one pair
    only, and `alone` the tests that are never wrong by themselves. Return the numbers of chosen
    tests and of those alone. Whatever is rejected as hopeless scores lower than everything else, so
    it would displace nothing.
    """
    count, loners, last, last_key = 0, 0, len(chosen) - 1, (1 << KEY_BITS) - 1
    for n in range(len(live)):
        gain, j = gains[n], live[n]
        if gain == 0 or hopeless(needed, gain, costs[j] + price + ONE_TEST):
            continue
        if probes[j] & probe == 0 and disjoint(tests, j, j, harms):
            alone[loners] = n
            loners += 1
            continue
        cost = costs[j] + least_test + price + TWO_TESTS
        if hopeless(needed, gain, cost) or (
            count > last and gain * SCALE < ((keys[last] >> KEY_BITS) + 1) * cost
        ):
            continue  # whether it is lonely takes longer to check, and could only lower its score
        lonely[n] = all_lonely or solitary[j] or is_lonely(few, j, helps, few_pairs)
        if lonely[n]:
            cost *= LONELY
            if hopeless(needed, gain, cost):
                continue
        key = (gain * SCALE // cost << KEY_BITS) + last_key - n
        if count > last:
            if key <= keys[last]:
                continue
            count -= 1
        place = count
        while place > 0 and keys[place - 1] < key:
            keys[place] = keys[place - 1]
            place -= 1
        keys[place] = key
        count += 1
    for x in range(count):
        chosen[x] = last_key - (keys[x] & last_key)
    return count, loners


@kernel
def combinable(
    chosen: I64, count: int, gains: I64, costs: I64, live: I64, lonely: U8, needed: int, price: int
) -> int:
    """Keep chosen tests that could be among the best if combined with the cheapest of them."""
    least = costs[live[chosen[0]]]
    for x in range(count):
        least = min(least, costs[live[chosen[x]]])
    hopeful = 0
    for x in range(count):
        n = chosen[x]
        cost = costs[live[n]] + least + price + TWO_TESTS
        if not hopeless(needed, gains[n], cost * (LONELY if lonely[n] else 1)):
            chosen[hopeful] = n
            hopeful += 1
    return hopeful


@kernel
def live_tests(
    sizes: I64, costs: I64, solitary: U8, least_price: int, needed: int, columns: Sets
) -> tuple[I64, Sets]:
    """Return the tests that could be in a clause of the needed score, and their sets as columns."""
    count = 0
    live = np.empty(len(sizes), np.int64)
    for j in range(len(sizes)):
        factor = LONELY if solitary[j] else 1
        if sizes[j] and not hopeless(needed, sizes[j], factor * (costs[j] + least_price)):
            live[count] = j
            count += 1
    kept = np.empty((len(columns), count), np.uint64)
    for w in range(len(columns)):
        for n in range(count):
            kept[w, n] = columns[w, live[n]]
    return live[:count].copy(), kept


@kernel
def cheapest_test(tests: Sets, costs: I64, open_cells: Sets) -> int:
    """Return the price of the cheapest test that some open cell does not pass."""
    least = np.int64(1) << np.int64(40)
    for j in range(len(tests)):
        if costs[j] < least:
            for w in range(len(open_cells)):
                if open_cells[w] & ~tests[j, w]:
                    least = costs[j]
                    break
    return least  # type: ignore[return-value]


@kernel
def next_action(bounds: I64, turn: int) -> int:
    """Return the next action: first those with the highest bounds, then the others; -1 for none."""
    if turn >= LEAD:
        return turn - LEAD if bounds[turn - LEAD] >= 0 else -1
    highest = 0
    for a in range(len(bounds)):
        if bounds[a] > bounds[highest]:
            highest = a
    return highest if bounds[highest] >= 0 else -1


@kernel
def combine(
    tests: Sets, costs: I64, few: Sets, helps: Sets, harms: Sets, few_pairs: Sets, live: I64,
    gains: I64, lonely: U8, chosen: I64, count: int, seen_harms: Sets, action: int, price: int,
    best: I64,
) -> None:  # fmt: skip
    """Note the clauses of two chosen tests; `seen_harms` holds each one's harms in the probe."""
    common = ~np.uint64(0)  # harms of all tests before: one that shares any combines with none
    for x in range(count):
        free = seen_harms[x] & common == 0
        common &= seen_harms[x]
        for y in range(x if free else 0):
            if seen_harms[x] & seen_harms[y]:
                continue
            i, j = live[chosen[y]], live[chosen[x]]
            cost = costs[i] + costs[j] + price + TWO_TESTS
            bound = cost * (LONELY if lonely[chosen[x]] or lonely[chosen[y]] else 1)
            needed = needed_score(best, action)
            if hopeless(needed, min(gains[chosen[y]], gains[chosen[x]]), bound):
                continue
            gain = overlap(few, i, j, helps)
            if gain > 0 and not hopeless(needed, gain, bound) and disjoint(tests, i, j, harms):
                note(best, gain, cost, action, i, j, pairs_helped(few, i, j, helps, few_pairs))


@entry
def best_clauses(
    tests: Sets, test_costs: I64, right: Sets, wrong: Sets, action_costs: I64, open_cells: Sets,
    faulty: Sets, pairs: Sets, width: int, best: I64,
) -> None:  # fmt: skip
    """Fill `best` with the clauses of the highest score, highest first; -1 where there is none.

    `right` and `wrong` hold the cells on which each action is right or wrong. Some of the `faulty`
    cells, which are open, must become right. `width` tests per action are combined in pairs.
    """
    best[:] = 0
    best[:, SCORE] = -1
    least_test = cheapest_test(tests, test_costs, open_cells)
    chosen, keys = np.empty(width, np.int64), np.empty(width, np.int64)
    gains, alone = np.empty(len(tests), np.int64), np.empty(len(tests), np.int64)
    lonely = np.zeros(len(tests), np.uint8)
    moves, masks = moves_of(faulty), spread_out(open_cells)
    few, few_right, few_pairs = (
        squeezed(tests, faulty, moves), squeezed(right, faulty, moves),
        squeezed(pairs, faulty, moves),
    )  # fmt: skip
    columns = few.T.copy()
    probes, probes_wrong = probed(tests, masks), probed(wrong, masks)
    seen_harms, harms = np.empty(width, np.uint64), np.empty(len(open_cells), np.uint64)
    sizes, bounds = np.empty(len(tests), np.int64), np.empty(len(right), np.int64)
    solitary = np.empty(len(tests), np.uint8)
    for j in range(len(tests)):
        sizes[j], solitary[j] = count_bits(few[j]), is_lonely(few, j, few[j], few_pairs)
    for a in range(len(right)):
        most, price = count_bits(few_right[a]), action_costs[a] + ONE_TEST
        if not disjoint(wrong, a, a, open_cells):  # it needs a test
            price += least_test
        if is_lonely(few_right, a, few_right[a], few_pairs):
            price *= LONELY
        bounds[a] = most * SCALE // price if most else -1
    least_price = ONE_TEST + (action_costs.min() if len(right) else 0)
    live, kept = live_tests(sizes, test_costs, solitary, least_price, 0, columns)
    for turn in range(LEAD + len(right)):
        a = next_action(bounds, turn)
        if turn == LEAD:
            enough = best[-1, SCORE]
            live, kept = live_tests(sizes, test_costs, solitary, least_price, enough, columns)
        if a < 0 or bounds[a] < needed_score(best, a):
            continue
        bounds[a] = -1
        helps, price = few_right[a], action_costs[a]
        for w in range(len(harms)):
            harms[w] = open_cells[w] & wrong[a, w]
        own = gains[: len(live)]
        count_all(kept, helps, own)
        count, loners = promising(
            tests, probes, test_costs, live, harms, probes_wrong[a], own, chosen, keys, alone,
            few, helps, few_pairs, solitary, lonely, is_lonely(few_right, a, helps, few_pairs),
            needed_score(best, a), price, least_test,
        )  # fmt: skip
        for x in range(loners):
            j = live[alone[x]]
            cost = test_costs[j] + price + ONE_TEST
            if not hopeless(needed_score(best, a), own[alone[x]], cost):
                note(best, own[alone[x]], cost, a, j, j, pairs_helped(few, j, j, helps, few_pairs))
        if count > 0:
            needed = needed_score(best, a)
            count = combinable(chosen, count, own, test_costs, live, lonely, needed, price)
        for x in range(count):
            seen_harms[x] = probes[live[chosen[x]]] & probes_wrong[a]
        combine(
            tests, test_costs, few, helps, harms, few_pairs, live, own, lonely, chosen, count,
            seen_harms, a, price, best,
        )  # fmt: skip
