"""Submissions: what is written is valid and read back; what is not valid is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.arcvalues import grids
from weft.errors import FileInvalid
from weft.searches.arc.submission import ATTEMPTS, PLACEHOLDER, read, score, write
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
def test_read_gives_back_what_was_written(data: st.DataObject) -> None:
    guesses = st.lists(grids(), max_size=2)
    answers = {t.name: [data.draw(guesses) for _ in t.test] for t in TASKS}
    found = read(write(TASKS, answers), TASKS, "s.json")
    for task in TASKS:
        for attempts, made in zip(found[task.name], answers[task.name], strict=True):
            assert attempts == (*made, PLACEHOLDER, PLACEHOLDER)[:2]


def test_score_counts_tests_in_parts() -> None:
    found = read(write(TASKS, {"bb": [[ONE, TWO], [TWO, ONE]], "aa": [[TWO]]}), TASKS, "s.json")
    assert score(found, TASKS) == 1.5
    assert score(read(write(TASKS, {}), TASKS, "s.json"), TASKS) == 0


def sound() -> dict[str, Any]:
    return json.loads(write(TASKS, {}))


def without(key: str) -> dict[str, Any]:
    return {k: v for k, v in sound().items() if k != key}


ENTRY = {key: [[0]] for key in ATTEMPTS}
BAD: list[tuple[Any, str]] = [
    ([], "s.json: an array where attempts by task should be"),
    (without("aa"), "s.json: aa: the task is missing"),
    ({**sound(), "c\n": []}, "s.json: c\\n: no such task"),
    ({**sound(), "bb": [ENTRY]}, "s.json: bb: 1 entries, the task has 2 tests"),
    ({**sound(), "bb": {}}, "s.json: bb: an object, the task has 2 tests"),
    ({**sound(), "aa": [[[0]]]}, "s.json: aa[0]: an array where an entry should be"),
    ({**sound(), "aa": [{"attempt_1": [[0]]}]}, 'aa[0]: an entry needs the key "attempt_2"'),
    ({**sound(), "aa": [{**ENTRY, "attempt_3": [[0]]}]}, 'aa[0]: unknown key "attempt_3"'),
    ({**sound(), "aa": [{**ENTRY, "attempt_2": [[0, 11]]}]}, "[0].attempt_2: row 0, column 1: 11"),
    ({**sound(), "aa": [{**ENTRY, "attempt_1": []}]}, "s.json: aa[0].attempt_1: no rows"),
    ({**sound(), "aa": [{**ENTRY, "attempt_1": [[0] * 31]}]}, "attempt_1: row 0: 31 cells"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "message"), BAD)
def test_bad_submission_is_refused_with_its_place(value: Any, message: str) -> None:
    with pytest.raises(FileInvalid) as caught:
        read(json.dumps(value).encode(), TASKS, "s.json")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
