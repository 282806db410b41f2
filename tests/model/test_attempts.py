"""Attempts: the tasks of a block one by one, and what an ended attempt reports."""

from __future__ import annotations

from weft.model.attempts import Assignment, Finished, Lost


def test_attempt_that_ends_or_is_lost_says_no_more_than_it_knows() -> None:
    end, loss = Finished(7), Lost(7, "gone")
    assert (end.value, end.error, end.retriable, end.detail) == (None, None, False, "")
    assert (end.staged, end.notes, end.run_s) == ((), None, 0.0)
    assert (loss.detail, loss.cause) == ("", "worker")


def test_block_has_a_ticket_and_an_index_for_each_task_and_one_key() -> None:
    block = Assignment(7, "f", "{}", "/a", 2, 30, key="k", more=("[1]", "[2]"))
    assert list(block.tickets) == [7, 8, 9]
    assert [(task.ticket, task.index, task.args, task.key) for task in block.each()] == [
        (7, 30, "{}", "k"), (8, 31, "[1]", ""), (9, 32, "[2]", "")
    ]  # fmt: skip
    assert [task.more for task in block.each()] == [(), (), ()]


def test_single_attempt_is_its_own_block() -> None:
    single = Assignment(7, "f", "{}", "", 0, 0)
    assert (list(single.tickets), list(single.each()), single.key) == ([7], [single], "")


def test_attempt_says_where_to_import_what_it_names() -> None:
    attempt = Assignment(7, "f", "{}", "", 0, 0, code=(("f", "lab:f"), ("g", "lab:g")))
    assert [attempt.import_path(name) for name in ("f", "g", "m:h")] == ["lab:f", "lab:g", "m:h"]
