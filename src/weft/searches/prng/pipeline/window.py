"""Step 1: which window, offset, sessions, skips and thresholds give survivors that hold.

    ask ──► params ──► sieve over ranges of seeds ──► judge: evidence on *disjoint* draws

A trial sieves a window before every cut. Its value is the evidence of the best survivors of the
inner cuts on the blocks after them, which the sieve has not seen, not the number of survivors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from weft.errors import BugError
from weft.lazy_imports import lazy_module
from weft.model.codec import to_json
from weft.searches.prng.arrays import Floats, Ints, Words
from weft.searches.prng.pipeline import table
from weft.searches.prng.pipeline.features import SKIP_GROUP
from weft.searches.prng.pipeline.optimizer import Choice, IntRange, Space
from weft.searches.prng.pipeline.reference import ScorerConfig, SieveStats
from weft.searches.prng.pipeline.request import PipelineRequest
from weft.searches.prng.pipeline.sieve import SieveRequest, sieve
from weft.searches.prng.pipeline.streams import HistorySplit, Stream
from weft.searches.prng.pipeline.survivor import base_of, first_draw, predicted
from weft.searches.prng.statistics import corrected

if TYPE_CHECKING:
    import polars as pl
else:
    pl = lazy_module("polars")

P = TypeVar("P", "WindowParams", ScorerConfig)
STRICTER = 4
"""Maximum distance of a threshold above the least number of hits."""
WindowCounts: TypeAlias = tuple[int, int, int, int]
"""Numbers of survivors of one window: of the forward pass, the reverse pass, both, and either."""


@dataclass(frozen=True, slots=True)
class WindowChoice:
    """The optimizer's proposal for a trial; the fields are the parameters of `space`."""

    window: int
    offset: int
    sessions: str
    skip_min: int
    skip_width: int
    forward_threshold: int
    reverse_threshold: int


@dataclass(frozen=True, slots=True)
class WindowParams:
    """The parameters of one trial: what is compared, and the hits required to survive."""

    window: int
    offset: int
    """Draws between the window's end and the cut."""
    sessions: str
    skip_min: int
    skip_max: int
    forward_need: int
    reverse_need: int

    @classmethod
    def of(cls, choice: WindowChoice, request: PipelineRequest) -> WindowParams:
        """Convert the optimizer's proposal to the parameters of a trial.

        Skips are proposed as a minimum and a width, thresholds as hits above `least_need`.
        """
        low, window = choice.skip_min, choice.window
        top = min(low + choice.skip_width, request.skips[1])
        need = request.least_need(window)
        forward = min(window, need + choice.forward_threshold)
        reverse = min(window, need + choice.reverse_threshold)
        return cls(window, choice.offset, choice.sessions, low, top, forward, reverse)

    def sieve_request(self, request: PipelineRequest) -> SieveRequest:
        """Return the corresponding sieve request."""
        return SieveRequest(
            self.window,
            (self.skip_min, self.skip_max),
            request.starts,
            self.forward_need,
            self.reverse_need,
        )

    def begin(self, cut: int) -> int:
        """Return the index at which the window before a cut begins."""
        return cut - self.offset - self.window


def check_same(requested: P, effective: P) -> None:
    """Raise BugError if a task used parameters other than its trial requested."""
    for name, expected in to_json(requested).items():
        used = getattr(effective, name)
        if used != expected:
            raise BugError(f"{name}: {expected!r} was asked for, {used!r} was used")


def space(request: PipelineRequest, split: HistorySplit) -> Space:
    """Return the search space of the optimizer; trial 0 uses the defaults."""
    shortest = min(stream.cuts[0] for mode in split.modes() for stream in split.mode(mode))
    block = min(stream.block for mode in split.modes() for stream in split.mode(mode))
    least, most = request.sizes()
    most = min(most, shortest - block)
    least = min(least, most)
    request.least_need(least)  # raises if the smallest window has too little evidence
    low, high = request.skips
    above: IntRange = {"low": 0, "high": STRICTER, "default": 0}
    sessions: Choice = {"choices": list(split.modes()), "default": split.modes()[0]}
    return {
        "window": {"low": least, "high": most, "default": (least + most) // 2},
        "offset": {"low": 0, "high": block, "default": 0},
        "sessions": sessions,
        "skip_min": {"low": low, "high": high, "default": low},
        "skip_width": {"low": 0, "high": high - low, "default": high - low},
        "forward_threshold": above,
        "reverse_threshold": above,
    }


def windows(streams: Sequence[Stream]) -> list[tuple[int, int]]:
    """Return (stream, cut) of every window, in order."""
    return [(s, cut) for s, stream in enumerate(streams) for cut in stream.cuts]


def survivors(
    request: PipelineRequest, split: HistorySplit, params: WindowParams, seeds: Words
) -> pl.DataFrame:
    """Sieve the windows before all cuts; return the survivors of either pass."""
    streams = split.mode(params.sessions)
    places = windows(streams)
    begins = [params.begin(cut) for _, cut in places]
    spans = [
        streams[s].draws[begin : begin + params.window]
        for (s, _), begin in zip(places, begins, strict=True)
    ]
    fields = sieve(
        request.family, request.output, request.modulus, seeds, spans,
        params.sieve_request(request), begins,
    )  # fmt: skip
    return _as_table(fields, seeds, places, params)


def _as_table(
    fields: Ints, seeds: Words, places: Sequence[tuple[int, int]], params: WindowParams
) -> pl.DataFrame:
    at = np.array(places, np.int64).reshape(len(places), 2)[fields[:, 1]]
    skip, cut = fields[:, 2], at[:, 1]
    base = base_of(fields[:, 3], skip, cut - params.offset - params.window)
    return table.frame({
        "stream": at[:, 0], "cut": cut, "first": first_draw(base, skip),
        "seed": seeds[fields[:, 0]], "skip": skip, "base": base, "hits": fields[:, 4],
    })  # fmt: skip


def merged(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Join the survivors of all ranges, in table order."""
    return table.concat(parts).sort("cut", "stream", "first", "seed", "skip", "base")


def continued(
    request: PipelineRequest, split: HistorySplit, params: WindowParams, rows: pl.DataFrame
) -> pl.DataFrame:
    """Return the earlier survivors that also survive either pass in their stream's last window.

    A generator that has run since an earlier cut may be beyond the starts that are searched.
    """
    need = min(params.forward_need, params.reverse_need)
    parts = []
    for s, stream in enumerate(split.mode(params.sessions)):
        cut = stream.cuts[-1]
        begin = params.begin(cut)
        own = rows.filter((rows["stream"] == s) & (rows["first"] <= begin))
        drawn = np.array(stream.draws[begin : begin + params.window], np.uint16)
        hits: Ints = (predicted(request, own, begin, params.window) == drawn).sum(axis=1)
        columns = {name: own[name].to_numpy() for name in ("first", "seed", "skip", "base")}
        again = table.frame({
            "stream": np.full(len(own), s), "cut": np.full(len(own), cut), **columns, "hits": hits,
        })  # fmt: skip
        parts.append(again.filter(again["hits"] >= need))
    return table.concat(parts)


@dataclass(frozen=True, slots=True)
class TrialJudgement:
    """The result of a trial, in integers, so that it is the same on every machine."""

    evidence: int
    hits: int
    compared: int
    survivors: int
    tried: int
    counts: tuple[WindowCounts, ...]
    """One for each window."""


def judge(
    request: PipelineRequest,
    split: HistorySplit,
    params: WindowParams,
    rows: pl.DataFrame,
    trials: int,
) -> TrialJudgement:
    """Judge a trial by its best survivors on draws after their cuts, corrected for all trials."""
    streams = split.mode(params.sessions)
    hits = compared = 0
    counts = []
    for s, cut in windows(streams):
        own = in_window(rows, s, cut)
        counts.append(_counts(own, params))
        own = bidirectional(own, params)
        if cut != streams[s].holdout_at and len(own):
            top = own[int(own["hits"].arg_max() or 0)]
            hits += int(label_hits(request, streams[s], cut, top)[0])
            compared += streams[s].label_end(cut) - cut
    evidence = corrected(hits, compared, request.modulus, trials) if compared else 0
    seeds = request.seeds[1] - request.seeds[0]
    tried = seeds * params.sieve_request(request).hypotheses() * len(counts)
    return TrialJudgement(evidence, hits, compared, len(rows), tried, tuple(counts))


def in_window(rows: pl.DataFrame, stream: int, cut: int) -> pl.DataFrame:
    """Return the survivors of one window."""
    return rows.filter((rows["stream"] == stream) & (rows["cut"] == cut))


def bidirectional(rows: pl.DataFrame, params: WindowParams) -> pl.DataFrame:
    """Return the rows that survive both passes."""
    return rows.filter(rows["hits"] >= max(params.forward_need, params.reverse_need))


def final_survivors(rows: pl.DataFrame, params: WindowParams) -> pl.DataFrame:
    """Return the rows that survive both passes, with the skip features of their seeds."""
    return with_skips(bidirectional(rows, params))


def label_hits(request: PipelineRequest, stream: Stream, cut: int, rows: pl.DataFrame) -> Ints:
    """Count each survivor's hits on the draws that label its cut."""
    end = stream.label_end(cut)
    predictions = predicted(request, rows, cut, end - cut)
    hits: Ints = (predictions == np.array(stream.draws[cut:end], np.uint16)).sum(axis=1)
    return hits


def _counts(rows: pl.DataFrame, params: WindowParams) -> WindowCounts:
    hits = rows["hits"].to_numpy()
    forward, reverse = hits >= params.forward_need, hits >= params.reverse_need
    both = forward & reverse
    return int(forward.sum()), int(reverse.sum()), int(both.sum()), len(rows)


def sieve_stats(params: WindowParams, counts: WindowCounts) -> SieveStats:
    """Return the sieve statistics of a window, for the features."""
    forward, reverse, both, _ = counts
    return SieveStats(
        params.window, params.forward_need, params.reverse_need, params.skip_min, params.skip_max,
        both, forward, reverse,
    )  # fmt: skip


def with_skips(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the SKIP_GROUP features: for each survivor, the skips at which its seed survived.

    Only survivors in the same window count. The twin for one survivor is `reference.skip_group`.
    """
    skips = rows["skip"].to_numpy().astype(np.int64)
    keys = [rows[name].to_numpy() for name in ("seed", "stream", "cut")]
    order = np.lexsort([skips, *keys])
    skips, keys = skips[order], [key[order] for key in keys]
    groups = _skip_groups(skips, _starts(*keys), _starts(*keys, skips))
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    return rows.with_columns(
        pl.Series(name, column[back], dtype=pl.Float64)
        for name, column in zip(SKIP_GROUP, groups, strict=True)
    )


def _starts(*columns: Ints) -> Ints:
    """Return the indices at which groups of equal rows start, in sorted rows."""
    new = np.ones(len(columns[0]), bool)
    new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return np.flatnonzero(new)


def _skip_groups(skips: Ints, starts: Ints, runs: Ints) -> Floats:
    """Return range, mean, std and entropy of each row's group of skips.

    `starts` are the starts of groups, `runs` those of equal skips within groups. Sums are integers
    and logarithms are scalar calls of the C library, so that results do not depend on the
    processor's vector instructions.
    """
    if not len(skips):
        return np.empty((len(SKIP_GROUP), 0))
    sizes = np.diff(starts, append=len(skips))
    lasts = starts + sizes - 1
    sums, squares = (np.add.reduceat(values, starts) for values in (skips, skips * skips))
    std = np.sqrt((sizes * squares - sums * sums).astype(np.float64)) / sizes
    owner = np.searchsorted(starts, runs, side="right") - 1
    pairs = np.stack([np.diff(runs, append=len(skips)), sizes[owner]], axis=1)
    kinds, kind = np.unique(pairs, axis=0, return_inverse=True)
    surprise = np.array([-(a / b) * math.log2(a / b) for a, b in kinds.tolist()])
    entropy = np.bincount(owner, weights=surprise[kind.ravel()], minlength=len(starts))
    groups = np.stack([skips[lasts] - skips[starts], sums / sizes, std, entropy + 0.0])
    return np.repeat(groups, sizes, axis=1)
