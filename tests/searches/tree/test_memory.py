"""Transcripts: windows in turns and characters, and who sees what."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.searches.tree.memory import Turn, dump, parse, read_turns, window
from weft.searches.tree.result import Invalid

TURNS = st.lists(st.builds(Turn, st.sampled_from(["user", "assistant"]), st.text(max_size=30)))


@given(TURNS)
def test_turns_written_are_turns_read(turns: list[Turn]) -> None:
    assert parse(dump(turns)) == turns


@given(TURNS, st.integers(1, 10), st.integers(1, 60))
def test_window_is_the_end_of_the_transcript_within_both_limits(
    turns: list[Turn], max_turns: int, max_chars: int
) -> None:
    visible = window(turns, max_turns, max_chars)
    assert len(visible) <= max_turns
    assert sum(len(turn.text) for turn in visible) <= max_chars
    assert visible[1:] == turns[len(turns) - len(visible) + 1 :] or len(visible) <= 1
    if turns:
        assert visible, "the newest turn is always there"
        assert turns[-1].text.endswith(visible[-1].text)


@pytest.mark.parametrize(
    "line", [b"words", b'{"role": "user"}', b'{"role": 1, "text": ""}', b'{"role":NaN}', b"[]"]
)
def test_malformed_turns_are_refused_with_the_line(line: bytes) -> None:
    with pytest.raises(Invalid, match="line 2 of the turns"):
        parse(b'{"role": "user", "text": "a"}\n' + line + b"\n")


def test_what_a_command_prints_is_its_turn_unless_it_writes_turns(tmp_path: Path) -> None:
    file, stdout = tmp_path / "turns", tmp_path / "stdout"
    assert read_turns(file, stdout, "do it") == []
    stdout.write_text(" done \n")
    assert read_turns(file, stdout, "do it") == [Turn("user", "do it"), Turn("assistant", "done")]
    file.write_bytes(dump([Turn("tool", "x")]))
    assert read_turns(file, stdout, "do it") == [Turn("tool", "x")]
    file.unlink()
    file.symlink_to(stdout)
    with pytest.raises(Invalid, match="plain file"):
        read_turns(file, stdout, "do it")
