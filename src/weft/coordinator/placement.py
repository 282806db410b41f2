"""Which slot runs which task, under the caps. Pure; recorded in the manifest, never the ledger.

`static` deals the tasks of a round, GPU and CPU tasks separately, over the nodes in proportion to
their slots, then round-robin over a node's slots: this is known in advance, and each slot runs its
list in order. When a slot is gone, only its own list is dealt again, over those that are left.
`greedy` gives the next task to the slot with the most room. A task waits while its slot has no
room, or its node or group is at its cap; later tasks that fit elsewhere go first. A command waits
for an empty slot. Under both, a task that must run alone avoids the slot where it was last lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple

from weft.coordinator.policy import runs_alone
from weft.coordinator.rooms import Rooms
from weft.coordinator.steps import LiveTask
from weft.errors import OptionInvalid
from weft.model.slots import Deal, Node, Slot, slots_of
from weft.model.tasks import COMMAND

PLACEMENTS = ("greedy", "static")


@dataclass(frozen=True, slots=True)
class Caps:
    """How many tasks may run at a time; None means no limit."""

    total: int | None = None
    group: int | None = None


NO_CAPS = Caps()


class FairShare(NamedTuple):
    """How many tasks a slot may hold so that all slots end a round together."""

    idle: int
    """The share of a slot that holds no task."""
    busy: int
    """The share of a slot that holds tasks. Some of these may be done but not reported, so a part
    of the share is left for slots that report later: the last blocks get smaller."""


UNLIMITED = FairShare(2**62, 2**62)
"""For when other rounds wait: no slot will run out of work."""


class Placement:
    """The slots of a run, what each holds, and the rule that fills them."""

    def __init__(self, nodes: Sequence[Node], mode: str = "greedy", caps: Caps = NO_CAPS) -> None:
        if mode not in PLACEMENTS:
            raise OptionInvalid(
                "placement", f"must be one of {', '.join(PLACEMENTS)}, not {mode!r}"
            )
        self.slots: tuple[Slot, ...] = slots_of(nodes)
        self._mode = mode
        self._caps = caps
        self._node_caps = {n.name: n.max_concurrent for n in nodes if n.max_concurrent is not None}
        self._held = [0] * len(self.slots)
        self._busy = 0
        """The number of slots that hold tasks, in total and (`_busy_on`) by node."""
        self._busy_on = {slot.node: 0 for slot in self.slots}
        self._gone: set[int] = set()
        self._groups: dict[str, int] = {}
        self._deals = {gpu: Deal.of(self.slots, gpu=gpu) for gpu in (False, True)}
        self._living = dict(self._deals)
        self._moved = {False: 0, True: 0}
        """The number of tasks that were dealt again because their slot was gone."""
        self._by_kind = {
            gpu: [i for i, slot in enumerate(self.slots) if (slot.gpu is not None) is gpu]
            for gpu in (False, True)
        }

    def choose(self, task: LiveTask, rooms: Rooms, fair: FairShare) -> int | None:
        """Return the slot to run a task now; None if it must wait.

        `fair` limits how many tasks a slot may hold under `greedy`, whatever room it has.
        """
        group = task.kind.limits.group
        cap = self._caps.group
        if group is not None and cap is not None and self._groups.get(group, 0) >= cap:
            return None
        if runs_alone(task):
            return self._elsewhere(task, rooms.left)
        if self.is_static:
            slot = self._dealt(task)
            may = slot is not None and rooms.left[slot] > 0 and self._may_use(slot, task)
            return slot if may else None
        return self._roomiest(task, rooms, fair)

    def _roomiest(self, task: LiveTask, rooms: Rooms, fair: FairShare) -> int | None:
        task_class = task.kind.task_class
        gpu = task_class[0]
        if task_class in rooms.full_for:
            return None
        slot = rooms.roomiest(
            (task_class, fair),
            lambda: self._with_share(self._by_kind[gpu], fair),
            lambda slot: self.share_left(slot, fair) > 0 and self._may_use(slot, task),
        )
        if slot is None:
            rooms.full_for.add(task_class)
        return slot

    def _with_share(self, slots: Sequence[int], fair: FairShare) -> Iterable[int]:
        """Return the slots that hold less than their fair share."""
        held = map(self._held.__getitem__, slots)
        return compress(slots, map(fair.busy.__gt__, held))

    def _elsewhere(self, task: LiveTask, rooms: Sequence[int]) -> int | None:
        """Return a slot for a task that keeps losing workers: not its last one, if possible.

        Otherwise a slot that kills whatever it runs would count against the task.
        """
        kind = self._by_kind[task.limits.gpu > 0]
        free = [slot for slot in kind if rooms[slot] > 0 and self._may_use(slot, task)]
        other_slots = [slot for slot in free if slot != task.slot]
        return next(iter(other_slots or free), None)

    def fits(self, *, gpu: bool) -> bool:
        """Whether any slot is left that could ever run a task of this kind."""
        return any(slot not in self._gone for slot in self._by_kind[gpu])

    @property
    def is_static(self) -> bool:
        """Whether the slot of each task is fixed in advance."""
        return self._mode == "static"

    def share_left(self, slot: int, fair: FairShare) -> int:
        """Return how many more tasks a slot may be given within its fair share."""
        held = self._held[slot]
        return fair.busy - held if held else fair.idle

    def hold(self, task: LiveTask, slot: int, count: int = 1) -> None:
        """Note that a task, or a block with `count` tasks, was assigned to a slot."""
        task.slot = slot
        if not self._held[slot]:
            self._count_busy(slot, 1)
        self._held[slot] += count
        if task.limits.group is not None:
            self._groups[task.limits.group] = self._groups.get(task.limits.group, 0) + 1

    def free(self, task: LiveTask, count: int = 1) -> None:
        """Note that a task, or a block with `count` tasks, left its slot."""
        self._held[task.slot] -= count
        if not self._held[task.slot]:
            self._count_busy(task.slot, -1)
        if task.limits.group is not None:
            self._groups[task.limits.group] -= 1

    def set_in_service(self, rooms: Sequence[int]) -> None:
        """Retire the slots whose room is below 0, and restore those that are back."""
        if self._gone or min(rooms, default=0) < 0:
            for slot, room in enumerate(rooms):
                if room < 0:
                    self.retire(slot)
                else:
                    self.restore(slot)

    def retire(self, slot: int) -> None:
        """Take a slot out of service; its tasks are dealt again, over the slots that are left."""
        if slot not in self._gone:
            self._gone.add(slot)
            for gpu in (False, True):
                self._living[gpu] = Deal.of(self.slots, gpu=gpu, without=self._gone)

    def restore(self, slot: int) -> None:
        """Put a slot back into service; tasks that were dealt to others meanwhile stay there."""
        if slot in self._gone:
            self._gone.remove(slot)
            for gpu in (False, True):
                self._living[gpu] = Deal.of(self.slots, gpu=gpu, without=self._gone)

    def _may_use(self, slot: int, task: LiveTask) -> bool:
        """Whether a slot may get a task under the caps; a command needs an empty slot."""
        if slot in self._gone:
            return False
        if self._held[slot]:
            return task.function != COMMAND
        node, total = self.slots[slot].node, self._caps.total
        if total is not None and self._busy >= total:
            return False
        cap = self._node_caps.get(node)
        return cap is None or self._busy_on[node] < cap

    def _count_busy(self, slot: int, change: int) -> None:
        self._busy += change
        self._busy_on[self.slots[slot].node] += change

    def _dealt(self, task: LiveTask) -> int | None:
        """Return the slot that a task is dealt to, after dealing it again if its slot is gone."""
        gpu = task.limits.gpu > 0
        if task.dealt is None:
            task.dealt = self._deals[gpu].slot(task.ordinal, task.peers)
        if task.dealt in self._gone:
            task.dealt = self._living[gpu].slot(self._moved[gpu])
            self._moved[gpu] += 1
        return task.dealt
