"""How a search adds pages to the report of its runs, and lines to their status.

    Product("climb", …, pages="climb.report:pages", lines="climb.report:lines")
    register("climb", pages)                  # in Python, for a search without a product

A product is chosen by the search's declared name; a registered prefix matches `prefix:function` and
everything in the package `prefix`. Both get a `RunView`. If they raise, a page with the error
replaces theirs; the rest of the report is unaffected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from markupsafe import Markup, escape

from weft.inspect.report.text import visible
from weft.inspect.report.view import MAX_PAGE_BYTES, RunView
from weft.product import product_of


@dataclass(frozen=True, slots=True)
class Page:
    """A tab of the report. If `html` is a plain string, it is escaped; pass `Markup` to draw."""

    title: str
    html: str
    order: int = 100


PageBuilder = Callable[[RunView], Sequence[Page]]
LineBuilder = Callable[[RunView], Sequence[str]]
_PAGE_BUILDERS: dict[str, PageBuilder] = {}
_LINE_BUILDERS: dict[str, LineBuilder] = {}


def register(prefix: str, pages: PageBuilder, lines: LineBuilder | None = None) -> None:
    """Let `pages` add pages, and `lines` add status lines, for searches that `prefix` matches."""
    _PAGE_BUILDERS[prefix] = pages
    if lines is not None:
        _LINE_BUILDERS[prefix] = lines


def unregister(prefix: str) -> None:
    """Remove the builders registered for a prefix."""
    _PAGE_BUILDERS.pop(prefix, None)
    _LINE_BUILDERS.pop(prefix, None)


def lines_for(run: RunView) -> list[str]:
    """Return the lines that a run's search adds to its status; if it raises, one with the error."""
    try:
        builders = [
            build for name, build in sorted(_LINE_BUILDERS.items()) if fits(name, run.search)
        ]
        product = product_of(run.search)
        if product is not None and product.lines:
            builders.append(product.part(product.lines))
        return [visible(line) for build in builders for line in build(run)]
    except Exception as error:  # a search's code may raise anything; the status is still printed
        return [visible(f"no summary: {type(error).__name__}: {error}"[:500])]


def fits(prefix: str, search: str) -> bool:
    """Whether a prefix names the search: itself, its module, or a package that contains it."""
    return search == prefix or search.startswith((f"{prefix}:", f"{prefix}."))


def pages_for(run: RunView) -> list[Page]:
    """Build the pages of a run's search, by order and title; if it raises, one with the error."""
    pages = [page for name, load in _loaders(run.search) for page in _build(name, load, run)]
    return sorted(_within(pages, run.page_bytes), key=lambda page: (page.order, page.title))


def _loaders(search: str) -> Iterator[tuple[str, Callable[[], PageBuilder]]]:
    for prefix in sorted(_PAGE_BUILDERS):
        if fits(prefix, search):
            yield prefix, partial(_PAGE_BUILDERS.__getitem__, prefix)
    product = product_of(search)
    if product is not None and product.pages:
        yield product.name, partial(product.part, product.pages)


def _build(name: str, load: Callable[[], PageBuilder], run: RunView) -> list[Page]:
    try:
        return [Page(visible(p.title), escape(p.html), p.order) for p in load()(run)]
    except Exception as error:  # a search's code may raise anything; the report is still written
        reason = f"{type(error).__name__}: {error}"[:500]
        return [_notice(name, f"This page could not be built. {reason}")]


def _within(pages: Iterable[Page], left: int = MAX_PAGE_BYTES) -> Iterator[Page]:
    for page in pages:
        size = len(page.html.encode("utf-8", "replace"))
        left -= size
        if left >= 0:
            yield page
        else:
            yield _notice(page.title, f"This page is left out: {size:,} bytes exceed the limit.")
            left += size


def _notice(title: str, text: str) -> Page:
    return Page(visible(title), Markup('<p class="notice">{}</p>').format(visible(text)))
