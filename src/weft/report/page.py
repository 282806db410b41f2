"""The report as one HTML file: no network, one script that its policy names by hash.

gather ─► template + payload + pages of the search ─► text ─► RUN/report.html
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from weft.errors import FileInvalid
from weft.report import text
from weft.report.data import Report, gather
from weft.report.hook import Page, pages_for
from weft.report.payload import build_payload, labels
from weft.report.tasks import TaskFacts
from weft.report.timeline import Timeline, Track
from weft.report.totals import Bar
from weft.report.view import MAX_PAGE_BYTES, RunView
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.heads import HeadsList

FILE_NAME = "report.html"
MAX_BYTES = 1_990_000
"""What pages of a search may fill a report up to, with room for the words around them."""
STATIC_TASKS = 60
"""Rows that can be read without the script."""
STATIC_RECORDS = 30
TICKS = 5


def write_report(run: Path, heads: HeadsList, out: Path | None = None) -> Path:
    """Write the report, whole or not at all, to `out` or RUN/report.html; return where.

    Raises FileInvalid or RunFolderInvalid when `run` is no run or `out` no place for a report.
    Damage does not raise: it is shown.
    """
    target = out or run / FILE_NAME
    _check_target(target, run)
    html = render_report(run, heads).encode("utf-8", "backslashreplace")
    Disk().replace(target, html)
    return target


def _check_target(target: Path, run: Path) -> None:
    """Refuse to write over a file of the run."""
    if target.is_dir():
        raise FileInvalid(f"{target} is a folder", hint="give --out a file's name")
    inside = target.resolve().is_relative_to(run.resolve())
    if inside and target.suffix != ".html":
        raise FileInvalid(
            f"{target} is inside the run, where only .html files may be written",
            hint="choose another --out",
        )


def render_report(run: Path, heads: HeadsList) -> str:
    """Return the page of a run, with the pages of its search."""
    report = gather(run, heads)
    search = RunFolder(run).read_run_file().search
    alone = render(report, ())
    room = MAX_BYTES - len(alone.encode("utf-8", "backslashreplace"))
    pages = pages_for(RunView(run, search, max(0, min(MAX_PAGE_BYTES, room))))
    return render(report, pages) if pages else alone


def render(report: Report, pages: Sequence[Page]) -> str:
    """Fill the template; every text is made visible, then escaped."""
    environment = _environment()
    script, style = (_file(environment, name) for name in ("report.js", "report.css"))
    timeline = report.told.work.timeline if report.told.work else None
    return environment.get_template("report.html").render(
        report=report,
        overview=report.overview,
        badge=report.badge,
        told=report.told,
        shown=_Shown(report),
        drawn=_drawn(timeline) if timeline else None,
        pages=pages,
        tasks=report.told.tasks.rows[:STATIC_TASKS],
        records=report.ledger.records[:STATIC_RECORDS],
        script=Markup(script),  # noqa: S704 - our own file
        style=Markup(style),  # noqa: S704 - our own file
        policy=_policy(script),
        payload=Markup(build_payload(report)),  # noqa: S704 - `<`, `>` and `&` are escaped
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("weft.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters.update(
        duration=text.duration,
        number=text.number,
        percent=text.percent,
        moment=text.moment,
        block=_block,
        place=_place,
    )
    environment.globals.update(some=text.some, counted=text.counted)
    return environment


def _finalize(value: object) -> object:
    is_plain = isinstance(value, str) and not isinstance(value, Markup)
    return text.visible(str(value)) if is_plain else value


def _block(value: str) -> Markup:
    """Keep the line breaks of a text."""
    return Markup("{}").format(text.visible(value, lines=True))


def _place(task: TaskFacts) -> str:
    return f"{task.lane or '/'} : {task.round} : {task.index}"


def _file(environment: Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def _policy(script: str) -> str:
    """Return a content security policy that lets this script run and nothing be fetched."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}';"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )


# -- what the template shows -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Shown:
    """Figures made of others."""

    report: Report

    @property
    def total(self) -> int:
        return sum(count for _, count in self.report.overview.counts)

    @property
    def busy_share(self) -> float | None:
        work, workers = self.report.told.work, self.report.overview.workers
        if work is None or not work.wall_s or not workers:
            return None
        return min(1.0, work.busy_s / (work.wall_s * workers))

    @property
    def most_tasks(self) -> int:
        bars: tuple[Bar, ...] = self.report.told.totals.durations if self.report.told.totals else ()
        return max((bar.tasks for bar in bars), default=1)


@dataclass(frozen=True, slots=True)
class _Row:
    """One worker of the timeline: paths in a box 1000 wide and 10 high."""

    label: str
    tasks: int
    busy_s: float
    share: float
    worked: str
    failed: str
    running: str
    marks: str


@dataclass(frozen=True, slots=True)
class _Drawn:
    rows: tuple[_Row, ...]
    ticks: tuple[float, ...]
    """Seconds since the start, evenly spread."""


def _drawn(timeline: Timeline) -> _Drawn:
    length = timeline.end - timeline.start
    names = labels(timeline.tracks)
    rows = [_row(t, name, timeline) for t, name in zip(timeline.tracks, names, strict=True)]
    return _Drawn(tuple(rows), tuple(length * i / (TICKS - 1) for i in range(TICKS)))


def _row(track: Track, label: str, timeline: Timeline) -> _Row:
    length = timeline.end - timeline.start or 1.0
    paths = {"worked": "", "failed": "", "running": ""}
    for span in track.spans:
        kind = "running" if span.running else "failed" if span.failed == span.tasks else "worked"
        x = 1000 * (span.start - timeline.start) / length
        width = max(0.4, 1000 * (span.end - span.start) / length)
        paths[kind] += f"M{x:.5g} 0h{width:.3g}v10h-{width:.3g}z"
    marks = [1000 * (at - timeline.start) / length for at in track.marks]
    lines = "".join(f"M{x:.5g} 0v10" for x in marks)
    return _Row(label, track.tasks, track.busy_s, track.busy_s / length, **paths, marks=lines)
