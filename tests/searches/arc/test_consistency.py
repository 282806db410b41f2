"""Families of actions, compared with single actions: which are consistent with a target."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.arcvalues import grids
from weft.searches.arc.fitted.choose import segment
from weft.searches.arc.tables.consistency import TargetMasks, covers, families_of, plain_covers
from weft.searches.arc.tables.scene import Scene, masks_of
from weft.searches.arc.tables.vocabulary import actions
from weft.searches.arc.values import Grid

ACTIONS = list(actions((1, 2), [(1, 0), (0, -1)], (1, 3)))


@st.composite
def targets(draw: st.DrawFn) -> tuple[Grid, Grid]:
    """A grid, and a copy with some cells changed."""
    given_grid = draw(grids(5))
    cells = bytearray(given_grid.cells)
    for place in draw(st.lists(st.integers(0, len(cells) - 1), max_size=4)):
        cells[place] = draw(st.integers(0, 3))
    return given_grid, Grid(given_grid.height, given_grid.width, bytes(cells))


@settings(max_examples=40, deadline=None)
@given(both=targets(), covered=st.integers(0, 1 << 25), hidden=st.integers(0, 1 << 25))
def test_families_cover_what_single_actions_cover(
    both: tuple[Grid, Grid], covered: int, hidden: int
) -> None:
    scene = Scene(both[0], segment("objects_8", both[0]))
    target = TargetMasks(masks_of(both[1]), covered, hidden)
    for body in scene.bodies:
        expected = plain_covers(scene, body, ACTIONS, target)
        assert covers(scene, body, families_of(ACTIONS), {}, target) == expected


def test_every_action_is_in_one_family() -> None:
    families = families_of(ACTIONS)
    numbers = [n for variants in families.values() for n, _, _ in variants]
    assert sorted(numbers) == list(range(len(ACTIONS)))
    assert 2 * len(families) < len(ACTIONS)
