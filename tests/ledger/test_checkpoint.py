"""A checkpoint is accepted only in the exact form in which it is written."""

from __future__ import annotations

import base64
import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import LedgerDamaged
from weft.ledger.checkpoint import Checkpoint, note_text, origin_of, parse_checkpoint

ROOT = bytes(range(32))
TEXT = Checkpoint("weft/climb:climb", 12, ROOT).to_text()
ENCODED = base64.b64encode(ROOT).decode()


@given(
    st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), min_size=1),
    st.integers(0, 10**18),
    st.binary(min_size=32, max_size=32),
)
def test_checkpoint_any_head_reads_back(search: str, size: int, root: bytes) -> None:
    checkpoint = Checkpoint(origin_of(search), size, root)
    assert parse_checkpoint(checkpoint.to_text()) == checkpoint


@given(st.text(max_size=80) | st.text("weft/:1290\n=+", max_size=30))
def test_parse_checkpoint_any_text_is_refused_or_means_itself(text: str) -> None:
    with contextlib.suppress(LedgerDamaged):
        assert parse_checkpoint(text).to_text() == text


REFUSED = {
    "empty": "",
    "no newline at the end": TEXT[:-1],
    "newline too many": TEXT + "\n",
    "extension line": TEXT + "extra\n",
    "carriage returns": TEXT.replace("\n", "\r\n"),
    "other origin": TEXT.replace("weft/", "waft/"),
    "control character in origin": TEXT.replace("climb", "cl\x1bmb"),
    "negative size": TEXT.replace("12", "-12"),
    "leading zero": TEXT.replace("12", "012"),
    "plus sign": TEXT.replace("12", "+12"),
    "underscore": TEXT.replace("12", "1_2"),
    "spaces": TEXT.replace("12", " 12"),
    "Arabic digits": TEXT.replace("12", "١٢"),
    "size of 5000 digits": TEXT.replace("12", "9" * 5000),
    "root too short": TEXT.replace(ENCODED, base64.b64encode(ROOT[1:]).decode()),
    "root unpadded": TEXT.replace("=", ""),
    "root with spare bits": TEXT.replace("h8=", "h9="),
    "root not base64": TEXT.replace(ENCODED, "é" * 44),
    "URL alphabet": Checkpoint("weft/a:b", 1, b"\xff" * 32).to_text().replace("/////", "_____"),
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_parse_checkpoint_written_otherwise_is_refused(text: str) -> None:
    assert parse_checkpoint(TEXT).size == 12
    with pytest.raises(LedgerDamaged) as caught:
        parse_checkpoint(text)
    assert str(caught.value).isprintable()


def test_text_of_a_note_is_what_stands_before_the_last_empty_line() -> None:
    assert note_text(f"{TEXT}\n\u2014 name AAAA\n") == TEXT
    assert note_text("a\n\nb\n\nc\n") == "a\n\nb\n"


@pytest.mark.parametrize("note", ["", TEXT, f"{TEXT}\n", f"{TEXT}\nunfinished"])
def test_text_of_what_is_no_note_is_refused(note: str) -> None:
    with pytest.raises(LedgerDamaged, match="not a text, an empty line and signatures"):
        note_text(note)
