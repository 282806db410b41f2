"""What a search may announce about its progress, and what follows from it."""

from __future__ import annotations

import pytest

from weft.errors import SearchInvalid
from weft.model.plan import Best, Plan, expected_tasks, number_in


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"total": -1}, "total of 0 or more, not -1"),
        ({"total": True}, "total of 0 or more, not True"),
        ({"total": 1.5}, "total of 0 or more"),
        ({"best": "most"}, '"max" or "min", not \'most\''),
        ({"unit": ""}, "unit is one line"),
        ({"unit": 3}, "unit is one line"),
        ({"unit": "x" * 61}, "unit is one line of up to 60"),
        ({"lanes": "a\nb"}, "lanes is one line"),
        ({"note": "x" * 201}, "^weft.Plan: note is one line of up to 200"),
        ({"key": 3}, "key is a key"),
        ({"tally": 3}, "tally is a key"),
        ({"tally": 'a"b'}, "cannot be a tally"),
        ({"of": 3}, "of is a task or its name"),
    ],
)
def test_plan_that_makes_no_sense_is_refused(fields, reason):
    with pytest.raises(SearchInvalid, match=reason):
        Plan(**fields)


def test_plan_comes_back_from_its_text():
    plan = Plan(total=3, best="min", key="loss", of="a.b", unit="trials", note="ä", tally="end")
    assert Plan.from_text(plan.to_text()) == plan
    assert Plan.from_text(Plan().to_text()) == Plan()


def test_plan_of_a_later_version_is_read_as_far_as_it_is_known():
    assert Plan.from_text('{"total": 3, "colour": "red"}') == Plan(total=3)
    with pytest.raises(ValueError, match="total of 0 or more"):
        Plan.from_text('{"total": -3}')


class Named:
    name = "lab.score"


def test_plan_takes_a_task_or_its_name():
    assert Plan(of=Named()).of == Plan(of="lab.score").of == "lab.score"


@pytest.mark.parametrize(
    ("plans", "tasks", "ended", "expected"),
    [
        ({}, {"": 5, "/a": 2}, (), 7),
        ({"": Plan(total=100)}, {"": 5, "/a": 2}, (), 100),
        ({"": Plan(total=3)}, {"": 5, "/a": 2}, (), 7),  # more than announced
        ({"": Plan(note="no total")}, {"": 5}, (), 5),
        ({"/a": Plan(total=10), "/b": Plan(total=20)}, {"": 1, "/a": 4, "/c": 2}, (), 33),
        ({"/a": Plan(total=10)}, {"/a": 4, "/a/x": 5, "/ab": 3}, (), 13),  # /ab is another lane
        ({"": Plan(total=50), "/a": Plan(total=999)}, {"/a": 4}, (), 50),  # the outermost counts
        ({"/a": Plan(total=10), "/a/x": Plan(total=99)}, {"/a/x": 12}, (), 12),
        ({"/a": Plan(total=10)}, {"/a": 4}, ("/a",), 4),  # the lane ended early
        ({"": Plan(total=100)}, {"": 5}, ("",), 5),
    ],
)
def test_total_is_the_sum_of_what_lanes_expect(plans, tasks, ended, expected):
    assert expected_tasks(plans, tasks, ended) == expected


@pytest.mark.parametrize(
    ("text", "key", "number"),
    [
        ("7", None, 7),
        ("-3", None, -3),
        ('{"$f":"-0.25"}', None, -0.25),
        ('{"$i":"0x20000000000001"}', None, 2**53 + 1),
        ("true", None, None),
        ('"7"', None, None),
        ("null", None, None),
        ('{"a":7}', None, None),
        ('{"a":7}', "a", 7),
        ('{"a":{"$f":"0.5"}}', "a", 0.5),
        ('{"a":{"b":1}}', "a", None),
        ('{"a":7}', "b", None),
        ("[7]", "a", None),
        ('{"$$a":{"$f":"2.5"}}', "$a", 2.5),
        ('{"$$f":"7"}', None, None),
        ('{"$o":"' + "0" * 64 + '"}', None, None),
    ],
)
def test_number_in_a_value(text, key, number):
    assert number_in(text, key) == number


@pytest.mark.parametrize(("direction", "expected"), [("max", 9), ("min", -4)])
def test_best_is_the_first_of_the_largest_or_smallest(direction, expected):
    best = Best(Plan(best=direction))
    for text in ("3", '"no number"', "9", "-4", '{"$f":"9.0"}', '{"$f":"-4.0"}'):
        best.offer("f", text)
    assert best.value == expected
    assert isinstance(best.value, int)


def test_best_looks_at_results_of_its_task_only():
    best = Best(Plan(best="max", of="score"))
    best.offer("count", "1000")
    assert best.value is None
    best.offer("score", "3")
    assert best.value == 3


def test_number_of_a_dataclass_is_that_of_its_field() -> None:
    text = '{"$t":["dataclass","Fit",{"slope":{"$f":"1.5"}}]}'
    assert number_in(text, "slope") == 1.5
    assert number_in(text, "other") is None
    assert number_in(text, None) is None
    assert number_in('{"$f":"1.5"}', "slope") is None, "a float has no field"


def test_plan_takes_its_limits_exactly_and_says_what_it_is_about():
    assert Plan(total=0).total == 0
    assert Plan(note="x" * 200).note == "x" * 200
    assert Plan(unit="x" * 60).unit == "x" * 60
    plan = Plan()
    assert (plan.unit, plan.lanes, plan.note) == ("tasks", "lanes", "")
