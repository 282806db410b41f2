"""Which slot runs which task, under the caps. Pure; recorded in the manifest, never the ledger.

`static` deals the tasks of a round, GPU and CPU tasks each by themselves, to the nodes in
proportion to their slots, then to a node's slots in turn: known beforehand, and each slot runs its
list in order. When a slot is gone, only its own list is dealt again, over those that are left.
`greedy` gives the next task to the slot with the most room. A slot without room, a node at its cap
or a group at its cap makes a task wait; tasks behind it that fit elsewhere go first. A command
waits for a slot that holds nothing. A task that must run alone goes to another slot than the one
it last lost, whatever the rule.
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
    """How much may run at a time; None is no limit."""

    total: int | None = None
    group: int | None = None


NO_CAPS = Caps()


class FairShare(NamedTuple):
    """How many tasks a slot may hold so that all slots end a round together."""

    idle: int
    """A slot that holds none."""
    busy: int
    """Of what a busy slot holds some may be done and not reported, so a part of its share stays
    for slots that report later: the last blocks get smaller."""


UNLIMITED = FairShare(2**62, 2**62)
"""While other rounds wait, no slot will be short of work."""


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
        """How many slots hold anything, and how many of each node."""
        self._busy_on = {slot.node: 0 for slot in self.slots}
        self._gone: set[int] = set()
        self._groups: dict[str, int] = {}
        self._deals = {gpu: Deal.of(self.slots, gpu=gpu) for gpu in (False, True)}
        self._living = dict(self._deals)
        self._moved = {False: 0, True: 0}
        """How many tasks were dealt again because their slot is gone."""
        self._by_kind = {
            gpu: [i for i, slot in enumerate(self.slots) if (slot.gpu is not None) is gpu]
            for gpu in (False, True)
        }

    def choose(self, task: LiveTask, rooms: Rooms, fair: FairShare) -> int | None:
        """Return the slot to run a task now; None when it must wait.

        `fair` limits how many tasks a greedily filled slot may hold, whatever room it has.
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
        """The slots that hold less than their fair share, however many there are."""
        held = map(self._held.__getitem__, slots)
        return compress(slots, map(fair.busy.__gt__, held))

    def _elsewhere(self, task: LiveTask, rooms: Sequence[int]) -> int | None:
        """For a task that keeps losing its workers: another slot than the last, if there is one.

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
        """Whether each task has its slot from the start."""
        return self._mode == "static"

    def share_left(self, slot: int, fair: FairShare) -> int:
        """How many more tasks of its fair share a slot may be given."""
        held = self._held[slot]
        return fair.busy - held if held else fair.idle

    def hold(self, task: LiveTask, slot: int, count: int = 1) -> None:
        """Note that a slot was given a task, or a block of them."""
        task.slot = slot
        if not self._held[slot]:
            self._count_busy(slot, 1)
        self._held[slot] += count
        if task.limits.group is not None:
            self._groups[task.limits.group] = self._groups.get(task.limits.group, 0) + 1

    def free(self, task: LiveTask, count: int = 1) -> None:
        """Note that a task left its slot, or a block of them."""
        self._held[task.slot] -= count
        if not self._held[task.slot]:
            self._count_busy(task.slot, -1)
        if task.limits.group is not None:
            self._groups[task.limits.group] -= 1

    def set_in_service(self, rooms: Sequence[int]) -> None:
        """Take note of slots that are out of service, with room below 0, and of those back."""
        if self._gone or min(rooms, default=0) < 0:
            for slot, room in enumerate(rooms):
                if room < 0:
                    self.retire(slot)
                else:
                    self.restore(slot)

    def retire(self, slot: int) -> None:
        """Take a slot out of service; what was dealt to it is dealt to those that are left."""
        if slot not in self._gone:
            self._gone.add(slot)
            for gpu in (False, True):
                self._living[gpu] = Deal.of(self.slots, gpu=gpu, without=self._gone)

    def restore(self, slot: int) -> None:
        """Take a slot into service again; what was dealt to another meanwhile stays there."""
        if slot in self._gone:
            self._gone.remove(slot)
            for gpu in (False, True):
                self._living[gpu] = Deal.of(self.slots, gpu=gpu, without=self._gone)

    def _may_use(self, slot: int, task: LiveTask) -> bool:
        """Whether a slot may be busy: it is already, or its node and the run are below caps."""
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
        """Static: the slot a task was dealt to, dealt again when that slot is gone."""
        gpu = task.limits.gpu > 0
        if task.dealt is None:
            task.dealt = self._deals[gpu].slot(task.ordinal, task.peers)
        if task.dealt in self._gone:
            task.dealt = self._living[gpu].slot(self._moved[gpu])
            self._moved[gpu] += 1
        return task.dealt
