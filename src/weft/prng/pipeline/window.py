"""Step 1: which window, offset, sessions, skips and thresholds make survivors that hold.

    ask ──► params ──► sieve over ranges of seeds ──► judge: evidence on *disjoint* draws

A trial sieves a window before every cut. Its worth is that of the best survivor of each inner
cut on the block after it: draws that the sieve has not seen. How many survive counts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.errors import BugError
from weft.prng.pipeline import table
from weft.prng.pipeline.foretell import foretold
from weft.prng.pipeline.plan import Plan
from weft.prng.pipeline.reference import Sieved
from weft.prng.pipeline.sieve import Asked, sieve
from weft.prng.pipeline.skips import with_skips
from weft.prng.pipeline.streams import Split, Stream
from weft.prng.pipeline.survivor import first_draw, of_window
from weft.prng.statistics import corrected

if TYPE_CHECKING:
    import polars as pl

STRICTER = 4
"""How far above the least number of hits a threshold may lie."""


@dataclass(frozen=True, slots=True)
class WindowParams:
    """One trial: what is compared, and what survives."""

    window: int
    offset: int
    """Draws between the window's end and the cut."""
    sessions: str
    skip_min: int
    skip_max: int
    forward_need: int
    reverse_need: int

    def asked(self, plan: Plan) -> Asked:
        """Return what the sieve is asked for."""
        return Asked(
            self.window,
            (self.skip_min, self.skip_max),
            plan.starts,
            self.forward_need,
            self.reverse_need,
        )

    def at(self, cut: int) -> int:
        """Return where the window before a cut begins."""
        return cut - self.offset - self.window


def from_asked(params: Mapping[str, Any], plan: Plan) -> WindowParams:
    """Turn what the optimizer proposed into a trial.

    Skips are a least one and a width; thresholds are hits above what chance allows a window.
    """
    low, window = params["skip_min"], params["window"]
    top = min(low + params["skip_width"], plan.skips[1])
    need = plan.least_need(window)
    forward, reverse = (
        min(window, need + params[name]) for name in ("forward_threshold", "reverse_threshold")
    )
    return WindowParams(window, params["offset"], params["sessions"], low, top, forward, reverse)


def check_same(requested: WindowParams, effective: Mapping[str, Any]) -> None:
    """Refuse a range that was sieved with other parameters than its trial asked for."""
    for name, wanted in asdict(requested).items():
        if effective.get(name) != wanted:
            raise BugError(f"{name}: {wanted!r} was asked for, {effective.get(name)!r} was used")


def space(plan: Plan, split: Split) -> dict[str, Any]:
    """Return what the optimizer may choose, as plain values; trial 0 takes the defaults."""
    shortest = min(stream.cuts[0] for mode in split.modes() for stream in split.mode(mode))
    block = min(stream.block for mode in split.modes() for stream in split.mode(mode))
    least, most = plan.sizes()
    most = min(most, shortest - block)
    least = min(least, most)
    plan.least_need(least)  # refuses what the smallest window could not tell apart
    low, high = plan.skips
    above = {"low": 0, "high": STRICTER, "default": 0}
    return {
        "window": {"low": least, "high": most, "default": (least + most) // 2},
        "offset": {"low": 0, "high": block, "default": 0},
        "sessions": {"choices": list(split.modes()), "default": split.modes()[0]},
        "skip_min": {"low": low, "high": high, "default": low},
        "skip_width": {"low": 0, "high": high - low, "default": high - low},
        "forward_threshold": above,
        "reverse_threshold": above,
    }


def windows(streams: Sequence[Stream]) -> list[tuple[int, int]]:
    """Return (stream, cut) of every window, in order."""
    return [(s, cut) for s, stream in enumerate(streams) for cut in stream.cuts]


def survivors(plan: Plan, split: Split, params: WindowParams, seeds: Any) -> pl.DataFrame:
    """Sieve the windows before all cuts; keep what either pass keeps."""
    streams = split.mode(params.sessions)
    places = windows(streams)
    spans = [streams[s].draws[params.at(cut) : params.at(cut) + params.window] for s, cut in places]
    found = sieve(plan.family, plan.output, plan.modulus, seeds, spans, params.asked(plan))
    return _as_table(found, seeds, places, params)


def _as_table(
    found: Any, seeds: Any, places: Sequence[tuple[int, int]], params: WindowParams
) -> pl.DataFrame:
    at = np.array(places, np.int64).reshape(len(places), 2)[found[:, 1]]
    skip, cut = found[:, 2], at[:, 1]
    base = of_window(found[:, 3], skip, cut - params.offset - params.window)
    return table.frame({
        "stream": at[:, 0], "cut": cut, "first": first_draw(base, skip), "seed": seeds[found[:, 0]],
        "skip": skip, "base": base, "hits": found[:, 4],
    })  # fmt: skip


def merged(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Put the survivors of all ranges together, in the order of tables."""
    return table.concat(parts).sort("cut", "stream", "first", "seed", "skip", "base")


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of a trial: integers only, so that it is the same on every machine."""

    evidence: int
    hits: int
    compared: int
    survivors: int
    tried: int
    counts: tuple[tuple[int, int, int, int], ...]
    """For each window: forward survivors, reverse survivors, both, all kept."""


def judge(
    plan: Plan, split: Split, params: WindowParams, found: pl.DataFrame, trials: int
) -> Judged:
    """Weigh a trial by its best survivors on draws after their cuts, corrected for all trials."""
    streams = split.mode(params.sessions)
    hits = compared = 0
    counts = []
    for s, cut in windows(streams):
        rows = of_place(found, s, cut)
        counts.append(_counts(rows, params))
        rows = bidirectional(rows, params)
        if cut != streams[s].holdout_at and len(rows):
            top = rows[int(rows["hits"].arg_max() or 0)]
            hits += int(label_hits(plan, streams[s], cut, top)[0])
            compared += streams[s].label_end(cut) - cut
    evidence = corrected(hits, compared, plan.modulus, trials) if compared else 0
    seeds = plan.seeds[1] - plan.seeds[0]
    tried = seeds * params.asked(plan).hypotheses() * len(counts)
    return Judged(evidence, hits, compared, len(found), tried, tuple(counts))


def of_place(found: pl.DataFrame, stream: int, cut: int) -> pl.DataFrame:
    """Return the survivors of one window."""
    return found.filter((found["stream"] == stream) & (found["cut"] == cut))


def bidirectional(found: pl.DataFrame, params: WindowParams) -> pl.DataFrame:
    """Return those that both passes keep."""
    return found.filter(found["hits"] >= max(params.forward_need, params.reverse_need))


def kept(found: pl.DataFrame, params: WindowParams) -> pl.DataFrame:
    """Return those that both passes keep, each with the skips at which its seed survived."""
    return with_skips(bidirectional(found, params))


def label_hits(plan: Plan, stream: Stream, cut: int, rows: pl.DataFrame) -> Any:
    """Count each survivor's hits on the draws that label its cut."""
    end = stream.label_end(cut)
    told = foretold(plan, rows, cut, end - cut)
    return (told == np.array(stream.draws[cut:end], np.uint16)).sum(axis=1)


def _counts(rows: pl.DataFrame, params: WindowParams) -> tuple[int, int, int, int]:
    hits = rows["hits"].to_numpy()
    forward, reverse = hits >= params.forward_need, hits >= params.reverse_need
    return int(forward.sum()), int(reverse.sum()), int((forward & reverse).sum()), len(rows)


def sieved_of(params: WindowParams, counts: tuple[int, int, int, int]) -> Sieved:
    """Return what the features know of a window."""
    return Sieved(
        params.window, params.forward_need, params.reverse_need, params.skip_min, params.skip_max,
        counts[2], counts[0], counts[1],
    )  # fmt: skip
