"""Cards display their content, truncated and escaped."""

from __future__ import annotations

from weft.model.card import MAX_CHARS, card, shown, table
from weft.model.results import Result, TaskError


def test_card_and_table_hold_names_and_values() -> None:
    assert "<b>a title</b>" in card("a title", [("name", "value")])
    assert "<code>value</code>" in card("a title", [("name", "value")])
    html = table("two", ("x", "y"), [("1", "2"), ("3", "4")])
    assert html.count("<tr>") == 3
    assert "<code>4</code>" in html


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


def test_card_and_table_are_this_markup() -> None:
    head = '<table style="border-collapse:collapse;text-align:left">'
    cell = "padding:2px 12px 2px 0;text-align:left;vertical-align:top"
    name = f'<th scope="row" style="{cell};font-weight:normal;opacity:.7">n</th>'
    value = f'<td style="{cell}"><code>v</code></td>'
    title = '<caption style="text-align:left"><b>t</b></caption>'
    assert card("t", [("n", "v")] * 2) == f"{head}{title}{f'<tr>{name}{value}</tr>' * 2}</table>"
    columns = f'<th scope="col" style="{cell}">h</th>' * 2
    rows = f"<tr>{value * 2}</tr>" * 2
    title = '<caption style="text-align:left">t</caption>'
    assert table("t", ("h", "h"), [("v", "v")] * 2) == (
        f"{head}{title}<thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table>"
    )
