"""What each URL shows: a run's parts, rendered with the templates of the report.

Reads runs through `RunCache`, so that many pages need one read. Knows nothing of requests.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jinja2 import Environment

from weft.errors import WeftError
from weft.inspect.access import open_manifest, run_named
from weft.inspect.listing import RunEntry, read_entry
from weft.inspect.report.columnpack import pack_table
from weft.inspect.report.data import shows_values
from weft.inspect.report.drawing import Figures, draw_timeline
from weft.inspect.report.events import EventList, read_events
from weft.inspect.report.hook import Page, pages_for
from weft.inspect.report.overview import Badge, RunSummary, genesis_body, judge, summarise
from weft.inspect.report.payload import track_table
from weft.inspect.report.places import Places
from weft.inspect.report.templating import SCRIPTS, new_environment
from weft.inspect.report.text import clip
from weft.inspect.report.totals import Totals, read_totals
from weft.inspect.report.valuetable import read_values
from weft.inspect.report.view import RunView
from weft.inspect.report.work import Work, measure, read_work
from weft.inspect.serve.compare import compare
from weft.inspect.serve.downloads import kinds_here
from weft.inspect.serve.ledgerrows import Ledgers
from weft.inspect.serve.runcache import RunCache
from weft.inspect.serve.rundirectory import ServedRun
from weft.model.values import JsonValue
from weft.storage.folder import RunFolder
from weft.storage.heads import HeadsList

SHARED = tuple(name for name in SCRIPTS if name != "report.js")
"""The report's scripts that the live page uses too."""
ANSWER_BYTES = 200
QUICK_BYTES = 8_000_000
"""Up to this size a manifest is read before its page is sent: 30,000 tasks, a tenth of a second."""
VALUES_BYTES = 4_000_000
"""Maximum size of the columns of values; large, as they are sent within this machine."""
MAX_VALUES = 6
"""Number of runs whose columns are cached: as many as can be compared."""


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run in the list: its summary, or why it cannot be read."""

    run: ServedRun
    entry: RunEntry
    """The run as `weft list` shows it."""
    summary: RunSummary | None
    badge: Badge

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of the run."""
        return self.entry.tags

    @property
    def answer(self) -> str:
        """The first line of the answer, or why there is none."""
        lines = self.summary.overview.lines if self.summary else ()
        return clip(lines[0], ANSWER_BYTES) if lines else ""

    @property
    def share(self) -> float:
        """Finished tasks in percent of planned ones."""
        overview = self.summary.overview if self.summary else None
        return 100 * overview.finished / overview.planned if overview and overview.planned else 0.0


@dataclass(slots=True)
class Views:
    """Renders everything that the pages show of runs."""

    heads: HeadsList
    ledgers: Ledgers = field(default_factory=Ledgers)
    _templates: Environment = field(default_factory=lambda: new_environment("weft.inspect.serve"))
    _entries: RunCache[RunEntry] = field(
        default_factory=lambda: RunCache(lambda run: read_entry(run.name, run))
    )
    _summaries: RunCache[RunSummary] = field(default_factory=lambda: RunCache(summarise))
    _verdicts: RunCache[Badge] = field(init=False)
    _pages: RunCache[list[Page]] = field(default_factory=lambda: RunCache(_search_pages))
    _values: RunCache[dict[str, JsonValue] | None] = field(
        default_factory=lambda: RunCache(_read_values, MAX_VALUES)
    )

    def __post_init__(self) -> None:
        self._verdicts = RunCache(lambda run: judge(run, self.heads)[1])

    def read(self, run: ServedRun) -> ListedRun:
        """Read a run; raises WeftError when it cannot be read."""
        summary = self._summaries.get(run.path)
        entry = replace(self._entries.get(run.path), name=run.name)
        return ListedRun(run, entry, summary, self._verdicts.peek(run.path) or summary.badge)

    def page(self, name: str, **values: Any) -> str:
        """Render a template."""
        return self._templates.get_template(name).render(**values)

    # -- the list ----------------------------------------------------------------------------

    def listing(self, runs: list[ServedRun]) -> str:
        """Return the rows of the list of runs, the latest first."""
        listed = [self._listed(run) for run in runs]
        listed.sort(key=lambda view: (-(view.entry.started_at or 0.0), view.run.name))
        return self.page("parts/runs.html", listed=listed)

    def _listed(self, run: ServedRun) -> ListedRun:
        try:
            return self.read(run)
        except (WeftError, OSError) as error:
            entry = RunEntry(run.name, str(run.path), answer=str(error))
            return ListedRun(run, entry, None, Badge("bad", "unreadable", str(error)))

    # -- one run -----------------------------------------------------------------------------

    def update(self, run: ServedRun) -> dict[str, JsonValue]:
        """Return the parts that change with each update: the header and the overview."""
        listed = self.read(run)
        summary = listed.summary
        assert summary is not None
        values = {
            "overview": summary.overview,
            "badge": listed.badge,
            "work": summary.work,
            "troubles": summary.troubles,
            "shown": Figures(summary.overview, summary.work),
        }
        return {
            "top": self.page("parts/top.html", **values),
            "overview": self.page("parts/overview.html", **values),
            "state": summary.overview.state,
            "checked": listed.badge is not summary.badge,
            "title": f"{summary.overview.title} {run.name} · {listed.badge.word} · Weft",
        }

    def run_page(self, run: ServedRun) -> str:
        """Return the page of a run, laid out like the report, with empty views."""
        update: dict[str, JsonValue] = {}
        try:
            own = shows_values(RunFolder(run.path).read_run_file())
            if self._is_quick(run):
                update = self.update(run)
        except (WeftError, OSError) as error:
            update, own = {"trouble": str(error)[:500]}, False
        return self.page(
            "run.html", run=run, update=update, live=True, pages=(), has_values=own, tasks=(),
            records=(), run_name=shlex.quote(run.name), run_id=run.id, exports=kinds_here(),
            scripts=(*SHARED[1:], "run.js"),
        )  # fmt: skip

    def _is_quick(self, run: ServedRun) -> bool:
        """Whether the run can be read before its page is sent; a large run is read afterwards."""
        manifest = RunFolder(run.path).manifest
        is_small = not manifest.is_file() or manifest.stat().st_size <= QUICK_BYTES
        return is_small or self._summaries.peek(run.path) is not None

    def values(self, run: ServedRun) -> dict[str, JsonValue] | None:
        """Return the columns of what tasks returned; None if none returned a number."""
        return self._values.get(run.path)

    def verdict(self, run: ServedRun) -> dict[str, JsonValue]:
        """Verify a run unless a coordinator is working on it; later updates have its badge."""
        if self._summaries.get(run.path).overview.state == "running":
            return {"word": "running"}
        badge = self._verdicts.get(run.path)
        return {"word": badge.word, "reason": badge.reason}

    def part(self, run: ServedRun, name: str) -> dict[str, JsonValue]:
        """Return one view of a run: its HTML, and the data that its script draws."""
        work, totals, events = _read_part(run.path, name)
        overview = self._summaries.get(run.path).overview
        html = self.page(
            f"parts/{name}.html",
            overview=overview,
            work=work,
            totals=totals,
            events=events,
            shown=Figures(overview, work, totals),
            drawn=draw_timeline(work),
        )
        return {"html": html, **(track_table(work) if name == "timeline" else {})}

    def page_titles(self, run: ServedRun) -> list[str]:
        """Return the titles of the pages that the run's search adds."""
        return [page.title for page in self._pages.get(run.path)]

    def search_page(self, run: ServedRun, number: int) -> str | None:
        """Return one page of the run's search as a separate document; None if there is none."""
        pages = self._pages.get(run.path)
        if not 0 <= number < len(pages):
            return None
        page = pages[number]
        return self.page("frame.html", title=page.title, body=page.html)

    # -- comparisons -------------------------------------------------------------------------

    def comparison(self, runs: Sequence[ServedRun]) -> str:
        """Return a comparison of runs side by side."""
        summaries = [self._summaries.get(run.path) for run in runs]
        comparison = compare([run.path for run in runs], summaries)
        return self.page("parts/compared.html", comparison=comparison, runs=runs)


def _read_values(run: Path) -> dict[str, JsonValue] | None:
    folder = RunFolder(run)
    if not folder.manifest.is_file() or not shows_values(folder.read_run_file()):
        return None
    with run_named(run), open_manifest(folder) as manifest:
        table = read_values(manifest, genesis_body(folder))
    return None if table is None else pack_table(table, VALUES_BYTES)


def _search_pages(run: Path) -> list[Page]:
    return pages_for(RunView(run, RunFolder(run).read_run_file().search))


def _read_part(run: Path, name: str) -> tuple[Work | None, Totals | None, EventList]:
    folder = RunFolder(run)
    if not folder.manifest.is_file():
        return None, None, EventList()
    with run_named(run), open_manifest(folder) as manifest:
        work = read_work(manifest) if name == "timeline" else measure(manifest)
        totals = read_totals(manifest) if name == "totals" else None
        if name != "events":
            return work, totals, EventList()
        count = manifest.query("SELECT count(*) FROM tasks")[0][0]
        return work, None, read_events(run, manifest, Places.read(manifest), count)
