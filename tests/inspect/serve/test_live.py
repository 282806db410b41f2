"""The live page in a real browser: it shows a run in progress, follows it, and outlives its end."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.inspect.runs import copy_of
from tests.inspect.serve.conftest import Onlooker, Server, has_overflow
from tests.support.forked import BegunCommand, ForkServer
from weft.errors import WeftError
from weft.inspect.serve.guard import FRAME_POLICY
from weft.inspect.status import status

pytestmark = pytest.mark.xdist_group("report")
Begin = Callable[..., BegunCommand]
VIEWS = ("tasks", "progress", "timeline", "events", "ledger")
LATE_S = 1.0
PAINT_MS = 1000
IS_WHOLE = """frame => !frame.isConnected ? null :
    frame.clientHeight >= frame.contentDocument.documentElement.scrollHeight"""
"""Whether a frame shows its whole page; null for a frame that has been replaced."""
SHOWN = (
    "Number((document.querySelector('.figures dd') || {}).firstChild?.data?.replaceAll(',', ''))"
)
SLOW = """\
import time
import weft

@weft.task
def wait(x: int) -> int:
    time.sleep(0.03)
    return x

@weft.search(version=1)
def slow(rounds: int):
    yield weft.Plan(total=rounds * 8, best="max")
    for number in range(rounds):
        yield [wait(number * 8 + i) for i in range(8)]
    return rounds
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "runs").mkdir()
    return tmp_path


@pytest.fixture
def begin(place: Path, forks: ForkServer) -> Iterator[Begin]:
    """Starts `weft` commands that end with the test."""
    processes: list[BegunCommand] = []

    def start(*words: str) -> BegunCommand:
        processes.append(forks.begin_aside(words, place, os.environ))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.close()


def run_slow(rounds: int) -> tuple[str, ...]:
    args = f'{{"rounds": {rounds}}}'
    return ("run", "slow.py:slow", "--args", args, "--out", "runs/slow", "--workers", "2")


def finished(run: Path) -> int:
    try:
        return status(run).finished
    except WeftError:
        return 0


def seconds_until_shown(page: Page, count: int) -> float:
    start_s = time.monotonic()
    while int(page.evaluate(SHOWN) or 0) < count:
        assert time.monotonic() - start_s < 60, f"{count} tasks were never shown"
        page.wait_for_timeout(10)
    return time.monotonic() - start_s


def test_page_follows_a_run_within_a_second_and_through_a_restart(
    place: Path, begin: Begin,
    serving: Callable[[Path], Server], onlooker: Onlooker, chaos: bool,
) -> None:  # fmt: skip
    server = serving(place / "runs")
    page = onlooker.open(server)
    expect(page.locator("#none")).to_be_visible()
    first = begin(*run_slow(3000))  # it never finishes
    page.click("text=slow", timeout=60_000)
    expect(page.locator("#badge")).to_have_text("running")
    run = place / "runs" / "slow"
    late_s = [seconds_until_shown(page, finished(run) + 1) for _ in range(12 if chaos else 3)]
    assert not chaos or sorted(late_s)[3] < LATE_S, late_s  # `python -m benchmarks live` has more
    expect(figure(page, "rate")).to_have_text(re.compile(r"^[\d.,]+ / (s|min)$"))
    expect(figure(page, "time left")).to_have_text(re.compile(r"^\d.* (s|min|h)$"))
    before = int(figure(page, "best so far").inner_text())
    seconds_until_shown(page, finished(run) + 16)
    assert int(figure(page, "best so far").inner_text()) > before, "it moves"

    first.kill()
    first.wait()
    expect(page.locator("#badge")).to_have_text("interrupted")
    expect(page.locator(".verdict")).to_contain_text("no completed task is lost")
    before = finished(run)
    page.click("#tab-ledger")
    begin("resume", "runs/slow", "--workers", "2")
    expect(page.locator("#badge")).to_have_text("running")
    seconds_until_shown(page, before + 8)
    expect(page.locator("#ledger-said")).to_contain_text("records")


def figure(page: Page, name: str) -> Locator:
    """The number below a name in the overview."""
    return page.locator(".figures div", has=page.get_by_text(name, exact=True)).locator("dd").first


def test_finished_run_is_verified_on_the_page(
    place: Path, begin: Begin,
    serving: Callable[[Path], Server], onlooker: Onlooker,
) -> None:  # fmt: skip
    page = onlooker.open(serving(place / "runs"))
    process = begin(*run_slow(4))
    page.click("text=slow", timeout=60_000)
    assert process.wait() == 0
    expect(page.locator("#badge")).to_have_text("finished, verified")
    expect(page.locator(".answer .lines")).to_have_text("4")
    page.click("#tab-tasks")
    expect(page.locator("#task-table tbody tr.row")).to_have_count(32)
    expect(page).to_have_title(re.compile("finished, verified"))


def test_run_that_is_taken_away_and_comes_back_is_shown_again(
    server: Server, serving: Callable[[Path], Server], onlooker: Onlooker, tmp_path: Path
) -> None:
    run = tmp_path / "runs" / "here"
    run.parent.mkdir()
    copy_of(server.root / "naps", run)
    page = onlooker.open(serving(tmp_path / "runs"))
    page.click("text=here")
    expect(page.locator("#badge")).to_contain_text("finished")
    run.rename(tmp_path / "away")
    expect(page.locator("#trouble")).to_have_text(re.compile("missing|not a run folder"))
    (tmp_path / "away").rename(run)
    expect(page.locator("#trouble")).to_be_hidden()
    onlooker.complaints.clear()  # the browser reports what it could not find meanwhile


def test_page_says_when_its_server_is_gone(
    server: Server, serving: Callable[[Path], Server], onlooker: Onlooker
) -> None:
    own = serving(server.root)
    page = onlooker.open(own)
    expect(page.locator("#link")).to_be_hidden()
    own.process.terminate()
    own.process.wait()
    expect(page.locator("#link")).to_contain_text("Connection lost")
    onlooker.complaints.clear()  # the browser reports the refused connections


def test_100_000_tasks_are_painted_within_a_second(server: Server, onlooker: Onlooker) -> None:
    page = onlooker.open(server)
    many, few = (f"http://127.0.0.1:{server.port}/run/{server.id_of(n)}" for n in ("many", "naps"))
    paints = [painted_ms(page, many)]
    while min(paints) > PAINT_MS and len(paints) < 3:
        paints.append(painted_ms(page, many))
    if min(paints) > PAINT_MS:  # a machine that is slow with a small run too
        assert min(paints) < 2 * min(painted_ms(page, few) for _ in range(3)), paints
        page.goto(many)
        page.click("#tab-tasks")
    expect(page.locator("#task-table tbody tr.row")).to_have_count(100)
    expect(page.locator("#task-pages")).to_contain_text("1 – 100 of 100,000")
    page.click("text=»")
    expect(page.locator("#task-pages")).to_contain_text("99,901 – 100,000")
    page.fill("#find", "valueerror 25777")
    expect(page.locator("#task-table tbody tr.row")).to_have_count(1)
    page.fill("#find", "")
    page.click("#task-table [data-sort=took] button")
    expect(page.locator("[data-sort=took]")).to_have_attribute("aria-sort", "descending")
    page.click("#state-chips button:has-text('failed')")
    expect(page.locator("#task-said")).to_have_text("4 tasks")


def painted_ms(page: Page, address: str) -> float:
    """Time to the first paint of a run's page."""
    page.goto(address)
    page.click("#tab-tasks")
    expect(page.locator("#task-table tbody tr.row").first).to_be_visible()
    paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    return float(page.evaluate(paint))


def test_rows_stay_where_an_update_brings_nothing_new(server: Server, onlooker: Onlooker) -> None:
    """A row replaced between the press and the release of a button would lose the click."""
    page = onlooker.open(server, f"/run/{server.id_of('naps')}#tasks")
    rows = page.locator("#task-table tbody tr.row")
    page.fill("#find", ":3:7")
    expect(rows).to_have_count(1)
    page.click("#task-table .place button")
    expect(page.locator(".life .record")).to_have_count(1)
    row = rows.element_handle()
    with page.expect_response("**/tasks?*"):
        page.dispatch_event("#find", "input")  # closes the open detail: rows are drawn again
    expect(page.locator(".life")).to_have_count(0)
    assert not row.evaluate("row => row.isConnected")
    row = rows.element_handle()
    with page.expect_response("**/tasks?*") as answer:
        page.dispatch_event("#find", "input")
    answer.value.finished()
    page.evaluate("() => new Promise(requestAnimationFrame)")
    assert row.evaluate("row => row.isConnected")


def test_task_opens_its_life_and_leads_to_its_record(server: Server, onlooker: Onlooker) -> None:
    page = onlooker.open(server, f"/run/{server.id_of('naps')}#tasks")
    page.fill("#find", ":3:7")
    expect(page.locator("#task-table tbody tr.row")).to_have_count(1)
    page.click("#task-table .place button")
    expect(page.locator(".life")).to_contain_text("slept_ms")
    page.click(".life .record")
    expect(page.locator("#ledger-table")).to_contain_text('"index":7,"lane":"","round":3')
    page.click("#ledger-table a >> nth=3")
    expect(page.locator("#task-table tbody tr.row")).to_have_count(1)


@pytest.mark.parametrize("width", [1400, 390])
def test_views_fit_the_window_and_log_nothing(
    server: Server, onlooker: Onlooker, width: int
) -> None:
    page = onlooker.open(server, f"/run/{server.id_of('hopeless')}", width=width)
    for view in VIEWS:
        page.click(f"#tab-{view}")
        expect(page.locator(f"#{view}")).to_be_visible()
        assert not has_overflow(page), view
    expect(page.locator(".answer")).to_contain_text("incomplete")


def test_hostile_names_are_inert(server: Server, onlooker: Onlooker) -> None:
    name = "<img src=x onerror=alert(1)>"
    page = onlooker.open(server)
    page.on("dialog", lambda dialog: onlooker.complaints.append(dialog.message))
    expect(page.locator("#runs")).to_contain_text(name)
    page.goto(f"http://127.0.0.1:{server.port}/run/{server.id_of(name)}")
    for view in VIEWS:
        page.click(f"#tab-{view}")
    page.click("#tab-tasks")
    expect(page.locator("#task-table tbody tr.row")).to_have_count(4)
    for number in range(4):
        page.locator("#task-table .place button").nth(number).click()
    assert page.locator("img").count() == 0
    assert page.title() != "owned"
    expect(page.locator("#task-table")).to_contain_text("<script>")
    expect(page.locator("#task-table")).to_contain_text("\\u202e")
    pair = f"runs={server.id_of(name)},{server.id_of('naps')}"
    page.goto(f"http://127.0.0.1:{server.port}/compare?{pair}")
    expect(page.locator("#compared")).to_contain_text("different")
    assert page.locator("img").count() == 0


def test_two_runs_are_compared(server: Server, onlooker: Onlooker) -> None:
    page = onlooker.open(server)
    for name in ("more/naps5", "naps"):
        page.check(f"#runs tr:has(a:text-is('{name}')) .choose")
    page.click("#pair")
    expect(page.locator("#compared")).to_contain_text("they diverge at record 0")
    expect(page.locator(".facts tr.differs")).to_have_count(3)
    same = server.id_of("naps")
    page.goto(f"http://127.0.0.1:{server.port}/compare?runs={same},{same}")
    expect(page.locator("#compared")).to_contain_text("the same, byte for byte")


def test_list_shows_every_run_and_finds(server: Server, onlooker: Onlooker) -> None:
    page = onlooker.open(server, width=390)
    expect(page.locator("#runs tr")).to_have_count(6)
    assert not has_overflow(page)
    page.fill("#find", "hopeless")
    expect(page.locator("#runs tr:visible")).to_have_count(1)


def test_page_of_a_search_is_framed_and_may_run_nothing(
    serving: Callable[[Path], Server], onlooker: Onlooker, forks: ForkServer, tmp_path: Path
) -> None:
    job = {"argv": ["sh", "-c", "echo '{}'"], "gpu": 0, "timeout_s": 60}
    jobs = [{"job_id": name, **job} for name in ("one", "two")]
    (tmp_path / "jobs.json").write_text(json.dumps(jobs))
    words = ("jobs", "run", "jobs.json", "--out", "runs/two", "-q")
    assert forks.run(words, tmp_path, os.environ)[0] == 0
    server = serving(tmp_path / "runs")
    page = onlooker.open(server, f"/run/{server.id_of('two')}")
    expect(page.locator("#badge")).to_have_text("finished, verified")  # nothing changes any more
    page.get_by_role("tab", name="Jobs").click()
    frame = page.frame_locator("#page-1 iframe:not(.loading)")
    expect(frame.locator(".page")).to_contain_text("one")
    place = page.locator("#page-1 iframe:not(.loading)")
    assert place.get_attribute("sandbox") == "allow-same-origin"
    while (is_whole := place.evaluate(IS_WHOLE)) is None:
        pass  # the page is being replaced after a later update
    assert is_whole, "as high as what is in it"
    answer = server.get(f"/run/{server.id_of('two')}/page/0")
    assert answer.headers["content-security-policy"] == FRAME_POLICY
    assert server.get(f"/run/{server.id_of('two')}/page/9").status == 404
