"""What each address shows: a run's parts, filled into the templates of the report.

Reads runs through `looks`, so that many pages cost one look. Knows no request.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment

from weft.errors import WeftError
from weft.inspect.access import open_manifest, run_named
from weft.inspect.report.drawing import Figures, draw_timeline
from weft.inspect.report.events import EventList, read_events
from weft.inspect.report.hook import Page, pages_for
from weft.inspect.report.overview import Badge, Glance, glance, judge
from weft.inspect.report.payload import made_visible, track_table
from weft.inspect.report.places import Places
from weft.inspect.report.templating import new_environment
from weft.inspect.report.totals import Totals, read_totals
from weft.inspect.report.view import RunView
from weft.inspect.report.work import Work, measure, read_work
from weft.inspect.serve.compare import compare
from weft.inspect.serve.ledgerrows import Ledgers
from weft.inspect.serve.looks import Kept
from weft.inspect.serve.rundirectory import Shelved
from weft.storage.folder import RunFolder
from weft.storage.heads import HeadsList


@dataclass(frozen=True, slots=True)
class Seen:
    """A run in the list: what a look found, or why it found nothing."""

    run: Shelved
    glance: Glance | None
    badge: Badge

    @property
    def share(self) -> float:
        """How much of what is planned is over, in percent."""
        overview = self.glance.overview if self.glance else None
        return 100 * overview.finished / overview.planned if overview and overview.planned else 0.0


@dataclass(slots=True)
class Views:
    """Everything that is shown of runs."""

    heads: HeadsList
    ledgers: Ledgers = field(default_factory=Ledgers)
    _templates: Environment = field(default_factory=lambda: new_environment("weft.inspect.serve"))
    _glances: Kept[Glance] = field(default_factory=lambda: Kept(glance))
    _verdicts: Kept[Badge] = field(init=False)
    _pages: Kept[list[Page]] = field(default_factory=lambda: Kept(_search_pages))

    def __post_init__(self) -> None:
        self._verdicts = Kept(lambda run: judge(run, self.heads)[1])

    def see(self, run: Shelved) -> Seen:
        """Look at a run; raises WeftError when there is none to see."""
        found = self._glances.of(run.path)
        return Seen(run, found, self._verdicts.known(run.path) or found.badge)

    def page(self, name: str, **values: Any) -> str:
        """Fill a whole page."""
        return self._templates.get_template(name).render(**values)

    # -- the list ----------------------------------------------------------------------------

    def listing(self, runs: list[Shelved]) -> str:
        """Return the rows of the list of runs."""
        return self.page("parts/runs.html", seen=[self._seen(run) for run in runs])

    def _seen(self, run: Shelved) -> Seen:
        try:
            return self.see(run)
        except (WeftError, OSError) as error:
            return Seen(run, None, Badge("bad", "unreadable", str(error)))

    # -- one run -----------------------------------------------------------------------------

    def look(self, run: Shelved) -> dict[str, Any]:
        """Return what changes from look to look: the header and the overview."""
        seen = self.see(run)
        assert seen.glance is not None
        values = {
            "overview": seen.glance.overview,
            "badge": seen.badge,
            "work": seen.glance.work,
            "troubles": seen.glance.troubles,
            "shown": Figures(seen.glance.overview, seen.glance.work),
        }
        return {
            "top": self.page("parts/top.html", **values),
            "overview": self.page("parts/overview.html", **values),
            "state": seen.glance.overview.state,
            "checked": seen.badge is not seen.glance.badge,
            "title": f"{run.name} · {seen.badge.word} · Weft",
        }

    def verdict(self, run: Shelved) -> dict[str, Any]:
        """Verify a run that nobody works on; every look says it from then on."""
        if self._glances.of(run.path).overview.state == "running":
            return {"word": "running"}
        badge = self._verdicts.of(run.path)
        return {"word": badge.word, "reason": badge.reason}

    def part(self, run: Shelved, name: str) -> dict[str, Any]:
        """Return one view of a run: its HTML, and the data its script draws with."""
        work, totals, events = _read_part(run.path, name)
        seen = self.see(run)
        assert seen.glance is not None
        overview = seen.glance.overview
        html = self.page(
            f"parts/{name}.html",
            overview=overview,
            work=work,
            totals=totals,
            events=events,
            shown=Figures(overview, work, totals),
            drawn=draw_timeline(work),
        )
        return {"html": html, **(made_visible(track_table(work)) if name == "timeline" else {})}

    def page_titles(self, run: Shelved) -> list[str]:
        """Return the titles of the pages that the run's search adds."""
        return [page.title for page in self._pages.of(run.path)]

    def search_page(self, run: Shelved, number: int) -> str | None:
        """Return one page of the run's search as a document of its own."""
        pages = self._pages.of(run.path)
        if not 0 <= number < len(pages):
            return None
        page = pages[number]
        return self.page("frame.html", title=page.title, body=page.html)

    # -- two runs ----------------------------------------------------------------------------

    def comparison(self, a: Shelved, b: Shelved) -> str:
        """Return two runs beside each other."""
        one, two = self.see(a), self.see(b)
        assert one.glance is not None
        assert two.glance is not None
        found = compare((a.path, b.path), (one.glance, two.glance))
        return self.page("parts/compared.html", found=found, a=one, b=two)


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
