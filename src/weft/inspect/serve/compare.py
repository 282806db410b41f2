"""Two runs side by side: where their ledgers diverge, and the request of each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weft.errors import WeftError
from weft.inspect.diff import Difference, diff
from weft.inspect.report.overview import RunSummary
from weft.inspect.report.text import clip, counted, duration

MAX_TEXT_BYTES = 1200


@dataclass(frozen=True, slots=True)
class ComparedFact:
    """One fact of both runs."""

    name: str
    a: str
    b: str
    shared: bool = False
    """Whether it is part of what the ledger says, so that a difference means something."""

    @property
    def differs(self) -> bool:
        """Whether the runs disagree on it."""
        return self.shared and self.a != self.b


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two runs have in common, and where they diverge."""

    equal: bool
    verdict: str
    difference: Difference | None
    lines: tuple[ComparedFact, ...]


def compare(paths: tuple[Path, Path], summaries: tuple[RunSummary, RunSummary]) -> Comparison:
    """Compare two runs; what cannot be read is named in the verdict."""
    lines = tuple(_lines(*summaries))
    try:
        difference = diff(*paths)
    except WeftError as error:
        return Comparison(False, str(error), None, lines)
    if difference is None:
        size = summaries[0].overview.size
        return Comparison(True, f"the same, byte for byte: {counted(size, 'record')}", None, lines)
    clipped = Difference(
        difference.seq,
        *(clip(text, MAX_TEXT_BYTES) for text in (difference.what, difference.a, difference.b)),
    )
    return Comparison(
        False, f"they diverge at record {difference.seq:,}: {clipped.what}", clipped, lines
    )


def _lines(a: RunSummary, b: RunSummary) -> list[ComparedFact]:
    first, second = a.overview, b.overview
    busy = tuple(g.work.busy_s if g.work else None for g in (a, b))
    wall = tuple(g.work.wall_s if g.work else None for g in (a, b))
    return [
        ComparedFact("state", a.badge.word, b.badge.word),
        ComparedFact("search", first.search, second.search, True),
        ComparedFact("version", first.genesis.version, second.genesis.version, True),
        ComparedFact("seed", first.genesis.seed, second.genesis.seed, True),
        ComparedFact("arguments", first.genesis.args, second.genesis.args, True),
        ComparedFact("config", first.genesis.config, second.genesis.config, True),
        ComparedFact("inputs", _inputs(a), _inputs(b), True),
        ComparedFact("answer", first.answer, second.answer, True),
        ComparedFact(
            "head", f"{first.size:,} {first.head}", f"{second.size:,} {second.head}", True
        ),
        ComparedFact("finished tasks", f"{first.finished:,}", f"{second.finished:,}"),
        ComparedFact("wall time", duration(wall[0]), duration(wall[1])),
        ComparedFact("task time", duration(busy[0]), duration(busy[1])),
        ComparedFact("workers", str(first.workers or "–"), str(second.workers or "–")),
    ]


def _inputs(summary: RunSummary) -> str:
    return ", ".join(f"{name} {digest[:12]}" for name, digest in summary.overview.genesis.inputs)
