"""Pages that a search adds: found by its name, escaped, bounded, and never an obstacle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from markupsafe import Markup

from tests.inspect.report.conftest import Kinds, page_of
from weft.inspect.report import hook
from weft.inspect.report.hook import Page, fits, lines_for, pages_for, register, unregister
from weft.inspect.report.svg import drawing, element, table
from weft.inspect.report.view import MAX_PAGE_BYTES, RunView
from weft.product import GROUP, Product, installed

pytestmark = pytest.mark.xdist_group("report")


def planted(run: RunView) -> list[Page]:
    """A page with a dot for each task of the run, and a plain page."""
    tasks = list(run.tasks())
    dots = [element("circle", cx=10 * t.index, cy=t.args["ms"], r=2.5) for t in tasks if t.value]
    answer, seed = run.answer(), run.genesis()["seed"]
    text = f"total {answer['value']['total']} seed {seed} notes {tasks[0].notes['slept_ms']}"
    records = sum(1 for _ in run.records())
    rows = table(["records"], [[str(records)]])
    picture = drawing(100, 20, *dots, label="<naps>")
    return [Page("Naps <3", picture + rows + text, order=2), Page("Plain", "<b>text</b>", order=1)]


NAPS = Product(
    "naps", "Sleeps.", searches={"weave:naps": "weave:naps"}, pages=f"{__name__}:planted"
)  # fmt: skip


@pytest.fixture
def registered() -> Iterator[None]:
    register("weave", planted)
    yield
    unregister("weave")


@pytest.mark.usefixtures("registered")
def test_planted_page_is_in_the_report_of_its_search(kinds: Kinds) -> None:
    page = page_of(kinds.runs["finished"])
    assert 'aria-controls="page-1" aria-selected="true">Plain</button>' in page
    assert 'aria-controls="page-2" aria-selected="false" tabindex="-1">Naps &lt;3</button>' in page
    assert "&lt;b&gt;text&lt;/b&gt;" in page
    assert 'aria-label="&lt;naps&gt;"' in page
    assert page.count("<circle") == 44
    assert "total 264 seed 0 notes 4" in page
    assert '<td class="n">54</td>' in page


def test_lines_of_the_search_come_before_its_answer(kinds: Kinds) -> None:
    register("weave", lambda run: [], lambda run: ["slept <well>", "x" * 1000, *map(str, range(9))])
    try:
        page = page_of(kinds.runs["finished"])
    finally:
        unregister("weave")
    assert "<li>slept &lt;well&gt;</li>" in page
    assert page.count("x" * 300) == 1
    assert "x" * 401 not in page, "a line has its length"
    assert "<li>5</li>" in page
    assert "<li>6</li>" not in page, "and they have their number"
    assert page.index("slept &lt;") < page.index("the recorded answer")
    assert "the recorded answer" not in page_of(kinds.runs["all-failed"])


def test_report_without_pages_has_no_further_tabs(kinds: Kinds) -> None:
    assert "page-1" not in page_of(kinds.runs["finished"])


@pytest.fixture
def naps_product(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two packages as pip would install them: a product with pages, and a broken one."""
    for name, place in (("naps", f"{__name__}:NAPS"), ("other", "no:such")):
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{GROUP}]\n{name} = {place}\n")
    monkeypatch.syspath_prepend(tmp_path)
    installed.cache_clear()
    yield
    installed.cache_clear()


@pytest.mark.usefixtures("naps_product")
def test_pages_of_an_installed_product_are_found_by_the_name_of_its_search(kinds: Kinds) -> None:
    pages = pages_for(RunView(kinds.runs["finished"], "weave:naps"))
    assert [page.title for page in pages] == ["Plain", "Naps <3"]
    assert pages_for(RunView(kinds.runs["finished"], "weave:other")) == []


def test_maker_that_raises_becomes_a_page_that_says_so(kinds: Kinds) -> None:
    def broken(run: RunView) -> list[Page]:
        raise KeyError("<script>")

    register("weave", broken)
    try:
        page = page_of(kinds.runs["all-failed"])
    finally:
        unregister("weave")
    assert "This page could not be built. KeyError: &#39;&lt;script&gt;&#39;" in page


def test_page_that_is_too_large_is_left_out() -> None:
    large = Page("Large", Markup("x" * (MAX_PAGE_BYTES + 1)))
    small = Page("Small", Markup("ok"))
    first, second = hook._within([large, small])
    assert "exceed the limit" in first.html
    assert second == small


@pytest.mark.parametrize(
    ("prefix", "search", "fitting"),
    [
        ("climb", "climb:climb", True),
        ("climb", "climb.deep:up", True),
        ("climb:climb", "climb:climb", True),
        ("climb", "climbing:up", False),
        ("climb:up", "climb:upper", False),
        ("", "climb:climb", False),
    ],
)
def test_prefix_fits_whole_names_only(prefix: str, search: str, fitting: bool) -> None:
    assert fits(prefix, search) is fitting


def test_elements_escape_and_refuse_code() -> None:
    text = element("text", "a < b\u202e", x=1.25, class_="axis", stroke_width=2, data=None)
    assert text == '<text x="1.25" class="axis" stroke-width="2">a &lt; b\\u202e</text>'
    assert element("g", text) == f"<g>{text}</g>"
    assert element("p", title='"><script>') == '<p title="&#34;&gt;&lt;script&gt;"></p>'
    for name in ("script", "foreignObject", "iframe", "style", "g onload=x"):
        with pytest.raises(ValueError, match="not allowed in a report"):
            element(name)
    for attributes in ({"onclick": "x"}, {"a b": 1}, {"on_load": "x"}):
        with pytest.raises(ValueError, match="not allowed in a report"):
            element("g", **attributes)
    with pytest.raises(ValueError, match="inside the page"):
        element("a", href="javascript:alert(1)")
    assert element("a", "up", href="#top") == '<a href="#top">up</a>'


def test_lines_of_a_search_are_shown_and_its_errors_are_contained(kinds: Kinds) -> None:
    def counted_naps(run: RunView) -> list[str]:
        return [f"{sum(1 for _ in run.tasks())} naps\u202e"]

    def broken(run: RunView) -> list[str]:
        raise KeyError("gone")

    run = RunView(kinds.runs["finished"], "weave:naps")
    for lines, expected in (
        (counted_naps, ["48 naps\\u202e"]),
        (broken, ["no summary: KeyError: 'gone'"]),
    ):
        register("weave", planted, lines)
        try:
            assert lines_for(run) == expected
        finally:
            unregister("weave")
    assert lines_for(run) == []
