"""The simulator's line helper: lines lag by one batch, as with the real one, and some are lost."""

from __future__ import annotations

from collections.abc import Sequence

from weft.ledger.chain import Chain, ChainState
from weft.storage.ledgerwriter import Part

LOSE_EVERY = 5
"""One batch in this many is lost, as if the process had been killed."""


class SimLines:
    """Implements `LineHelper` in this process."""

    def __init__(self) -> None:
        self._batches = 0
        self._chain = Chain()
        self._parts: Sequence[Part] = ()

    def begin(self, state: ChainState, parts: Sequence[Part]) -> bool:
        """Accept every batch that has records."""
        self._chain.move_to(state)
        self._parts = parts
        self._batches += bool(parts)
        return bool(parts)

    def finish(self) -> tuple[bytes, ChainState] | None:
        """Return the lines, unless they are lost."""
        if self._batches % LOSE_EVERY == 0:
            return None
        lines = [line for part in self._parts for line in self._chain.next_lines(part)]
        return b"".join([line + b"\n" for line in lines]), self._chain.state
