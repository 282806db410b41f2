"""The list of runs and the comparison, and the live page of a user's own search."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect
from pyarrow import parquet

from tests.inspect.runs import heads
from tests.inspect.serve.conftest import Onlooker, Server, has_overflow
from weft.inspect.listing import list_runs
from weft.inspect.report.page import render_report

pytestmark = pytest.mark.xdist_group("report")
SENTENCE = "[...document.querySelectorAll('.answer .lines li')].map(li => li.textContent)"
ROWS = (
    "[...document.querySelectorAll('#runs tr')].map(r => ({name: r.dataset.name, state:"
    " r.dataset.kind, tasks: Number(r.dataset.tasks), started_at: Number(r.dataset.started),"
    " duration_s: Number(r.dataset.duration), tags: r.dataset.tags}))"
)


READERS = {
    "csv": lambda path: [row["key"] for row in csv.DictReader(io.StringIO(path.read_text()))],
    "json": lambda path: [row["key"] for row in json.loads(path.read_text())],
    "parquet": lambda path: parquet.read_table(path).column("key").to_pylist(),
}


def test_list_is_that_of_weft_list_and_sorts_filters_and_finds(
    server: Server, onlooker: Onlooker
) -> None:
    page = onlooker.open(server)
    expect(page.locator("#runs tr")).to_have_count(6)
    listed = [
        {"name": run.name, "state": run.state, "tasks": run.tasks,
         "started_at": run.started_at, "duration_s": run.duration_s, "tags": ", ".join(run.tags)}
        for run in list_runs(server.root)
    ]  # fmt: skip
    assert page.evaluate(ROWS) == listed, "in the same order, too"
    page.click("#run-table [data-sort=tasks] button")
    tasks = [row["tasks"] for row in page.evaluate(ROWS)]
    assert tasks == sorted(tasks, reverse=True)
    page.fill("#find", "nightly")
    expect(page.locator("#runs tr:visible")).to_have_count(1)
    expect(page.locator("#said")).to_have_text("6 runs, 1 shown")
    page.fill("#find", "")
    page.locator("#run-chips button", has_text="incomplete").click()
    expect(page.locator("#runs tr:visible")).to_have_count(1)
    page.locator("#run-chips button", has_text="all").click()
    expect(page.locator("#runs tr:visible")).to_have_count(6)
    expect(page.locator("#runs tr[data-name=tune]")).to_contain_text("best error 0.0")
    expect(page.locator("#runs tr[data-name=hopeless] .badge")).to_contain_text("incomplete")


def test_three_runs_are_compared_with_decisions_values_and_times(
    server: Server, onlooker: Onlooker
) -> None:
    page = onlooker.open(server, width=390)
    for name in ("naps", "more/naps5", "tune"):
        page.locator(f"#runs tr[data-name='{name}'] .choose").press("Space")
    page.get_by_role("link", name="compare 3 runs").press("Enter")
    expect(page.locator(".facts thead th")).to_have_count(4)
    expect(page.get_by_role("region", name="Decisions side by side")).to_contain_text("genesis of")
    expect(page.locator(".times li")).to_have_count(3)
    expect(page.locator("#overlay .plot")).to_be_visible()
    expect(page.locator("#overlay-key li")).to_have_count(3)
    page.locator("#overlay .plot").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#overlay .tip")).to_contain_text("task 0: naps")
    assert not has_overflow(page)
    assert page.locator(".sides").evaluate_all(
        "all => all.every(box => box.scrollWidth <= box.clientWidth)"
    ), "on a phone runs stand one below the other; no column is cut"
    copied = page.locator(".verdict .copy").first.get_attribute("data-copy")
    assert copied == "weft diff naps more/naps5"


def test_live_page_and_report_say_the_same(server: Server, onlooker: Onlooker) -> None:
    page = onlooker.open(server, f"/run/{server.id_of('tune')}")
    expect(page.locator("#values .plot").first).to_be_visible()
    report = render_report(server.root / "tune", heads())
    for line in page.evaluate(SENTENCE):
        assert f"<li>{line}</li>" in report
    tabs = page.get_by_role("tab").all_inner_texts()
    assert tabs == ["Values", "Tasks", "Progress", "Timeline", "Events", "Ledger"]
    expect(page.locator("h1")).to_have_text("Tune tune")
    page.get_by_role("button", name="open the best task").click()
    expect(page.locator(".life")).to_be_visible()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    command = page.locator(".life .command").first
    words = command.locator("code").inner_text()
    assert command.locator(".copy").get_attribute("data-copy") == words
    command.locator(".copy").click()
    expect(command.locator(".copy")).to_have_text("copied")
    expect(page.locator("#task-table thead th.arg")).to_have_count(3)
    page.fill("#find", "")
    page.click("#task-table th:has-text('lr') button")
    expect(page.locator("[data-sort=arg1]")).to_have_attribute("aria-sort", "ascending")
    expect(page.locator("#task-table tr.row")).to_have_count(60)
    numbers = [float(text) for text in page.locator("td[data-name=lr]").all_inner_texts()]
    assert numbers == sorted(numbers)


def test_results_are_downloaded_as_csv_json_and_parquet(server: Server, onlooker: Onlooker) -> None:
    page = onlooker.open(server, f"/run/{server.id_of('tune')}#tasks")
    tables = {}
    for kind, read in READERS.items():
        with page.expect_download() as saved:
            page.locator("#downloads a", has_text=re.compile(kind, re.IGNORECASE)).click()
        assert saved.value.suggested_filename == f"tune.{kind}"
        tables[kind] = read(Path(saved.value.path()))
    assert len(tables["parquet"]) == 60
    assert tables["parquet"] == tables["json"] == tables["csv"], "the same tasks"


def test_results_have_their_form_and_name(server: Server) -> None:
    base = f"/run/{server.id_of('tune')}/results"
    answer = server.get(f"{base}.csv")
    rows = list(csv.DictReader(io.StringIO(answer.body)))
    assert answer.headers["content-disposition"] == 'attachment; filename="tune.csv"'
    facts = json.loads(server.get(f"{base}.json").body)
    assert [row["key"] for row in rows] == [fact["key"] for fact in facts]
    assert len(facts) == 60
    assert {"arg.lr", "arg.optimizer", "value", "error"} <= facts[0].keys()
    assert server.get("/run/0000000000000000/results.csv").status == 404
