"""Names that commands may use in their words."""

from __future__ import annotations

from weft.model.templates import ENGINE_NAMES, fill


def test_command_may_name_what_the_engine_gives() -> None:
    assert ENGINE_NAMES == (
        "attempt", "out_dir", "python", "run_id", "seed", "slot", "tmp_dir", "work_dir"
    )  # fmt: skip
    assert fill("${x} {x}", {"x": "1"}) == "${x} 1"
