"""Generate pseudo-puzzles for fitting confidence: training tasks, divided and transformed.

    python tools/make_pseudo_puzzles.py OUT [--batch 300] [--every N]

Writes OUT/batch-00.json and so on, each a file of tasks by name for `weft arc bench --data`. Bases
are the training tasks of ARC-AGI-1, and those of ARC-AGI-2 that are not in ARC-AGI-1 (by name and
by contents; nothing of an evaluation split is read). A puzzle is named `TASK-hH-KIND-N`, where H is
the half of its base, the parity of the task's digest:

    whole   the unmodified task
    left    one training pair is left out and becomes the only test
    pairs   two training pairs stay, up to three other examples are the tests
    few     two training pairs stay, one other example is the test

From N = 1 on, the puzzle is also rotated or mirrored, and its colours other than black are
permuted. Puzzles are written as they are searched, with a black background. All choices come from
hashes of the task's digest, so that every machine writes the same files.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

from weft.searches.arc.data import load
from weft.searches.arc.heldout import fingerprint, held_out
from weft.searches.arc.normal.ground import on_black_ground
from weft.searches.arc.symmetries import AUGMENTATIONS, COLOURS, SAME, permuted
from weft.searches.arc.task import ArcTask, Pair

BATCH = 300
MOST_TESTS = 3
DRAWS = (
    ("whole", 0), ("pairs", 0), ("pairs", 1), ("left", 0), ("few", 0), ("pairs", 2), ("left", 1),
)  # fmt: skip
"""Puzzles derived from a base, the most important first. Bases of ARC-AGI-2, which are hard and
slow, get only the first `FEW_DRAWS`; the third of `pairs` needs three possible tests."""
FEW_DRAWS = 3


def bases() -> list[ArcTask]:
    """Return the tasks that puzzles are derived from, in the order of their digests."""
    first = load("arc-agi-1", "training").tasks
    contents = {fingerprint(task) for task in first}
    second = [
        task
        for task in load("arc-agi-2", "training").tasks
        if task.name not in first_names()
        and fingerprint(task) not in contents
        and not held_out([task])
    ]
    return sorted((*first, *second), key=lambda task: task.digest)


def puzzles_of(base: ArcTask) -> Iterator[ArcTask]:
    """Generate all puzzles of a base, the most important first."""
    examples = len(base.train) + len(base.test)
    for kind, number in DRAWS if base.name in first_names() else DRAWS[:FEW_DRAWS]:
        if number < 2 or examples >= 2 + MOST_TESTS:
            puzzle = _puzzle(base, kind, number)
            if puzzle is not None:
                yield _shown(puzzle if number == 0 else _changed(puzzle))


@cache
def first_names() -> frozenset[str]:
    """Return the names of the training tasks of ARC-AGI-1."""
    return frozenset(task.name for task in load("arc-agi-1", "training").tasks)


def _puzzle(base: ArcTask, kind: str, number: int) -> ArcTask | None:
    """Divide a base's examples into training pairs and tests; None if there are too few."""
    name = f"{base.name}-h{int(base.digest, 16) % 2}-{kind}-{number}"
    if kind == "whole":
        return ArcTask(name, base.train, base.test, base.truth)
    examples = [*base.train, *map(Pair, base.test, base.truth)]
    order = _shuffled(examples, f"{base.digest} {kind} {number}")
    if kind == "left":
        train, tests = _without_one(base.train, f"{base.digest} {number}"), []
        tests = [pair for pair in base.train if pair not in train]
    else:
        train, tests = order[:2], order[2 : 2 + (1 if kind == "few" else MOST_TESTS)]
    if len(train) < 2 or not tests:
        return None
    inputs, truth = tuple(pair.input for pair in tests), tuple(pair.output for pair in tests)
    return ArcTask(name, tuple(train), inputs, truth)


def _without_one(train: Sequence[Pair], key: str) -> list[Pair]:
    dropped = _shuffled(train, key)[0]
    return [pair for pair in train if pair != dropped]


def _changed(puzzle: ArcTask) -> ArcTask:
    """Rotate or mirror a puzzle, and permute its colours other than black."""
    key = puzzle.name
    place = _shuffled([SAME, *AUGMENTATIONS[:7]], key)[0]
    names = permuted("colours", (0, *_shuffled(range(1, COLOURS), key)))

    def pair(old: Pair) -> Pair:
        return Pair(*(names.apply(place.apply(grid)) for grid in (old.input, old.output)))

    tests = [pair(Pair(a, b)) for a, b in zip(puzzle.test, puzzle.truth, strict=True)]
    return ArcTask(
        puzzle.name,
        tuple(map(pair, puzzle.train)),
        tuple(test.input for test in tests),
        tuple(test.output for test in tests),
    )


def _shown(puzzle: ArcTask) -> ArcTask:
    """Return a puzzle as it is searched, with a black background, and with its truth."""
    on_black, view = on_black_ground(puzzle)
    if view is None:
        return puzzle
    both = zip(puzzle.test, puzzle.truth, strict=True)
    return replace(on_black, truth=tuple(view.symmetry(given).apply(true) for given, true in both))


def _shuffled(items: Sequence[Any], key: str) -> list[Any]:
    """Order items by hashes of a key and their places."""

    def rank(place: int) -> str:
        return hashlib.sha256(f"{key} {place}".encode()).hexdigest()

    return [items[place] for place in sorted(range(len(items)), key=rank)]


def to_json(puzzle: ArcTask) -> dict[str, object]:
    """Return a puzzle in the format of ARC files."""
    train = [{"input": p.input.rows(), "output": p.output.rows()} for p in puzzle.train]
    tests = zip(puzzle.test, puzzle.truth, strict=True)
    return {"train": train, "test": [{"input": a.rows(), "output": b.rows()} for a, b in tests]}


def main() -> None:
    """Write the batches: the first puzzle of every base, then the second of every base, etc."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("out", type=Path)
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--every", type=int, default=1, help="take every Nth base only")
    args = parser.parse_args()
    chosen = bases()[:: args.every]
    rows = zip_longest(*(list(puzzles_of(base)) for base in chosen))
    puzzles = [puzzle for row in rows for puzzle in row if puzzle is not None]
    args.out.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, len(puzzles), args.batch)):
        batch = {puzzle.name: to_json(puzzle) for puzzle in puzzles[start : start + args.batch]}
        (args.out / f"batch-{number:02}.json").write_text(json.dumps(batch))
    print(f"{len(puzzles)} puzzles of {len(chosen)} tasks in {args.out}")


if __name__ == "__main__":
    main()
