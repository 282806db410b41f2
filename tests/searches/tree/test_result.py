"""Results of commands: where they may be, what is refused, and how other tools write them."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.searches.tree.decide import gain
from weft.searches.tree.result import Invalid, check_fields, parse_object, read_result


def read(folder: Path, stdout: str = "", form: str = "weft", regex: str = "") -> dict[str, object]:
    (folder / "stdout").write_text(stdout)
    return read_result(folder, folder / "stdout", form, regex)


def test_last_line_of_stdout_or_regex_or_file_but_only_one(tmp_path: Path) -> None:
    assert read(tmp_path, "log\n") == {}
    assert read(tmp_path, 'log\n{"score": 1.50}\n') == {"score": "1.5"}
    assert read(tmp_path, "time 3.5\ntime 2.25 s\n", regex=r"time (\S+)") == {"score": "2.25"}
    with pytest.raises(Invalid, match="there must be one"):
        read(tmp_path, 'x 3\n{"score": 1}\n', regex=r"x (\d)")
    with pytest.raises(Invalid):
        read(tmp_path, "x nan\n", regex=r"x (\w+)")
    (tmp_path / "result.json").write_text('{"score": 2}')
    assert read(tmp_path, "words") == {"score": "2"}
    with pytest.raises(Invalid, match="there must be one"):
        read(tmp_path, '{"score": 2}')


def test_results_of_other_tools_are_read_as_they_are(tmp_path: Path) -> None:
    printed = '{"combined_score": 0.25, "runs_successfully": 1.0}'
    expected = {"score": "0.25", "metrics": {"runs_successfully": "1.0"}}
    assert read(tmp_path, printed, "openevolve") == expected
    with pytest.raises(Invalid, match="combined_score"):
        read(tmp_path, '{"score": 1}', "openevolve")
    with pytest.raises(Invalid, match="both"):
        read(tmp_path, "", "shinka")
    (tmp_path / "metrics.json").write_text(printed)
    for correct in (True, False):
        (tmp_path / "correct.json").write_text(json.dumps({"correct": correct}))
        fields = read(tmp_path, "", "shinka")
        assert fields["rows"] == {"ok": int(correct), "expected": 1}
    (tmp_path / "correct.json").write_text('{"correct": 1}')
    with pytest.raises(Invalid, match="true or false"):
        read(tmp_path, "", "shinka")


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        check_fields(parse_object(data, "x"), "x")
    except Invalid:
        return


@given(st.decimals(allow_nan=False, allow_infinity=False, places=20), st.integers(-5, 5))
def test_scores_keep_every_digit_and_gain_is_exact(value: Decimal, step: int) -> None:
    text = check_fields(parse_object(f'{{"score": {value:f}}}'.encode(), "x"), "x")["score"]
    assert Decimal(text) == value
    other = Decimal(text) + 0 if step == 0 else Decimal(step)
    assert (gain(value, other, "max") > 0) == (value > other)
    assert (gain(value, other, "min") > 0) == (value < other)


def test_folder_that_was_replaced_by_a_link_has_no_result(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "result.json").write_text('{"score": 1}')
    (tmp_path / "out").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Invalid, match="replaced by a link"):
        read_result(tmp_path / "out", tmp_path / "stdout", "weft", "")
