"""How a search adds pages to the report of its runs, and lines to their status.

    Product("climb", …, pages="climb.report:pages", lines="climb.report:lines")
    register("climb", pages)                  # in Python, for a search without a product

A product is chosen by the search's declared name; a registered prefix fits `prefix:function` and
everything inside the package `prefix`. Both get a `RunView`. What they raise becomes a page that
states so; the rest of the report stands.
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
    """Return what a run's search adds to its status; never raises for its sake."""
    try:
        tellers = [teller for name, teller in sorted(_TELLERS.items()) if fits(name, run.search)]
        product = product_of(run.search)
        if product is not None and product.lines:
            tellers.append(product.part(product.lines))
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
            yield prefix, partial(_MAKERS.__getitem__, prefix)
    product = product_of(search)
    if product is not None and product.pages:
        yield product.name, partial(product.part, product.pages)


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
