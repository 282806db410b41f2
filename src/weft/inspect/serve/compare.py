"""Two to six runs side by side: requests, answers, times, and the records where they diverge."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from weft.errors import WeftError
from weft.inspect.diff import Difference, describe, diff
from weft.inspect.report.overview import RunSummary
from weft.inspect.report.text import clip, counted, duration
from weft.inspect.report.wording import answer_lines
from weft.storage.folder import RunFolder
from weft.storage.ledgerfile import parse_at, whole_lines

MIN_RUNS, MAX_RUNS = 2, 6
MAX_TEXT_BYTES = 1200
DECISION_BYTES = 300
_DECIMAL = re.compile(r'\{"\$f":"([^"]*)"\}')
_CALL = re.compile(r"\((\{.*\})\) = ")
BEFORE, AFTER = 2, 5
"""Records shown before and after the first that differs."""


@dataclass(frozen=True, slots=True)
class ComparedFact:
    """One fact about every run."""

    name: str
    texts: tuple[str, ...]
    shared: bool = False
    """Whether the ledger determines it, so that a difference is meaningful."""

    @property
    def differs(self) -> bool:
        """Whether the runs disagree on it."""
        return self.shared and len(set(self.texts)) > 1


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One run compared with the first: where they diverge, or that they are equal."""

    verdict: str
    equal: bool
    difference: Difference | None = None


@dataclass(frozen=True, slots=True)
class ComparedRecord:
    """One record of every run, in words; empty if a ledger has ended before it."""

    seq: int
    texts: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether the runs differ in this record."""
        return len(set(self.texts)) > 1


@dataclass(frozen=True, slots=True)
class TimeBar:
    """A run's wall time and task time, and their shares of the longest."""

    wall: str
    task: str
    wall_share: float
    task_share: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """What runs have in common, and where they diverge."""

    others: tuple[ComparedRun, ...]
    """Every run but the first, each against the first."""
    facts: tuple[ComparedFact, ...]
    decisions: tuple[ComparedRecord, ...]
    times: tuple[TimeBar, ...]

    @property
    def equal(self) -> bool:
        """Whether all ledgers are byte-identical."""
        return all(other.equal for other in self.others)


def compare(paths: Sequence[Path], summaries: Sequence[RunSummary]) -> Comparison:
    """Compare runs with the first of them; the verdict on an unreadable run states the error."""
    size = summaries[0].overview.size
    others = tuple(_against(paths[0], path, size) for path in paths[1:])
    places = [other.difference.seq for other in others if other.difference is not None]
    decisions = tuple(_decisions(paths, min(places))) if places else ()
    return Comparison(others, tuple(_facts(summaries)), decisions, tuple(_times(summaries)))


def _against(first: Path, other: Path, size: int) -> ComparedRun:
    try:
        difference = diff(first, other)
    except WeftError as error:
        return ComparedRun(str(error), False)
    if difference is None:
        return ComparedRun(f"the same, byte for byte: {counted(size, 'record')}", True)
    clipped = Difference(
        difference.seq,
        *(
            clip(_plain(text), MAX_TEXT_BYTES)
            for text in (difference.what, difference.a, difference.b)
        ),
    )
    verdict = f"they diverge at record {difference.seq:,}: {clipped.what}"
    return ComparedRun(verdict, False, clipped)


def _decisions(paths: Sequence[Path], seq: int) -> Iterator[ComparedRecord]:
    """Yield the records around number `seq`, side by side."""
    first = max(0, seq - BEFORE)
    columns = [_records(path, first, seq + AFTER) for path in paths]
    for at in range(max(map(len, columns), default=0)):
        texts = tuple(column[at] if at < len(column) else "" for column in columns)
        yield ComparedRecord(first + at, texts)


def _records(path: Path, first: int, end: int) -> list[str]:
    try:
        lines = islice(whole_lines(RunFolder(path).ledger), first, end)
        return [
            clip(_plain(describe(parse_at(line, first + at))), DECISION_BYTES)
            for at, line in enumerate(lines)
        ]
    except WeftError as error:
        return [clip(error.message, DECISION_BYTES)]


def _plain(text: str) -> str:
    """Put the arguments of a call into words, and replace tagged floats by their digits."""
    text = _DECIMAL.sub(r"\1", text)
    call = _CALL.search(text)
    if call is None:
        return text
    try:
        words = "; ".join(answer_lines(json.loads(call[1])))
    except ValueError:
        return text
    return f"{text[: call.start()]}({words}) = {text[call.end() :]}"


def _facts(summaries: Sequence[RunSummary]) -> Iterator[ComparedFact]:
    views = [summary.overview for summary in summaries]
    yield ComparedFact("state", tuple(summary.badge.word for summary in summaries))
    yield ComparedFact("search", tuple(view.search for view in views), True)
    yield ComparedFact("version", tuple(view.genesis.version for view in views), True)
    yield ComparedFact("seed", tuple(view.genesis.seed for view in views), True)
    yield ComparedFact("arguments", tuple(view.genesis.asked for view in views), True)
    yield ComparedFact("config", tuple(view.genesis.settings for view in views), True)
    yield ComparedFact("inputs", tuple(map(_inputs, summaries)), True)
    yield ComparedFact("answer", tuple("; ".join(view.lines) for view in views), True)
    yield ComparedFact("head", tuple(f"{view.size:,} {view.head}" for view in views), True)
    yield ComparedFact("finished tasks", tuple(f"{view.finished:,}" for view in views))
    yield ComparedFact("workers", tuple(str(view.workers or "–") for view in views))


def _inputs(summary: RunSummary) -> str:
    return ", ".join(f"{name} {digest[:12]}" for name, digest in summary.overview.genesis.inputs)


def _times(summaries: Sequence[RunSummary]) -> Iterator[TimeBar]:
    times = [
        (s.work.wall_s or 0.0, s.work.busy_s or 0.0) if s.work else (0.0, 0.0) for s in summaries
    ]
    longest = max((max(pair) for pair in times), default=0.0) or 1.0
    for wall, task in times:
        yield TimeBar(duration(wall), duration(task), wall / longest, task / longest)
