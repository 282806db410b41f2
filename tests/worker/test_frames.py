"""Messages over a stream: whatever the pieces, the same messages come out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from weft.worker.frames import Unpacker, pack

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.lists(VALUES, max_size=3), max_size=6), st.data())
def test_frames_cut_anywhere_give_the_same_messages(messages, data):
    stream = b"".join(pack(message) for message in messages)
    unpacker, found = Unpacker(), []
    while stream:
        count = data.draw(st.integers(1, len(stream)))
        found += unpacker.feed(stream[:count])
        stream = stream[count:]
    assert found == messages


def test_frame_empty_feed_gives_nothing():
    assert list(Unpacker().feed(b"")) == []
