"""Count the bins for fixed lists of items. Protected: an idea may not change it.

The harness of Weft runs it: the candidate's code packs in a process of its own and hands back
where each item went, and here the bins are checked and counted.
"""

CAPACITY = 150
TRAIN, HELD = (1, 2, 3, 4), (91, 92)


def items(seed, count):
    """Sizes from 20 to 100, from a generator that is the same everywhere."""
    state, sizes = seed, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        sizes.append(20 + (state >> 33) % 81)
    return sizes


def bins(sizes, places):
    """Return how many bins a packing has; None when it is not one."""
    if len(places) != len(sizes):
        return None
    filled = {}
    for size, place in zip(sizes, places, strict=True):
        filled[place] = filled.get(place, 0) + size
    return len(filled) if max(filled.values()) <= CAPACITY else None


def score(candidate):
    """Return the result: bins of the training lists, and of those held out."""
    lists = [items(seed, 150) for seed in TRAIN + HELD]
    packings = candidate.call_each("pack:pack", [[sizes] for sizes in lists])
    counts = [bins(*pair) for pair in zip(lists, packings, strict=True)]
    train, held = counts[: len(TRAIN)], counts[len(TRAIN) :]
    sound = [count for count in train if count is not None]
    return {
        "score": sum(sound),
        "holdout": sum(count or 0 for count in held),
        "rows": {"ok": len(sound), "expected": len(TRAIN)},
        "metrics": {"per_list": train},
    }
