"""Names available in the words of commands."""

from __future__ import annotations

from weft.model.templates import ENGINE_NAMES, fill, text_of


def test_command_may_name_what_the_engine_gives() -> None:
    assert ENGINE_NAMES == (
        "attempt", "out_dir", "python", "run_id", "seed", "slot", "tmp_dir", "work_dir"
    )  # fmt: skip
    assert fill("${x} {x}", {"x": "1"}) == "${x} 1"


def test_truth_is_given_to_a_command_as_json_has_it() -> None:
    assert (text_of(True), text_of(False)) == ("true", "false")
