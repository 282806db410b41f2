"""The coordinator's side of a slot on a Ray node: a seat whose worker belongs to an actor.

Two threads per worker wait for Ray so that the coordinator never does: one sends queued messages,
with the objects and code that the node lacks; one receives messages, with the objects that the
worker created. Every object is hashed where it arrives. A seat that was given up is never read
again, so its late results have no effect.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import queue
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError

from weft.backends.process import WorkerSeat, WorkerSetup
from weft.backends.raycluster import NodeStay
from weft.backends.raylease import PULL_S, Reply
from weft.backends.raynode import CodePacks
from weft.model.attempts import Finished, Lost, Worker
from weft.model.slots import Slot
from weft.model.values import objects_in
from weft.worker.frames import FromWorker, ResultBody, ToWorker
from weft.worker.page import Mark

START_S = 60.0
"""Time for an actor and its worker to start, which may be slow on a busy cluster."""
SILENCE_S = PULL_S + 20.0
"""An actor that sends nothing for this long, not even an empty reply, counts as lost."""
END_S = 6.0
PIECE_BYTES = 8 << 20


@dataclass(slots=True)
class Lessor:
    """A slot's actor, reused from lease to lease until it breaks."""

    slot: Slot
    actor: Any = None
    stay: NodeStay | None = None
    numbers: tuple[int, ...] = ()
    """The slot's latest epochs."""
    seat: RayWorker | None = None
    """The seat of the last lease."""


class RayWorker(WorkerSeat):
    """A worker on a node."""

    def __init__(
        self,
        number: int,
        lessor: Lessor,
        stay: NodeStay,
        setup: WorkerSetup,
        packs: CodePacks,
        earlier: Sequence[range],
    ) -> None:
        super().__init__(number, lessor.slot)
        self._lessor, self._stay, self._setup, self._packs = lessor, stay, setup, packs
        self._actor = lessor.actor
        self._earlier = earlier
        self._received: deque[FromWorker] = deque()
        self._fate: tuple[int, str] | None = None
        self._mark: Mark | None = None
        """The last start that the node reported."""
        self._lost = ""
        """Why the node, not just the worker, is gone; empty if it is not."""
        self._trouble: OSError | None = None
        self._queue: queue.SimpleQueue[ToWorker | None] = queue.SimpleQueue()
        self._names = (f"ray-{number}-{i}" for i in itertools.count())
        self._ends: threading.Thread | None = None
        self._placed = threading.Event()
        """Set when the lease has begun, or never will."""
        for loop in (self._listen, self._transmit):
            threading.Thread(target=loop, daemon=True).start()

    # -- for the backend ------------------------------------------------------------------

    def send(self, message: ToWorker) -> None:
        """Queue a message for the sending thread."""
        self._queue.put(message)

    def flush(self) -> bool:
        """Return True: nothing is held back."""
        return True

    def receive(self) -> list[FromWorker] | None:
        """Return the messages that have arrived; None if the worker or its node is gone."""
        with contextlib.suppress(BlockingIOError):
            self.channel.recv(4096)
        if self._trouble is not None:
            raise self._trouble
        over = self._fate is not None  # read first: what was sent before the end counts
        messages = [self._received.popleft() for _ in range(len(self._received))]
        if over and messages:
            self._wake()
        return None if over and not messages else messages

    def mark(self) -> Mark | None:
        """Return the last start that was reported."""
        return self._mark

    def kill(self) -> None:
        """Have the node kill the worker; a node that does not answer loses its actor."""
        self._give_up()
        self._ends = threading.Thread(target=self._end, daemon=True)
        self._ends.start()

    def wait(self) -> int:
        """Return at once: the slot's next lease begins only when this one is gone from its node."""
        return 0

    def ended(self) -> int:
        """Return the worker's exit status; a lost node counts as a kill from outside."""
        self._give_up()
        assert self._fate is not None
        return self._fate[0]

    def log_tail(self) -> str:
        """Return the end of what the worker printed."""
        return self._fate[1] if self._fate else ""

    def end_of(self, ticket: int, code: int) -> Finished | Lost:
        """Return a loss if the node is lost, else the same as for other workers."""
        if self._lost:
            return Lost(ticket, self._lost, self.log_tail())
        return super().end_of(ticket, code)

    def finish(self) -> None:
        """Wait until a killed worker is gone, or its node does not answer."""
        if self._ends is not None:
            self._ends.join(END_S + 1.0)

    def _give_up(self) -> None:
        self._queue.put(None)
        self.channel.close()
        self._far.close()

    def _end(self) -> None:
        try:
            ray.get(self._actor.end.remote(self.number), timeout=END_S)
        except (RayError, OSError):
            self._break()

    def _break(self) -> None:
        """Kill the actor and do not use it again."""
        if self._lessor.actor is self._actor:
            self._lessor.actor = None
        with contextlib.suppress(Exception):  # it may be gone, and Ray with it
            ray.kill(self._actor)

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # given up meanwhile
            self._far.send(b"!")

    # -- the receiving thread -------------------------------------------------------------

    def _listen(self) -> None:
        try:
            self._take_place()
            ended = None
            while ended is None:
                reply = ray.get(self._actor.pull.remote(self.number), timeout=SILENCE_S)
                self._take(reply)
                ended = reply.ended
            self._fate = ended
        except RayError as error:
            self._lost = "slot-lost"
            self._fate = (-signal.SIGKILL, " ".join(str(error).split())[:1000])
            self._break()
        except OSError as error:  # our own disk
            self._trouble = error
        self._placed.set()
        self._wake()

    def _take_place(self) -> None:
        starts = self._actor.start.remote(self.number, self._earlier)
        pid, started = ray.get(starts, timeout=START_S)
        slot = self._lessor.slot
        self.identity = Worker(pid, started, slot.node, slot.gpu)
        self._placed.set()

    def _take(self, reply: Reply) -> None:
        for name, data in reply.logs:
            path = self._setup.logs / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        for message in reply.messages:
            if message[0] == "started":
                self._mark = Mark(message[1], time.monotonic())
            if message[0] == "finished" and "staged" in message[2]:
                self._received.append(self._with_objects(message[1], message[2]))
            else:
                self._received.append(message)
        self._wake()

    def _with_objects(self, ticket: int, body: ResultBody) -> FromWorker:
        """Fetch the objects that a task stored; a result without them counts as lost."""
        fetched = [(digest, self._fetch(name, digest)) for digest, name in body["staged"]]
        if not all(name for _, name in fetched):
            why = "an object changed on its way from the node"
            return ("lost", ticket, "object-damaged", why, "worker")
        complete: ResultBody = {**body, "staged": fetched}
        return ("finished", ticket, complete)

    def _fetch(self, name: str, digest: str) -> str:
        """Copy a staged object here; return its name, empty if the digest does not match."""
        self._setup.staging.mkdir(parents=True, exist_ok=True)
        target = self._setup.staging / next(self._names)
        hasher = hashlib.sha256()
        with target.open("wb") as file:
            while piece := self._ask(self._actor.read.remote(name, file.tell(), PIECE_BYTES)):
                hasher.update(piece)
                file.write(piece)
        if hasher.hexdigest() != digest:
            target.unlink()
            return ""
        self._ask(self._actor.keep.remote(name, digest))
        self._stay.objects.add(digest)
        return target.name

    @staticmethod
    def _ask(answer: Any) -> Any:
        return ray.get(answer, timeout=START_S)

    # -- the sending thread ---------------------------------------------------------------

    def _transmit(self) -> None:
        self._placed.wait()
        with contextlib.suppress(RayError):  # the receiving thread gets it, too
            for number, messages in enumerate(iter(self._queued, [])):
                self._supply(messages)
                self._actor.push.remote(self.number, number, messages)

    def _queued(self) -> list[ToWorker]:
        """Return all queued messages, waiting for one; empty when the queue has ended."""
        messages = []
        message = self._queue.get()
        while message is not None:
            messages.append(message)
            if self._queue.empty():
                return messages
            message = self._queue.get()
        return []

    def _supply(self, messages: Sequence[ToWorker]) -> None:
        """Make sure that the node has the code and the objects of the tasks to be sent."""
        rows = [row for message in messages if message[0] == "run" for row in message[1]]
        if not rows:
            return
        with self._stay.sending:  # once per node, not once per slot
            for pack in self._packs():
                if pack.name not in self._stay.packs:
                    self._ask(self._actor.unpack.remote(pack.data))
                    self._stay.packs.add(pack.name)
            for digest in dict.fromkeys(d for row in rows for d in objects_in(row[2])):
                if digest not in self._stay.objects and self._give(digest):
                    self._stay.objects.add(digest)

    def _give(self, digest: str) -> bool:
        """Send an object in pieces; return False if it is missing or does not match its digest."""
        if self._ask(self._actor.holds.remote(digest)):
            return True
        path, name = self._setup.objects / digest[:2] / digest[2:], next(self._names)
        if not path.is_file():
            return False  # the worker will report it
        answer = False
        for piece, is_last in _pieces(path):
            stored = self._actor.store.remote(name, piece, digest if is_last else None)
            answer = self._ask(stored)
        return answer


class LostSeat(WorkerSeat):
    """A seat on a node that was lost before anything was sent there."""

    def send(self, message: ToWorker) -> None:
        """Report the loss at once; the message is discarded."""
        del message
        self._far.close()

    def flush(self) -> bool:
        """Return True: there is nothing to write."""
        return True

    def receive(self) -> list[FromWorker] | None:
        """Return None, as for a worker that has ended."""
        return None

    def mark(self) -> Mark | None:
        """Return None: no task is running."""
        return None

    def kill(self) -> None:
        """Close our end."""
        self.channel.close()

    def wait(self) -> int:
        """Return at once: there is nothing to wait for."""
        return 0

    def ended(self) -> int:
        """Return the status of a worker killed from outside."""
        self.channel.close()
        return -signal.SIGKILL

    def log_tail(self) -> str:
        """Return the reason."""
        return "its node is lost"


def _pieces(path: Path) -> Iterator[tuple[bytes, bool]]:
    """Yield the pieces of a file, at least one, and whether each is the last."""
    with path.open("rb") as file:
        piece, following = file.read(PIECE_BYTES), file.read(PIECE_BYTES)
        while following:
            yield piece, False
            piece, following = following, file.read(PIECE_BYTES)
        yield piece, True
