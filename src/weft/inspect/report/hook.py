"""How a search adds pages to the report of its runs.

    register("climb", pages)                  # in Python, before write_report
    [project.entry-points."weft.inspect.report"]      # in the search's pyproject.toml
    climb = "climb.report:pages"

A maker gets a `RunView` and returns `Page`s. It is chosen by the search's recorded name: a
prefix fits `prefix:function` and everything inside the package `prefix`. What a maker raises
becomes a page that says so; the rest of the report stands.

In the same way a search may add lines to `weft status`: `register("climb", pages, lines)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points

from markupsafe import Markup, escape

from weft.inspect.report.text import visible
from weft.inspect.report.view import MAX_PAGE_BYTES, RunView

GROUP = "weft.inspect.report"


@dataclass(frozen=True, slots=True)
class Page:
    """A tab of the report. `html` that is a plain string is escaped; build `Markup` to draw."""

    title: str
    html: str
    order: int = 100


Maker = Callable[[RunView], Sequence[Page]]
Teller = Callable[[RunView], Sequence[str]]
_MAKERS: dict[str, Maker] = {}
_TELLERS: dict[str, Teller] = {}


def register(prefix: str, maker: Maker, teller: Teller | None = None) -> None:
    """Let `maker` add pages, and `teller` lines of status, to searches named `prefix`…."""
    _MAKERS[prefix] = maker
    if teller is not None:
        _TELLERS[prefix] = teller


def unregister(prefix: str) -> None:
    """Forget a maker."""
    _MAKERS.pop(prefix, None)
    _TELLERS.pop(prefix, None)


def lines_for(run: RunView) -> list[str]:
    """Return what a run's search adds to its status; never raises for a teller's sake."""
    tellers = [teller for prefix, teller in sorted(_TELLERS.items()) if fits(prefix, run.search)]
    try:
        return [visible(line) for teller in tellers for line in teller(run)]
    except Exception as error:  # a search's code: whatever it raises, the status must stand
        return [visible(f"no summary: {type(error).__name__}: {error}"[:500])]


def fits(prefix: str, search: str) -> bool:
    """Whether a prefix names the search: itself, its module, or a package around it."""
    return search == prefix or search.startswith((f"{prefix}:", f"{prefix}."))


def pages_for(run: RunView) -> list[Page]:
    """Make every page of a run's search, by order and title; never raises for a maker's sake."""
    made = [page for name, load in _loaders(run.search) for page in _made(name, load, run)]
    return sorted(_within(made, run.page_bytes), key=lambda page: (page.order, page.title))


def _loaders(search: str) -> Iterator[tuple[str, Callable[[], Maker]]]:
    for prefix in sorted(_MAKERS):
        if fits(prefix, search):
            yield prefix, lambda maker=_MAKERS[prefix]: maker  # type: ignore[misc]
    for entry in sorted(entry_points(group=GROUP), key=lambda e: (e.name, e.value)):
        if fits(entry.name, search) and entry.name not in _MAKERS:
            yield entry.name, entry.load


def _made(name: str, load: Callable[[], Maker], run: RunView) -> list[Page]:
    try:
        return [Page(visible(p.title), escape(p.html), p.order) for p in load()(run)]
    except Exception as error:  # a search's code: whatever it raises, the report must stand
        said = f"{type(error).__name__}: {error}"[:500]
        return [_notice(name, f"This page could not be made. {said}")]


def _within(pages: Iterable[Page], left: int = MAX_PAGE_BYTES) -> Iterator[Page]:
    for page in pages:
        size = len(page.html.encode("utf-8", "replace"))
        left -= size
        if left >= 0:
            yield page
        else:
            yield _notice(page.title, f"This page is left out: {size:,} bytes are too much.")
            left += size


def _notice(title: str, text: str) -> Page:
    return Page(visible(title), Markup('<p class="notice">{}</p>').format(visible(text)))
