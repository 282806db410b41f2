"""Leave-one-out cross-validation of decision lists: each pair is predicted from the others."""

from __future__ import annotations

import numpy as np

from weft.searches.arc.lists.learn import TrainingCells, learn


def loo_passes(training: TrainingCells) -> bool:
    """Whether every pair is predicted by the cheapest list learned without it."""
    pairs = int(training.pairs.max()) + 1
    return pairs > 1 and all(_predicts(training, left) for left in range(pairs))


def _predicts(training: TrainingCells, left: int) -> bool:
    """Whether a pair is predicted cell for cell by what is learned from the others."""
    is_left_out = training.pairs == left
    lists = learn(leave_out(training, left))
    if not lists:
        return False
    columns = {source: column[is_left_out] for source, column in training.columns.items()}
    decided = lists[0].decide(columns.__getitem__, int(is_left_out.sum()))
    return bool(np.array_equal(decided, training.expected[is_left_out]))


def leave_out(training: TrainingCells, left: int) -> TrainingCells:
    """Return the cells of all other pairs, the pairs renumbered."""
    stays = training.pairs != left
    pairs = training.pairs[stays]
    columns = {source: column[stays] for source, column in training.columns.items()}
    return TrainingCells(columns, training.expected[stays], pairs - (pairs > left).astype(np.uint8))
