"""The `ray` backend: workers on the nodes of a Ray cluster, one actor per slot.

Ray moves messages and files and reports which nodes are alive. The coordinator is responsible for
placement, caps, retries and time limits, and the local backend's code for starting, feeding,
killing and replacing workers; Ray restarts and retries nothing. A slot whose node is lost is out
of service until the node is back.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import Any

import ray

from weft.backends.local import LocalBackend, WorkerSlot
from weft.backends.orphans import Marks
from weft.backends.process import WorkerSeat, WorkerSetup
from weft.backends.raycluster import Cluster, NodeStay
from weft.backends.raylink import Lessor, LostSeat, RayWorker
from weft.backends.raynode import CodePacks, SlotActor
from weft.model.attempts import BackendEvent
from weft.model.slots import Slot

MAX_CREDIT = 4096
BATCH_S = 0.075
"""A Ray call costs about a millisecond on each side, so each must carry enough work."""
PATIENCE_S = 60.0
"""How long to wait for a node to return when none is left."""
SESSIONS = 64
"""The number of sessions of a run that have separate marks."""


def session_marks(marks: Marks, session: int) -> Marks:
    """Return the share of a run's marks that one session uses."""
    size = len(marks.all) // SESSIONS
    start = session % SESSIONS * size
    return Marks(marks.all[start : start + size])


def other_marks(marks: Marks, session: int) -> tuple[range, ...]:
    """Return the marks of a run's other sessions."""
    own = session_marks(marks, session).all
    around = (range(marks.all.start, own.start), range(own.stop, marks.all.stop))
    return tuple(part for part in around if part)


class RayBackend(LocalBackend):
    """One actor per slot, created when the slot gets its first task."""

    def __init__(
        self,
        setup: WorkerSetup,
        slots: Sequence[Slot],
        cluster: Cluster,
        packs: CodePacks,
        stagger_s: float = 0.0,
    ) -> None:
        super().__init__(setup, slots, MAX_CREDIT, stagger_s, BATCH_S)
        self._cluster, self._packs = cluster, packs
        self._lessors = {slot: Lessor(slot) for slot in slots}
        self._alone_since_s: float | None = None

    def capacity(self) -> list[int]:
        """Return the room per slot; a slot of a lost node is out of service or has none."""
        stays = self._cluster.stays
        lost_room = 0 if self._may_return(stays) else -1
        rooms = super().capacity()
        return [
            room if place.slot.node in stays else lost_room
            for room, place in zip(rooms, self._places, strict=True)
        ]

    def poll(self, timeout_s: float) -> list[BackendEvent]:
        """Return events of nodes and of tasks."""
        self._events += self._cluster.node_events()
        return super().poll(timeout_s)

    def close(self) -> None:
        """End every worker and actor, and remove what the run left on the nodes."""
        super().close()
        for lessor in self._lessors.values():
            if lessor.seat is not None:
                lessor.seat.finish()
            if lessor.actor is not None:
                with contextlib.suppress(Exception):  # gone with its node
                    ray.kill(lessor.actor)
                lessor.actor = None
        self._cluster.close()

    def _may_return(self, stays: dict[str, NodeStay]) -> bool:
        """Whether to wait for a node to return: only if none is left, and not for too long."""
        if stays:
            self._alone_since_s = None
            return False
        now_s = time.monotonic()
        self._alone_since_s = self._alone_since_s or now_s
        return now_s - self._alone_since_s < PATIENCE_S

    def _launch(self, number: int, slot: Slot) -> WorkerSeat:
        lessor, stay = self._lessors[slot], self._cluster.stays.get(slot.node)
        if stay is None:  # lost since the slot was offered
            return LostSeat(number, slot)
        earlier: Sequence[range] = ()
        if lessor.actor is None or lessor.stay is not stay:
            lessor.actor, lessor.stay = _new_actor(stay, slot), stay
            earlier = [self._setup.marks.of_worker(old) for old in lessor.numbers]
        lessor.numbers = (*lessor.numbers[-99:], number)
        lessor.seat = RayWorker(number, lessor, stay, self._setup, self._packs, earlier)
        return lessor.seat

    def _died(self, worker: WorkerSeat, place: WorkerSlot) -> None:
        super()._died(worker, place)
        self._cluster.refresh_soon()


def _new_actor(stay: NodeStay, slot: Slot) -> Any:
    """Return a new actor on the slot's node, with a claim on a GPU if the slot has one."""
    never_again = {"max_restarts": 0, "max_task_retries": 0}
    claim = {"num_gpus": 0 if slot.gpu is None else 1}
    options = {**never_again, **claim, **stay.node.on_node(), "max_concurrency": 8}
    return ray.remote(SlotActor).options(**options).remote(stay.spec, slot)
