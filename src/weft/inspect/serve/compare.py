"""Two runs beside each other: where their ledgers part, and what was asked of each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weft.errors import WeftError
from weft.inspect.diff import Difference, diff
from weft.inspect.report.overview import Glance
from weft.inspect.report.text import clip, counted, duration

MAX_TEXT_BYTES = 1200


@dataclass(frozen=True, slots=True)
class Line:
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
    """What two runs have in common, and where they part."""

    equal: bool
    verdict: str
    difference: Difference | None
    lines: tuple[Line, ...]


def compare(paths: tuple[Path, Path], glances: tuple[Glance, Glance]) -> Comparison:
    """Compare two runs; what cannot be read is said in the verdict."""
    lines = tuple(_lines(*glances))
    try:
        found = diff(*paths)
    except WeftError as error:
        return Comparison(False, str(error), None, lines)
    if found is None:
        size = glances[0].overview.size
        return Comparison(True, f"the same, byte for byte: {counted(size, 'record')}", None, lines)
    clipped = Difference(
        found.seq, *(clip(text, MAX_TEXT_BYTES) for text in (found.what, found.a, found.b))
    )
    return Comparison(False, f"they part at record {found.seq:,}: {clipped.what}", clipped, lines)


def _lines(a: Glance, b: Glance) -> list[Line]:
    one, two = a.overview, b.overview
    busy = tuple(g.work.busy_s if g.work else None for g in (a, b))
    wall = tuple(g.work.wall_s if g.work else None for g in (a, b))
    return [
        Line("state", a.badge.word, b.badge.word),
        Line("search", one.search, two.search, True),
        Line("version", one.genesis.version, two.genesis.version, True),
        Line("seed", one.genesis.seed, two.genesis.seed, True),
        Line("arguments", one.genesis.args, two.genesis.args, True),
        Line("config", one.genesis.config, two.genesis.config, True),
        Line("inputs", _inputs(a), _inputs(b), True),
        Line("answer", one.answer, two.answer, True),
        Line("head", f"{one.size:,} {one.head}", f"{two.size:,} {two.head}", True),
        Line("tasks over", f"{one.finished:,}", f"{two.finished:,}"),
        Line("wall time", duration(wall[0]), duration(wall[1])),
        Line("task time", duration(busy[0]), duration(busy[1])),
        Line("workers", str(one.workers or "–"), str(two.workers or "–")),
    ]


def _inputs(glance: Glance) -> str:
    return ", ".join(f"{name} {digest[:12]}" for name, digest in glance.overview.genesis.inputs)
