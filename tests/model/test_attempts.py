"""What an attempt that ended says, and what it does not."""

from __future__ import annotations

from weft.model.attempts import Finished, Lost


def test_attempt_that_ends_or_is_lost_says_no_more_than_it_knows() -> None:
    end, loss = Finished(7), Lost(7, "gone")
    assert (end.value, end.error, end.retriable, end.detail) == (None, None, False, "")
    assert (end.staged, end.notes, end.run_s) == ((), None, 0.0)
    assert (loss.detail, loss.cause) == ("", "worker")
