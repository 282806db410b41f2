"""Submissions: they contain every task and test, in the ARC Prize format."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.arcvalues import grids
from weft.searches.arc.submission import ATTEMPTS, PLACEHOLDER, write
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid

ONE, TWO, THREE = (Grid.of([[n, n]]) for n in (1, 2, 3))
PAIR = Pair(ONE, TWO)
TASKS = (
    ArcTask("bb", (PAIR,), (ONE, TWO), (TWO, THREE)),
    ArcTask("aa", (PAIR,), (ONE,), (TWO,)),
)


def test_file_has_two_attempts_for_every_test_in_name_order() -> None:
    data = write(TASKS, {"bb": [[TWO], [ONE, THREE, TWO]]})
    zeros = "[[0,0],[0,0]]"
    assert data.decode() == (
        f'{{"aa":[{{"attempt_1":{zeros},"attempt_2":{zeros}}}],'
        f'"bb":[{{"attempt_1":[[2,2]],"attempt_2":{zeros}}},'
        '{"attempt_1":[[1,1]],"attempt_2":[[3,3]]}]}\n'
    )
    assert data == write(TASKS[::-1], {"bb": [[TWO], [ONE, THREE]], "aa": [[]]})


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_file_holds_what_was_answered(data: st.DataObject) -> None:
    guesses = st.lists(grids(), max_size=2)
    answers = {t.name: [data.draw(guesses) for _ in t.test] for t in TASKS}
    body = json.loads(write(TASKS, answers))
    assert list(body) == ["aa", "bb"]
    for task in TASKS:
        for entry, answered in zip(body[task.name], answers[task.name], strict=True):
            filled = (*answered, PLACEHOLDER, PLACEHOLDER)[:2]
            assert entry == {key: grid.rows() for key, grid in zip(ATTEMPTS, filled, strict=True)}
