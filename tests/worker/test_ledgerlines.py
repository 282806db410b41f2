"""Lines rendered over a socket equal those of the chain, batch by batch."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from weft.ledger.chain import Chain
from weft.ledger.resultcolumns import ResultColumns
from weft.worker.ledgerlines import READY, receive_lines, send_batch, serve

BATCHES = [
    [("result", f"{number:064x}", f'{{"value":"{text}"}}') for number in range(count)]
    for count, text in ((1, "a"), (700, "é, \\n and 𝄞"), (33, "b" * 9000))
]

RESULTS = ResultColumns(
    "lab:f",
    '"lane":"/a","round":3',
    700,
    [f"{number:064x}" for number in range(300)],
    [f'{{"x":{number}}}' for number in range(300)],
    [f'"é{number}"' for number in range(300)],
)


@pytest.fixture
def channel() -> Iterator[socket.socket]:
    near, far = socket.socketpair()
    thread = threading.Thread(target=serve, args=(far,))
    thread.start()
    with near:
        yield near
    thread.join()
    far.close()


def test_lines_of_several_batches_are_those_of_one_chain(channel: socket.socket) -> None:
    assert channel.recv(1) == READY
    plain, chain = Chain(), Chain()
    for entries in BATCHES:
        send_batch(channel, chain.state, [entries])
        lines, state = receive_lines(channel)
        chain.move_to(state)
        assert bytes(lines) == b"".join(line + b"\n" for line in plain.next_lines(entries))
        assert (chain.state, chain.root()) == (plain.state, plain.root())


def test_lines_of_results_by_column_are_those_of_their_records(channel: socket.socket) -> None:
    channel.recv(1)
    chain, plain = Chain(), Chain()
    send_batch(channel, chain.state, [BATCHES[0], RESULTS, BATCHES[1], RESULTS])
    lines, state = receive_lines(channel)
    entries = [*BATCHES[0], *RESULTS, *BATCHES[1], *RESULTS]
    assert bytes(lines) == b"".join(plain.next_line(*entry) + b"\n" for entry in entries)
    assert state == plain.state


def test_text_with_a_line_end_is_refused() -> None:
    near, far = socket.socketpair()
    with near, far:
        send_batch(near, Chain().state, [[("result", "0" * 64, '"a\nb"')]])
        with pytest.raises(ValueError, match="line end"):
            serve(far)


def test_lines_go_on_from_where_another_chain_stands(channel: socket.socket) -> None:
    channel.recv(1)
    chain = Chain()
    chain.next_lines(BATCHES[1])
    send_batch(channel, chain.state, [BATCHES[0]])
    lines, state = receive_lines(channel)
    assert bytes(lines) == chain.next_lines(BATCHES[0])[0] + b"\n"
    assert state == chain.state


def test_other_side_gone_is_end_of_file() -> None:
    near, far = socket.socketpair()
    with near:
        far.close()
        with pytest.raises(EOFError):
            receive_lines(near)
