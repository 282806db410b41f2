"""Draws by stream, and the cuts in time at which survivors are looked for. Integers only.

    stream  0 ........ window [ ]|cut block |cut block | … |last cut   holdout   end

Sessions are interleaved streams: each has draws, cuts and survivors of its own. `merged` puts
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
"""Draws a stream must have: fewer leave no room for windows, blocks and a holdout."""
MAX_DRAWS = 20_000
MERGED = "merged"
EACH = "each"


@dataclass(frozen=True, slots=True)
class Stream:
    """One stream's draws with its cuts, earliest first; the last cut begins the holdout."""

    name: str
    draws: tuple[int, ...]
    cuts: tuple[int, ...]
    block: int
    """Draws after an inner cut that label what was found before it."""

    @property
    def holdout_at(self) -> int:
        """Where the holdout begins."""
        return self.cuts[-1]

    def label_end(self, cut: int) -> int:
        """Return where the draws end that label survivors of a cut."""
        return len(self.draws) if cut == self.holdout_at else cut + self.block


@dataclass(frozen=True, slots=True)
class HistorySplit:
    """A history divided: streams by session and, where there are several, all of them merged."""

    modulus: int
    each: tuple[Stream, ...]
    merged: Stream | None
    left_out: tuple[str, ...]
    """Sessions with too few draws to be a stream."""
    schema_version: Literal[1] = 1

    def mode(self, sessions: str) -> tuple[Stream, ...]:
        """Return the streams of a way to look at sessions: `each` or `merged`."""
        if sessions == EACH:
            return self.each
        return self.each if self.merged is None else (self.merged,)

    def modes(self) -> tuple[str, ...]:
        """Return the ways to look at sessions; one when there is but one stream."""
        if self.merged is None:
            return (EACH,)
        return (EACH, MERGED) if self.each else (MERGED,)


def as_of_now(split: HistorySplit) -> HistorySplit:
    """Return the split with one cut, at the end: what survives now may predict what comes."""

    def now(stream: Stream) -> Stream:
        return Stream(stream.name, stream.draws, (len(stream.draws),), stream.block)

    merged = None if split.merged is None else now(split.merged)
    return HistorySplit(split.modulus, tuple(map(now, split.each)), merged, split.left_out)


def split_of(history: History, modulus: int) -> HistorySplit:
    """Divide a history as it was read; without sessions it is one stream."""
    return split_history(history.draws, history.sessions or ("",) * len(history), modulus)


def split_history(draws: Sequence[int], sessions: Sequence[str], modulus: int) -> HistorySplit:
    """Divide a history into streams with cuts; refuses what the pipeline cannot work on."""
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
