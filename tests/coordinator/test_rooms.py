"""The roomiest slot equals the result of a plain scan of all slots, after any assignments."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.coordinator.placement import FairShare, Placement
from weft.coordinator.rooms import Rooms
from weft.coordinator.steps import LiveTask, TaskKind
from weft.model.slots import Node
from weft.model.tasks import COMMAND, Limits

CAPACITIES = st.lists(st.integers(-1, 5), min_size=1, max_size=12)


def plain_roomiest(left: Sequence[int], usable: Sequence[bool]) -> int | None:
    """The definition: the slot with the most room; on a tie, the first."""
    fitting = [slot for slot, room in enumerate(left) if room > 0 and usable[slot]]
    return max(fitting, key=lambda slot: (left[slot], -slot), default=None)


@given(CAPACITIES, st.data())
def test_roomiest_slot_is_the_one_of_the_plain_definition(
    capacity: list[int], data: st.DataObject
) -> None:
    """While the question is the same, slots only become unusable; each is refused at most once."""
    rooms, free = Rooms(capacity), list(capacity)
    for question in range(4):
        usable = [data.draw(st.booleans()) for _ in free]
        candidates = [slot for slot, may in enumerate(usable) if may or data.draw(st.booleans())]
        unusable: list[int] = []

        def may_use(slot: int) -> bool:
            return usable[slot] or bool(unusable.append(slot))  # noqa: B023

        for _ in range(5):
            slot = rooms.roomiest(question, lambda: candidates, may_use)  # noqa: B023
            assert slot == plain_roomiest(free, usable)
            if slot is not None:
                count = data.draw(st.integers(1, free[slot]))
                rooms.take(slot, count)
                free[slot] -= count
                usable[slot] = data.draw(st.booleans())
            assert rooms.left == free
            assert rooms.total == sum(room for room in free if room > 0)
            assert rooms.open_slots == sum(room > 0 for room in free)
        assert len(unusable) == len(set(unusable))


def test_slots_are_not_looked_through_again_for_each_command_that_must_wait() -> None:
    """A thousand busy slots and a thousand waiting commands do not cost a million checks."""
    placement = Placement([Node("n", cpus=1000)])
    command = LiveTask(TaskKind("", 0, COMMAND, Limits(), ()), 0, "k", "{}")
    for slot in range(1000):
        placement.hold(command, slot)
    looks: list[int] = []
    is_usable = placement._may_use
    placement._may_use = lambda slot, task: looks.append(slot) or is_usable(slot, task)  # type: ignore[method-assign,func-returns-value]
    rooms = Rooms([5] * 1000)
    assert {placement.choose(command, rooms, FairShare(9, 9)) for _ in range(1000)} == {None}
    assert len(looks) == 1000


@pytest.mark.parametrize(
    ("capacity", "in_service", "open_slots", "total"),
    [([2, -1, 0, 3], 3, 2, 5), ([-1, -1], 0, 0, 0), ([0, 1], 2, 1, 1), ([], 0, 0, 0)],
)
def test_slots_out_of_service_have_no_room_and_are_not_counted(
    capacity: list[int], in_service: int, open_slots: int, total: int
) -> None:
    rooms = Rooms(capacity)
    assert (rooms.in_service, rooms.open_slots, rooms.total) == (in_service, open_slots, total)
