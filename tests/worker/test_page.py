"""The memory page that a worker shares with its parent."""

from __future__ import annotations

import os

from weft.worker.page import NOTHING, Mark, StartPage, new_page


def test_page_shows_the_other_side_what_runs_and_since_when():
    descriptor = new_page()
    worker, parent = StartPage(descriptor), StartPage(descriptor)
    os.close(descriptor)
    assert parent.read() is None
    worker.cells[1], worker.cells[0] = 2_500_000_000, 7
    assert parent.read() == Mark(7, 2.5)
    worker.cells[0] = NOTHING
    assert parent.read() is None
    worker.close()
    parent.close()


def test_page_that_changes_while_it_is_read_is_read_again():
    class Changing:
        """A start that belongs to the next task: the ticket changes between two reads."""

        looks = iter([(0, 4), (1, 10), (0, 5), (0, 5), (1, 20), (0, 5)])

        def __getitem__(self, cell):
            expected, value = next(self.looks)
            assert cell == expected
            return value

    page = StartPage.__new__(StartPage)
    page.cells = Changing()
    assert page.read() == Mark(5, 20 / 1e9)
