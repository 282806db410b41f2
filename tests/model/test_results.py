"""Results as a search sees them: decoded once from their text, displayed in one line."""

from __future__ import annotations

import numpy as np
import pytest

from weft.model.leaves import Object, Typed
from weft.model.results import COMMAND, TIMING_TYPES, Result, TaskError, TaskFailed
from weft.model.values import encode

GOOD = Result(3, "k", "m:f", '{"x":[1]}', '{"$f":"0.5"}', None)
BAD = Result(4, "k", "m:f", '{"x":2}', None, TaskError("exit", "run", 7))


def test_result_value_and_args_are_decoded_from_their_text():
    assert GOOD.ok
    assert (GOOD.value, GOOD.args) == (0.5, {"x": [1]})
    assert GOOD.args is GOOD.args


def test_result_failed_value_raises_with_the_result():
    assert not BAD.ok
    with pytest.raises(TaskFailed, match=r"^m:f #4 failed: exit$") as caught:
        BAD.value  # noqa: B018
    assert caught.value.result is BAD


def test_result_repr_says_call_and_outcome():
    assert repr(GOOD) == '<Result 3 m:f({"x":[1]}) 0.5>'
    assert repr(BAD) == '<Result 4 m:f({"x":2}) failed: exit>'


def test_result_with_both_or_neither_is_our_bug():
    for value, error in ((None, None), ("1", TaskError("exit", "run"))):
        with pytest.raises(AssertionError):
            Result(0, "k", "m:f", "{}", value, error)


@pytest.mark.parametrize("error", [TaskError("timeout", "run"), TaskError("exit", "collect", 0)])
def test_task_error_to_text_from_text_is_the_same(error):
    assert TaskError.from_text(error.to_text()) == error


class NoTypes:
    """A source that must not be asked for annotations."""

    def types(self, function):
        raise AssertionError(function)

    def read(self, reference):
        raise AssertionError(reference)


def test_result_without_a_typed_value_asks_for_no_annotation():
    result = Result(0, "k", "m:f", '{"x":{"$f":"1.5"}}', '{"$f":"0.5"}', None, NoTypes())
    assert (result.value, result.args) == (0.5, {"x": 1.5})


def test_result_without_a_source_gives_a_typed_value_as_data():
    text = '{"$t":["dataclass","Point",{"x":1}]}'
    result, point = Result(0, "k", "m:f", f'{{"p":{text}}}', text, None), {"x": 1}
    assert result.value == result.args["p"] == Typed("dataclass", "Point", point)


def test_arguments_of_a_command_are_those_it_was_given():
    text = '{"args":{"x":1},"argv":["true"]}'
    assert Result(0, "k", COMMAND, text, "0", None).args == {"x": 1}


def test_result_in_a_notebook_is_a_card_of_arguments_outcome_and_key():
    for result, outcome in ((GOOD, "value"), (BAD, "error")):
        page = result._repr_html_()
        assert f">Result {result.index} of m:f<" in page
        for name in ("arguments", outcome, "key"):
            assert f">{name}<" in page


def test_failures_of_time_and_memory_have_the_types_that_ledgers_hold() -> None:
    assert TIMING_TYPES == ("out-of-memory", "timeout", "worker-died")
    assert COMMAND == "weft.command"


def test_result_repr_names_arrays_objects_and_large_numbers_by_what_they_are():
    args = encode({"a": np.zeros((2, 3)), "o": Object("ab" * 32), "n": 2**70})
    result = Result(0, "k", "m:f", args, encode([b"abc", 1.5]), None)
    assert "array float64 (2, 3)" in repr(result)
    assert str(2**70) in repr(result)
    assert repr(result).endswith('["3 bytes", 1.5]>')
    assert '"$t"' not in repr(result)
    assert "array float64 (2, 3)" in result._repr_html_()
