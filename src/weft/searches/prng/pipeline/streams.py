"""Draws by stream, and the cuts in time at which survivors are sought. Integers only.

    stream  0 ........ window [ ]|cut block |cut block | … |last cut   holdout   end

Sessions are interleaved streams, each with separate draws, cuts and survivors. `merged` combines
all draws into one stream, in the order of the history.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from weft.errors import InputError
from weft.searches.prng.history import History

INNER_CUTS = 6
HOLDOUT_PERCENT = 20
LEAST_DRAWS = 80
"""Minimum draws of a stream: fewer leave no room for windows, blocks and a holdout."""
MAX_DRAWS = 20_000
MERGED = "merged"
EACH = "each"


@dataclass(frozen=True, slots=True)
class Stream:
    """The draws and cuts of one stream, earliest first; the holdout starts at the last cut."""

    name: str
    draws: tuple[int, ...]
    cuts: tuple[int, ...]
    block: int
    """Number of draws after an inner cut that label the survivors found before it."""

    @property
    def holdout_at(self) -> int:
        """The index of the holdout's first draw."""
        return self.cuts[-1]

    def label_end(self, cut: int) -> int:
        """Return the end of the draws that label the survivors of a cut."""
        return len(self.draws) if cut == self.holdout_at else cut + self.block


@dataclass(frozen=True, slots=True)
class HistorySplit:
    """A divided history: a stream for each session and, if there are several, one of all draws."""

    modulus: int
    each: tuple[Stream, ...]
    merged: Stream | None
    left_out: tuple[str, ...]
    """Sessions with too few draws to be a stream."""
    schema_version: Literal[1] = 1

    def mode(self, sessions: str) -> tuple[Stream, ...]:
        """Return the streams of a session mode, `each` or `merged`."""
        if sessions == EACH:
            return self.each
        return self.each if self.merged is None else (self.merged,)

    def modes(self) -> tuple[str, ...]:
        """Return the possible session modes; only one if there is a single stream."""
        if self.merged is None:
            return (EACH,)
        return (EACH, MERGED) if self.each else (MERGED,)


def as_of_now(split: HistorySplit) -> HistorySplit:
    """Return the split with a single cut at the end, for survivors that predict the next draws."""

    def now(stream: Stream) -> Stream:
        return Stream(stream.name, stream.draws, (len(stream.draws),), stream.block)

    merged = None if split.merged is None else now(split.merged)
    return HistorySplit(split.modulus, tuple(map(now, split.each)), merged, split.left_out)


def split_of(history: History, modulus: int) -> HistorySplit:
    """Divide a history into streams with cuts; without sessions it is a single stream."""
    return split_history(history.draws, history.sessions or ("",) * len(history), modulus)


def split_history(draws: Sequence[int], sessions: Sequence[str], modulus: int) -> HistorySplit:
    """Divide draws into streams with cuts. Raises InputError if they are too few or too many."""
    if len(draws) > MAX_DRAWS:
        raise InputError(f"{len(draws):,} draws; the pipeline takes {MAX_DRAWS:,} at most")
    by_name: dict[str, list[int]] = {}
    for draw, session in zip(draws, sessions, strict=True):
        by_name.setdefault(session, []).append(draw)
    named = [(name, by_name[name]) for name in sorted(by_name)]
    each = tuple(_stream(name, rows) for name, rows in named if len(rows) >= LEAST_DRAWS)
    left_out = tuple(name for name, rows in named if len(rows) < LEAST_DRAWS)
    if len(draws) < LEAST_DRAWS:
        raise InputError(f"{len(draws)} draws; the pipeline needs {LEAST_DRAWS} or more")
    merged = _stream(MERGED, list(draws)) if len(named) > 1 else None
    return HistorySplit(modulus, each, merged, left_out)


def _stream(name: str, draws: Sequence[int]) -> Stream:
    end = len(draws) - len(draws) * HOLDOUT_PERCENT // 100
    block = end // (2 * INNER_CUTS)
    cuts = tuple(end - block * (INNER_CUTS - j) for j in range(INNER_CUTS + 1))
    return Stream(name, tuple(draws), cuts, block)
