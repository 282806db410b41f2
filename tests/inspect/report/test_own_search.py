"""The report of a user's own search, offline: its values come first, and every control works."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import weft
from tests.inspect.runs import heads
from tests.support.axe import findings
from tests.support.pages import tuning
from weft.inspect.report.page import write_report

pytestmark = pytest.mark.xdist_group("report")
TRIALS = 60
FAILED = 3
"""The number of failed trials: those of depth 9 with sgd."""
TABBABLE = (
    "[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex=\"0\"]')]"
    ".filter(e => e.checkVisibility() && !e.disabled && e.tabIndex >= 0)"
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("own") / "tune"
    weft.run(tuning.tune(TRIALS), out=run, workers=1)
    return write_report(run, heads())


@pytest.fixture
def page(chromium: Browser, report: Path) -> Iterator[Page]:
    """The report in a browser without network access; anything it logs fails the test."""
    context = chromium.new_context(viewport={"width": 1280, "height": 1000}, offline=True)
    page, logged = context.new_page(), list[str]()
    page.on("console", lambda message: logged.append(message.text))
    page.on("pageerror", lambda error: logged.append(str(error)))
    page.on("request", lambda r: r.url.startswith(("file:", "blob:")) or logged.append(r.url))
    page.goto(report.as_uri())
    expect(page.locator("#values .plot").first).to_be_visible()
    yield page
    context.close()
    assert logged == []


def test_title_answer_and_tab_are_the_users_own(page: Page) -> None:
    expect(page.locator("h1")).to_have_text("Tune tune")
    expect(page.get_by_role("tab").first).to_have_text("Values")
    expect(page.locator("#values")).to_be_visible()
    sentence = page.locator(".answer .lines").inner_text()
    assert "best error 0.0" in sentence
    assert not any(mark in sentence for mark in '{}"')
    expect(page.locator("#best")).not_to_be_empty()


def test_values_have_a_chart_of_everything(page: Page) -> None:
    heads = page.locator("#values figcaption").all_inner_texts()
    assert heads[0].startswith("value by task")
    assert "best so far" in heads[0], "a key of the colours"
    assert {"value against depth", "value against lr", "value against optimizer"} <= {*heads}
    assert any(head.startswith("Parallel coordinates") for head in heads)
    assert {"Importances", "How long tasks took"} <= {*heads}
    names = page.locator(".importances .label").all_inner_texts()
    assert names[0] == "lr", "it decides the value by far"
    expect(page.locator("#values .said")).to_contain_text(f"{TRIALS} tasks; best value")
    drawn = (
        "() => [...document.querySelectorAll('#values canvas')].every(c => new Set(new Uint32Array("
        "c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size > 3)"
    )
    page.wait_for_function(drawn)  # every canvas is drawn, also those further down


def test_pointer_hovers_brushes_and_zooms(page: Page) -> None:
    plot = page.locator("#values .plot").first
    box = plot.bounding_box()
    assert box
    left, top = box["x"] + 58, box["y"] + 10
    page.mouse.move(left + 2, top + 100)
    page.mouse.down()
    page.mouse.move(left + (box["width"] - 72) / 2, top + 216, steps=3)
    page.mouse.up()
    summary = page.locator("#values .said")
    expect(summary).to_contain_text("tasks selected")
    expect(page.locator("#values .chips button")).to_have_count(2)
    page.get_by_role("button", name="zoom to selection").click()
    expect(page.get_by_role("button", name="show all")).to_be_enabled()
    page.get_by_role("button", name="show all").click()
    page.get_by_role("button", name="remove filter task").click()
    page.get_by_role("button", name="clear selection").click()
    expect(summary).to_contain_text(f"{TRIALS} tasks; best")


def test_keyboard_alone_steps_filters_and_opens(page: Page) -> None:
    plot = page.locator("#values .plot").nth(1)
    plot.focus()
    page.keyboard.press("ArrowRight")
    tip = plot.locator(".tip")
    expect(tip).to_contain_text("optimizer")
    first = tip.inner_text()
    page.keyboard.press("ArrowRight")
    assert tip.inner_text() != first
    page.keyboard.press("+")
    expect(page.get_by_role("button", name="show all")).to_be_enabled()
    page.keyboard.press("0")
    page.locator("#values summary").press("Enter")
    page.get_by_label("lr, most").fill("0.005")
    page.keyboard.press("Tab")
    expect(page.locator("#values .said")).to_contain_text("selected")
    page.get_by_label("optimizer", exact=True).select_option("adam")
    expect(page.locator("#values .chips button")).to_have_count(2)
    page.get_by_role("button", name="open the best task").press("Enter")
    expect(page.locator("#task-table tbody tr.row")).to_have_count(1)
    expect(page.locator(".life .command code")).to_contain_text("weft explain tune ")


def test_arguments_are_columns_that_sort(page: Page) -> None:
    page.click("#tab-tasks")
    heads = page.locator("#task-table thead th.arg").all_inner_texts()
    assert heads == ["depth", "lr", "optimizer"]
    page.click("#task-table th:has-text('lr') button")
    values = page.locator("#task-table tr.row td[data-name=lr]").all_inner_texts()
    numbers = [float(text) for text in values]
    assert numbers == sorted(numbers)
    worker = page.locator("#task-table td.worker").first
    assert worker.evaluate("cell => cell.scrollWidth <= cell.clientWidth"), "not cut"
    region = page.locator("#tasks .scroll")
    assert region.evaluate("box => box.scrollWidth <= box.clientWidth"), "all columns fit"


def test_chips_select_and_nothing_more_is_not_offered(page: Page) -> None:
    page.click("#tab-tasks")
    failed = page.locator("#state-chips button", has_text="failed")
    expect(failed).to_have_text(f"failed {FAILED}")
    failed.click()
    expect(page.locator("#task-table tbody tr.row")).to_have_count(FAILED)
    page.locator("#state-chips button", has_text="all").click()
    expect(page.locator("#task-table tbody tr.row")).to_have_count(TRIALS)
    expect(page.locator("#task-more")).to_be_hidden()
    page.click("#tab-ledger")
    expect(page.locator("#ledger-more")).to_be_hidden()


def test_bar_fills_from_the_left(page: Page) -> None:
    parts = page.locator(".strip rect").evaluate_all(
        "rects => rects.map(r => [r.getAttribute('class'), Number(r.getAttribute('x'))])"
    )
    assert parts[0] == ["completed", 0]
    assert [name for name, _ in sorted(parts, key=lambda part: part[1])] == ["completed", "failed"]


def test_tasks_can_be_taken_away_as_csv_and_json(page: Page) -> None:
    page.click("#tab-tasks")
    page.fill("#find", "rmsprop")
    with page.expect_download() as saved:
        page.click("#task-csv")
    rows = list(csv.DictReader(io.StringIO(Path(saved.value.path()).read_text("utf-8"))))
    assert len(rows) == TRIALS // 3
    assert all('"optimizer":"rmsprop"' in row["arguments"] for row in rows)
    with page.expect_download() as saved:
        page.click("#task-json")
    facts = json.loads(Path(saved.value.path()).read_text("utf-8"))
    assert [fact["key"] for fact in facts] == [row["key"] for row in rows]


def test_every_task_has_an_address(page: Page, report: Path) -> None:
    page.click("#tab-tasks")
    page.locator("#task-table .place button").nth(7).click()
    link = page.locator(".life .command a").get_attribute("href")
    page.goto("about:blank")
    page.goto(report.as_uri() + str(link))
    expect(page.locator("#task-table tbody tr.row")).to_have_count(1)
    expect(page.locator(".life")).to_be_visible()


@pytest.mark.parametrize("view", ["values", "tasks"])
def test_tab_key_reaches_everything(page: Page, view: str) -> None:
    page.click(f"#tab-{view}")
    page.evaluate("document.body.tabIndex = -1; document.body.focus()")
    page.evaluate("document.body.removeAttribute('tabindex')")
    count = page.evaluate(f"{TABBABLE}.slice(0, 60).length")
    page.evaluate(f"{TABBABLE}.slice(0, 60).forEach(e => e.dataset.waits = '1')")
    for _ in range(count + 5):
        page.keyboard.press("Tab")
        page.evaluate("delete document.activeElement.dataset.waits")
    waiting = page.locator("[data-waits]").evaluate_all("all => all.map(e => e.outerHTML)")
    assert waiting == []


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_values_have_no_serious_finding_and_fit(
    chromium: Browser, report: Path, width: int, dark: bool
) -> None:
    context = chromium.new_context(
        viewport={"width": width, "height": 900}, bypass_csp=True,
        color_scheme="dark" if dark else "light",
    )  # fmt: skip
    page = context.new_page()
    page.goto(report.as_uri())
    expect(page.locator("#values .plot").first).to_be_visible()
    page.click("#values summary")
    for view in ("values", "progress", "tasks"):
        page.click(f"#tab-{view}")
        assert findings(page) == [], view
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth"), view
    cut = page.locator("#tasks .scroll").evaluate("box => box.scrollWidth > box.clientWidth")
    assert not cut, "no column is cut"
    context.close()
