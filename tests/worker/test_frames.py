"""Messages over a stream: the same messages arrive, however they are split."""

from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.worker.frames import ProtocolError, Unpacker, pack

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.lists(VALUES, max_size=3), max_size=6), st.data())
def test_frames_cut_anywhere_give_the_same_messages(messages, data):
    stream = b"".join(pack(message) for message in messages)
    unpacker, received = Unpacker(), []
    while stream:
        count = data.draw(st.integers(1, len(stream)))
        received += unpacker.feed(stream[:count])
        stream = stream[count:]
    assert received == messages


def test_frame_empty_feed_gives_nothing():
    assert list(Unpacker().feed(b"")) == []


@pytest.mark.parametrize("text", [b"", b"nonsense", b"[1", b'["ready"] ', b"[] []", b"\xff"])
def test_frame_that_is_not_one_json_text_is_refused(text):
    frame = len(text).to_bytes(4, "big") + text
    with pytest.raises(ProtocolError):
        list(Unpacker().feed(frame))


def test_socket_is_read_up_to_its_end_whatever_arrives_together():
    ours, theirs = socket.socketpair()
    unpacker = Unpacker()
    with ours, theirs:
        theirs.sendall(pack(("ready",)) + pack(("started", 1))[:3])
        assert unpacker.receive(ours) == [["ready"]]
        theirs.sendall(pack(("started", 1))[3:])
        assert unpacker.receive(ours) == [["started", 1]]
        theirs.close()
        assert unpacker.receive(ours) is None
