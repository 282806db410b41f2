"""Select which ranked evals become nodes: the best that differ enough from each other.

Of siblings with equal scores, only the first is kept; a parent gets at most
`max_children_per_parent` new children; with `novelty = "files"`, evals that change a file no chosen
eval changes go first. The first two rules are the verdict of the evals that they exclude.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from weft.searches.tree.config import TreeConfig
from weft.searches.tree.history import Eval
from weft.searches.tree.objectives import vector_of

CHILDREN = "max_children_per_parent"


def select(order: Sequence[Eval], config: TreeConfig) -> list[Eval]:
    """Return the promoted evals of a ranking, in its order."""
    for item in order:
        item.passed_over = ""
    distinct = list(order)
    if config.equal_siblings == "once":
        distinct = _first_of_equals(distinct, config)
    beam = _Beam(config)
    if config.novelty == "files":
        for item in distinct:
            if beam.is_new(item):
                beam.offer(item)
    for item in distinct:
        beam.offer(item)
    return [item for item in order if item.eval_id in beam.chosen]


def _first_of_equals(order: Sequence[Eval], config: TreeConfig) -> list[Eval]:
    """Drop evals that score the same as an earlier sibling, which their verdict names."""
    first: dict[tuple[object, ...], Eval] = {}
    distinct: list[Eval] = []
    for item in order:
        assert item.result is not None
        known = first.setdefault((item.parent.node_id, *vector_of(item.result, config)), item)
        if known is item:
            distinct.append(item)
        else:
            item.passed_over = f"same score as {known.name}"
    return distinct


@dataclass(slots=True)
class _Beam:
    """The places in the beam of a depth, and the evals chosen for them."""

    config: TreeConfig
    chosen: set[int] = field(default_factory=set)
    """Eval ids; membership only."""
    children: dict[int, int] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)
    """Paths changed by the chosen evals; membership only."""

    def is_new(self, item: Eval) -> bool:
        """Whether it changes a file that no eval chosen so far changes."""
        assert item.candidate is not None
        return any(name not in self.files for name in item.candidate.changed)

    def offer(self, item: Eval) -> None:
        """Choose an eval if there is a place for it."""
        if item.eval_id in self.chosen or len(self.chosen) >= self.config.beam_width:
            return
        most, parent = self.config.max_children_per_parent, item.parent.node_id
        if most and self.children.get(parent, 0) >= most:
            item.passed_over = CHILDREN
            return
        assert item.candidate is not None
        self.chosen.add(item.eval_id)
        self.children[parent] = self.children.get(parent, 0) + 1
        self.files.update(item.candidate.changed)
