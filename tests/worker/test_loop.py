"""A real worker process behind a real socket: blocks in, results out."""

from __future__ import annotations

import os
import sys

import pytest

from weft.backends.orphans import Marks
from weft.backends.process import WorkerProcess, WorkerSetup, assignment_row
from weft.model.attempts import Assignment
from weft.model.keys import task_key, task_seed
from weft.model.slots import local_nodes, slots_of
from weft.model.values import encode
from weft.testing import tasks

GENESIS = "ab" * 32


class Peer:
    """The parent's side of one worker."""

    def __init__(self, root):
        folders = {name: root / name for name in ("objects", "staging", "logs", "attempts")}
        self.logs = folders["logs"]
        setup = WorkerSetup(
            run_seed=7, **folders, path=list(sys.path), environment=dict(os.environ),
            marks=Marks.of(str(root)), genesis=GENESIS,
        )  # fmt: skip
        [slot] = slots_of(local_nodes(1))
        self.worker = WorkerProcess(1, setup, slot)
        self.worker.channel.setblocking(True)
        self.messages = []
        self.worker.flush()
        assert self.next() == ["ready"]

    def run(self, task, *args, ticket=1, attempt=1):
        calls = [task(arg) for arg in args]
        first, *more = [encode(dict(call.args)) for call in calls]
        block = Assignment(
            ticket, calls[0].function, first, "/lane", 2, 10, "k", attempt,
            code=calls[0].code, more=tuple(more),
        )  # fmt: skip
        self.worker.send(("run", [assignment_row(block)]))

    def next(self):
        while not self.messages:
            received = self.worker.receive()
            assert received is not None, "the worker ended"
            self.messages += received
        return self.messages.pop(0)

    def values(self, count):
        """The first ticket, values and times of consecutive completed tasks.

        A delayed worker sends what it has, so they may arrive in several messages.
        """
        kind, first, values, run_us = self.next()
        while len(values) < count:
            assert kind == "completed"
            kind, ticket, more, more_us = self.next()
            assert ticket == first + len(values)
            values, run_us = values + more, run_us + more_us
        return first, values, run_us

    def until(self, kind):
        while (message := self.next())[0] != kind:
            pass
        return message


@pytest.fixture
def peer(tmp_path):
    peer = Peer(tmp_path)
    yield peer
    peer.worker.kill()
    peer.worker.wait()


def test_values_of_a_block_come_back_in_order(peer):
    peer.run(tasks.echo, *range(50))
    first, values, run_us = peer.values(50)
    assert (first, values) == (1, [str(i) for i in range(50)])
    assert len(run_us) == 50
    assert min(run_us) >= 0


def test_failure_inside_a_block_stands_in_its_place(peer):
    peer.run(tasks.odd, 1, 3, 4, 5)
    assert peer.values(2)[:2] == (1, ["1", "3"])
    kind, ticket, body = peer.next()
    assert (kind, ticket, body["error"][0]) == ("finished", 3, "exception")
    assert peer.next()[:3] == ["completed", 4, ["5"]]


def test_function_that_cannot_be_imported_loses_every_task_of_its_block(peer):
    block = Assignment(1, "weft.testing.nowhere:f", "{}", "", 0, 0, more=("{}", "{}"))
    peer.worker.send(("run", [assignment_row(block)]))
    losses = [peer.next() for _ in range(3)]
    assert [(kind, ticket, why) for kind, ticket, why, _, _ in losses] == [
        ("lost", ticket, "import-failed") for ticket in (1, 2, 3)
    ]


def test_tagged_arguments_and_seeds_belong_to_their_task(peer):
    peer.run(tasks.echo, 0.5, 2**70)
    assert peer.values(2)[1] == ['{"$f":"0.5"}', encode(2**70)]
    peer.run(tasks.seeded, 4, 5, ticket=9)
    expected = [
        str(encode(task_seed(7, "/lane", 2, 10 + i, tasks.seeded.name, encode({"x": x}))))
        for i, x in enumerate((4, 5))
    ]
    assert peer.values(2)[1] == expected


def test_output_of_each_task_is_its_own_log(peer):
    peer.run(tasks.shout, "one", "", "three", attempt=2)
    first, second, third = peer.next(), peer.next(), peer.next()
    assert first[2]["log"] == "k/2.log"
    assert second[:3] == ["completed", 2, ['""']]
    key = task_key(GENESIS, "/lane", 2, 12, tasks.shout.name, encode({"text": "three"}))
    assert third[2]["log"] == f"{key}/2.log"
    assert (peer.logs / "k" / "2.log").read_text() == "one\n"
    assert (peer.logs / key / "2.log").read_text() == "three\n"


def test_return_gives_back_what_has_not_started_and_sends_what_is_done(peer):
    peer.run(tasks.nap, 0.0, 0.0, 0.6, 0.0, 0.0)
    while (mark := peer.worker.mark()) is None or mark.ticket != 3:
        pass
    peer.worker.send(("return",))
    before = []
    while (message := peer.next())[0] == "completed":
        before += range(message[1], message[1] + len(message[2]))
    assert (before, message) == ([1, 2], ["dropped", [4, 5]])
    assert peer.next()[:2] == ["completed", 3]
    peer.run(tasks.echo, 6, ticket=6)
    assert peer.next()[:3] == ["completed", 6, ["6"]]


def test_drop_takes_out_only_what_is_named_and_flush_nothing(peer):
    peer.run(tasks.nap, 0.0, 0.6, 0.0, 0.0, 0.0)
    while (mark := peer.worker.mark()) is None or mark.ticket != 2:
        pass
    peer.worker.send(("flush",))
    assert peer.next()[:2] == ["completed", 1]
    peer.worker.send(("drop", [2, 4]))
    assert peer.next() == ["dropped", [4]]
    ended = []
    while len(ended) < 3:
        kind, first, values, _ = peer.next()
        assert kind == "completed"
        ended += range(first, first + len(values))
    assert ended == [2, 3, 5]


def test_page_names_the_task_that_killed_its_worker(peer):
    peer.run(tasks.odd_or_gone, 1, 3, 4, 5)
    while peer.worker.receive() is not None:
        pass
    assert peer.worker.mark().ticket == 3
