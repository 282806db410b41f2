"""Apply one action to every object of a grid: the resulting grids are columns of decision lists.

    objects_8.cover.ring.own      the segmentation, then the words of the action

An object to which the action does not apply stays as it is. Actions that fit many objects by
accident, above all shifts by a number of cells, are left to tables, which must fit every object.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weft.searches.arc.fitted.choose import segment
from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.ops.registry import BY_NAME
from weft.searches.arc.tables.actions import IN, Action, applied
from weft.searches.arc.tables.scene import Body, Drawn, Scene
from weft.searches.arc.tables.table import composed
from weft.searches.arc.tables.vocabulary import actions, check, price
from weft.searches.arc.values import Grid

SEGMENTATIONS = ("objects_8", "blobs_8", "layers")
NAMES = frozenset((
    "slide", "edge", "meet", "align", "settle", "mirror", "paint", "turn", "reflect", "tile",
    "image", "ray", "beam", "link", "elbow", "bounce", "add", "cover",
))  # fmt: skip
"""Names of the actions that are tried."""
SEPARATOR = "."
NAMING = 4 * BIT
"""Price of using an action: two bits more than for a chain, as more actions fit by accident."""
Masks = list[int]
"""The cells of each colour, black included."""


@dataclass(frozen=True, slots=True)
class ActedSource:
    """A segmentation, and the action on all its objects."""

    segmentation: str
    action: Action

    def text(self) -> str:
        """Return the text used in lists."""
        return SEPARATOR.join((self.segmentation, *self.action))

    @property
    def millibits(self) -> int:
        """The price of naming the source."""
        return NAMING + BY_NAME[self.segmentation].millibits + price(self.action)

    def grid(self, given: Grid) -> Grid | None:
        """Return the resulting grid; None if the given one has no objects."""
        pieces = segment(self.segmentation, given)
        return plain_everywhere(Scene(given, pieces), self.action) if pieces else None


def parse(text: str) -> ActedSource:
    """Undo `ActedSource.text`; raises ValueError or KeyError for other texts."""
    segmentation, *words = text.split(SEPARATOR)
    action = check(words)
    if segmentation not in SEGMENTATIONS or not _is_tried(action):
        raise ValueError(text)
    return ActedSource(segmentation, action)


def acts(colours: Sequence[int]) -> Iterator[Action]:
    """Yield the actions to try if `colours` are the new colours of the targets."""
    return filter(_is_tried, actions(colours, (), has_tallies=False))


def _is_tried(action: Action) -> bool:
    return action[0] in NAMES and IN not in action


def everywhere(scene: Scene, action: Action) -> Masks:
    """Return the result of an action on all objects, as masks: what is drawn last comes first."""
    results = [_result(scene, body, action) for body in scene.bodies]
    masks, free = [0] * 10, scene.everything
    for layers in (
        *(result.above for result in reversed(results)),
        *(result.body for result in reversed(results)),
        *(result.below for result in reversed(results)),
    ):
        for colour, mask in reversed(layers):
            masks[colour] |= mask & free
            free &= ~mask
    masks[0] |= free
    return masks


def plain_everywhere(scene: Scene, action: Action) -> Grid:
    """Do the same as `everywhere`, cell by cell, in the order in which objects are drawn."""
    results = [_result(scene, body, action) for body in scene.bodies]
    return composed(scene, results)


def _result(scene: Scene, body: Body, action: Action) -> Drawn:
    return applied(scene, body, action) or Drawn(body.layers)
