"""Cards show what they are given, cut and escaped."""

from __future__ import annotations

from weft.model.card import MAX_CHARS, card, shown, table
from weft.model.results import Result, TaskError


def test_card_and_table_hold_names_and_values() -> None:
    assert "<b>a title</b>" in card("a title", [("name", "value")])
    assert "<code>value</code>" in card("a title", [("name", "value")])
    made = table("two", ("x", "y"), [("1", "2"), ("3", "4")])
    assert made.count("<tr>") == 3
    assert "<code>4</code>" in made


def test_texts_are_escaped_visible_and_cut() -> None:
    assert shown("<a href='&'>\u202e\n") == "&lt;a href=&#x27;&amp;&#x27;&gt;\\u202e\\n"
    assert shown("x" * MAX_CHARS) == "x" * MAX_CHARS
    assert shown("x" * (MAX_CHARS + 1)) == "x" * MAX_CHARS + "…"


def test_result_shows_its_value_or_its_error() -> None:
    good = Result(3, "ab" * 32, "m:f", '{"x":1}', "[2]", None)
    bad = Result(3, "ab" * 32, "m:f", '{"x":1}', None, TaskError("timeout", "run"))
    assert (good.args_text, good.outcome_text) == ('{"x":1}', "[2]")
    assert ">value<" in good._repr_html_()
    assert ">error<" in bad._repr_html_()
    assert "failed: timeout" in bad._repr_html_()
    assert "ab" * 32 in good._repr_html_()
