"""Find the actions that are consistent with an object's target, and the target cells each draws.

    slide north  ──► leave slide north, slide north in 3
    ray east own ──► ray east 3, ray east 5

Most actions differ from another one only in the colour in which they draw, or in that the moved
object also stays. Such a family is applied once. `plain_covers` is the definition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.searches.arc.tables.actions import IN, KEEPING, LEAVE, ONLY, Action, applied
from weft.searches.arc.tables.colours import OWN, colour_of
from weft.searches.arc.tables.scene import Body, Drawn, Layer, Scene

OF_AREAS = ("stay", "paint")
"""Actions that apply to black areas."""
INKED = frozenset((
    "ray", "beam", "cut", "reach", "tally", "link", "elbow", "crawl", "bounce", "stairs", "spill",
    "add", "cover",
))  # fmt: skip
"""Actions that draw one set of cells, in the colour that is their last word."""
Covers = dict[int, int]
"""The target cells that each consistent action draws, by the action's number."""
Known = dict[Action, Drawn | None]
Variant = tuple[int, str, str]
"""The number of an action, how it differs from the base of its family, and its colour."""
Families = dict[Action, list[Variant]]


def families_of(actions: Sequence[Action]) -> Families:
    """Group actions by the action of which they are variants."""
    families: Families = {}
    for n, action in enumerate(actions):
        first, how, ink = _variant(action)
        families.setdefault(first, []).append((n, how, ink))
    return families


def _variant(action: Action) -> tuple[Action, str, str]:
    """Return the action of which this is a variant, the kind of variant, and its colour."""
    if action[0] == LEAVE:
        return action[1:], LEAVE, ""
    if action[0] == ONLY:
        return (*action[1:-1], OWN), ONLY, action[-1]
    if len(action) > 2 and action[-2] == IN:
        return action[:-2], IN, action[-1]
    if action[0] in INKED:
        return (*action[:-1], OWN), OWN, action[-1]
    return action, "", ""


@dataclass(frozen=True, slots=True)
class TargetMasks:
    """The cells of a target that actions may draw, and those where they may differ from it."""

    masks: Sequence[int]
    """The target's cells of each colour."""
    covered: int
    """Where layers below the objects may differ."""
    hidden: int
    """Where objects may differ."""

    def cover(self, layers: Sequence[Layer], other: int = 0) -> int | None:
        """Return the target cells that layers draw; None if one is neither right nor in `other`."""
        cover = 0
        for colour, mask in layers:
            if mask & ~self.masks[colour] & ~other:
                return None
            cover |= mask & self.masks[colour]
        return cover


def covers(
    scene: Scene, body: Body, families: Families, known: Known, target: TargetMasks
) -> Covers:
    """Return what each consistent action draws; `known` collects results of actions on the body."""
    stays, covered = target.cover(body.layers, target.hidden), Covers()
    for first, variants in families.items():
        if not body.colour and first[0] not in OF_AREAS:
            continue
        if stays is None and first[0] in KEEPING and all(how != ONLY for _, how, _ in variants):
            continue
        if first not in known:
            known[first] = applied(scene, body, first)
        result = known[first]
        if result is not None:
            for n, how, ink in variants:
                cover = _cover(scene, body, result, how, ink, stays, target)
                if cover is not None:
                    covered[n] = cover
    return covered


def _cover(
    scene: Scene,
    body: Body,
    result: Drawn,
    how: str,
    ink: str,
    stays: int | None,
    target: TargetMasks,
) -> int | None:
    """Return the target cells that a variant draws, from its family's `result`; None if wrong."""
    if not how:
        return _whole_cover(result, target)
    if how == LEAVE:
        copy = None if stays is None else target.cover(result.body, target.covered)
        return None if stays is None or copy is None else stays | copy
    colour = colour_of(scene, body, ink)
    if colour is None:
        return None
    if how == IN:
        return target.cover([(colour, mask) for _, mask in result.body], target.hidden)
    if how != ONLY and stays is None:
        return None
    ((_, cells),) = result.below or result.above
    added = target.cover(((colour, cells),), target.covered if result.below else 0)
    return added if added is None or how == ONLY or stays is None else stays | added


def _whole_cover(result: Drawn, target: TargetMasks) -> int | None:
    cover = 0
    for layers, other in (
        (result.body, target.hidden),
        (result.below, target.covered),
        (result.above, 0),
    ):
        own = target.cover(layers, other)
        if own is None:
            return None
        cover |= own
    return cover


def plain_covers(
    scene: Scene, body: Body, actions: Sequence[Action], target: TargetMasks
) -> Covers:
    """Do the same as `covers`, slowly: action by action."""
    results = {
        n: applied(scene, body, action)
        for n, action in enumerate(actions)
        if body.colour or action[0] in OF_AREAS
    }
    each = {n: _whole_cover(result, target) for n, result in results.items() if result is not None}
    return {n: cover for n, cover in each.items() if cover is not None}
