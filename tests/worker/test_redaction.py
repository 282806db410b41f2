"""Secrets in text: removed however writes split them, and nothing else is changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.worker.redaction import RedactedStream, Secrets

KEY = "sk-12345678"
SECRETS = Secrets({"API_KEY": KEY, "SHORT": "abc", "QUOTED": 'a"b\nc-1234'})


def streamed(pieces: list[bytes], secrets: Secrets = SECRETS) -> bytes:
    stream = RedactedStream(secrets)
    return b"".join(stream.feed(piece) for piece in pieces) + stream.end()


def test_values_are_replaced_by_their_names_and_short_ones_are_not_looked_for() -> None:
    assert SECRETS.redacted_text(f"key {KEY}, abc") == "key [API_KEY], abc"
    assert SECRETS.redacted_text(r'{"x": "a\"b\nc-1234"}') == '{"x": "[QUOTED]"}'
    assert not Secrets({"SHORT": "abc"})


@pytest.mark.parametrize("cut", range(len(KEY) + 1))
def test_a_value_split_over_two_writes_is_replaced(cut: int) -> None:
    text = KEY.encode()
    assert streamed([b"is " + text[:cut], text[cut:] + b"!"]) == b"is [API_KEY]!"


@given(
    st.lists(st.sampled_from([b"sk-", b"12", KEY.encode(), b"345678", b"s", b"x\n"]), max_size=20),
    st.randoms(use_true_random=False),
)
def test_a_stream_is_redacted_as_its_whole_text_is(parts: list[bytes], chance) -> None:
    text, pieces, start = b"".join(parts), [], 0
    while start < len(text):
        end = start + chance.randint(1, 7)
        pieces.append(text[start:end])
        start = end
    assert streamed(pieces) == SECRETS.redacted(text)
    assert KEY.encode() not in streamed(pieces)


def test_a_beginning_that_comes_to_nothing_is_kept() -> None:
    assert streamed([b"sk-1234", b" is short", b" sk-123"]) == b"sk-1234 is short sk-123"


def test_values_are_found_in_files_names_and_links(tmp_path: Path) -> None:
    assert SECRETS.found_below(tmp_path) == ""
    (tmp_path / "plain").write_bytes(b"x" * (2**20 - 4) + KEY.encode())
    assert SECRETS.found_below(tmp_path) == "API_KEY"
    SECRETS.remove_from(tmp_path)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / f"a{KEY}").touch()
    assert SECRETS.found_below(tmp_path) == "API_KEY"
    SECRETS.remove_from(tmp_path)
    (tmp_path / "link").symlink_to(f"/{KEY}")
    assert SECRETS.found_below(tmp_path) == "API_KEY"
