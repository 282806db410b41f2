"""The pages of each search, live and in its report: the user's own results come first."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.inspect.pages.conftest import Shown
from tests.support.axe import findings

pytestmark = pytest.mark.xdist_group("search-pages")
Show = Callable[[str], Shown]
ENGINE_TABS = ["Tasks", "Progress", "Timeline", "Events", "Ledger"]
MAX_BYTES = 2_000_000
NEXT_DRAWS = re.compile(r"^(\d+ ){19}\d+$")


def check_top(shown: Shown, title: str, answer: str, tabs: list[str]) -> None:
    """Check the title, that the answer is a sentence, and that the search's tabs come first."""
    page = shown.page
    expect(page.locator("h1")).to_contain_text(title)
    sentence = page.locator(".answer .lines").inner_text()
    assert answer in sentence
    assert not any(mark in sentence for mark in '{}"'), sentence
    expect(page.get_by_role("tab").nth(len(tabs) + len(ENGINE_TABS) - 1)).to_be_visible()
    assert shown.tabs() == [*tabs, *ENGINE_TABS]
    expect(page.get_by_role("tab").first).to_have_attribute("aria-selected", "true")


def test_puzzles_are_found_compared_and_stepped_through(shown: Callable[[str], Shown]) -> None:
    arc = shown("arc")
    check_top(arc, "ARC puzzles", "1 SOLVED", ["Puzzles", "Search"])
    puzzles = arc.open("Puzzles")
    cards = puzzles.locator("article")
    expect(cards).to_have_count(3)
    plain, torn = (puzzles.locator(f"article[data-find^='{name} ']") for name in ("plain", "torn"))
    expect(plain).to_contain_text("SOLVED, right")
    expect(plain).to_contain_text(re.compile(r"confidence 0\.\d+"))
    expect(torn).to_contain_text("expected")
    expect(torn.locator(".over")).not_to_have_count(0)  # the difference, drawn over the answer
    puzzles.locator("[data-finder]").fill("torn")
    expect(puzzles.locator("article:visible")).to_have_count(1)
    expect(puzzles.locator("[data-found]")).to_have_text("1 found")
    puzzles.locator("[data-finder]").fill("")
    puzzles.locator("label", has_text="missing operator").click()
    expect(puzzles.locator("article:visible")).to_have_count(1)
    expect(puzzles.locator("article:visible")).to_contain_text("lost")
    puzzles.locator("label", has_text="all").first.click()
    expect(puzzles.locator("article:visible")).to_have_count(3)
    plain.locator("summary").first.press("Enter")
    steps = plain.locator("[data-steps]").first
    steps.focus()
    expect(steps.locator("[data-step-said]")).to_contain_text("step 1 of")
    arc.page.keyboard.press("End")
    expect(steps.locator("[data-step]:visible")).to_have_count(1)
    expect(steps.locator("[data-step]:visible")).to_contain_text("mirror_down")
    arc.reach_all("Search")
    arc.check("Puzzles")


def test_tree_is_drawn_with_gains_reasons_diffs_and_axes(shown: Callable[[str], Shown]) -> None:
    tree = shown("tree")
    check_top(tree, "Tree search", "best 57 at n2, root 12", ["Tree", "Diffs and logs"])
    drawn = tree.open("Tree")
    picture = drawn.get_by_role("group", name=re.compile("3 nodes, best n2")).locator("svg")
    assert picture.evaluate(CROSSINGS) == [], "no edge crosses a label"
    fills = picture.locator("circle").evaluate_all("all => all.map(c => c.getAttribute('fill'))")
    assert len({*fills}) >= 3, "colours say how much was gained or lost"
    expect(picture.locator(".refused")).to_have_count(5)
    reasons = drawn.locator("svg title").all_text_contents()
    assert any("score-invalid" in reason for reason in reasons)
    assert any("outranked" in reason for reason in reasons)
    for words in ("score (higher is better)", "depth", "seconds since the first eval began"):
        expect(drawn.locator("svg text", has_text=words).first).to_be_visible()
    expect(drawn.locator(".timeline .axis span")).to_have_count(5)
    diffs = tree.open("Diffs and logs")
    diffs.locator("button[data-only=promoted]").click()
    expect(diffs.locator("details.eval:visible")).to_have_count(2)
    diffs.locator("button[data-only='']").click()
    promoted = diffs.locator("details", has_text="more-a.md").first
    promoted.locator("summary").press("Enter")
    expect(promoted.locator(".added").first).to_contain_text('"a": 5')
    expect(promoted.locator(".added span").first).to_be_visible()
    failed = diffs.locator("details", has_text="less-b.md").first
    failed.locator("summary").press("Enter")
    expect(failed).to_contain_text("b is too small")  # the tail of its log, in place
    tree.reach_all("Diffs and logs")
    tree.check("Diffs and logs")
    tree.check("Tree")


CROSSINGS = """svg => {
  const boxes = [...svg.querySelectorAll('text')].map(
    t => [t.textContent, t.getBoundingClientRect()]);
  const edges = [...svg.querySelectorAll('path, line')];
  const inside = (p, box) => p.x > box.left + 1 && p.x < box.right - 1
    && p.y > box.top + 2 && p.y < box.bottom - 2;
  const hits = [];
  for (const edge of edges) {
    const matrix = edge.getScreenCTM(), length = edge.getTotalLength();
    for (let at = 0; at <= length; at += 2) {
      const p = edge.getPointAtLength(at).matrixTransform(matrix);
      for (const [text, box] of boxes) {
        if (inside(p, box)) hits.push(text);
      }
    }
  }
  return [...new Set(hits)];
}"""


def test_signal_has_a_timeline_next_draws_and_residues(shown: Callable[[str], Shown]) -> None:
    draws = shown("draws")
    check_top(draws, "PRNG analysis", "SIGNAL: these 60 draws come from", ["Verdict"])
    verdict = draws.open("Verdict")
    timeline = verdict.locator("figure", has_text="holdout from draw")
    expect(timeline.locator("path.right")).to_have_count(1)
    assert {"right", "wrong"} <= {*timeline.locator(".key span").all_inner_texts()}
    expect(verdict).to_contain_text(re.compile(r"5\d of 60 draws match"))
    expect(verdict.locator("p.code", has_text=NEXT_DRAWS)).to_have_count(1)
    for words in (" draws unseen", "hypotheses were tried", "remainder modulo 8"):
        expect(verdict.get_by_text(words).first).to_be_visible()
    expect(verdict.locator("th", has_text="attack").first).to_be_attached()
    draws.reach_all("Verdict")
    draws.check("Verdict")


def test_silence_says_what_was_tried_and_what_would_have_been_found(
    shown: Callable[[str], Shown],
) -> None:
    silence = shown("silence")
    check_top(silence, "PRNG analysis", "NO SIGNAL: nothing distinguishes", ["Verdict"])
    verdict = silence.open("Verdict")
    expect(verdict.get_by_role("heading", name="What would have been found")).to_be_visible()
    expect(verdict.get_by_text("wrong of 15 draws").first).to_be_visible()
    expect(verdict.get_by_text("Any of these would have been found:")).to_have_count(0)
    silence.check("Verdict")


def test_pipeline_shows_its_steps_and_its_verdict(shown: Callable[[str], Shown]) -> None:
    pipeline = shown("pipeline")
    check_top(pipeline, "PRNG pipeline", "signal", ["Pipeline"])
    steps = pipeline.open("Pipeline")
    expect(steps.locator("td", has_text="window optimizer").first).to_be_visible()
    expect(steps.get_by_text("Would be found:").first).to_be_visible()
    pipeline.reach_all("Pipeline")
    pipeline.check("Pipeline")


def test_jobs_are_shown_by_name_on_their_gpus(shown: Callable[[str], Shown]) -> None:
    jobs = shown("jobs")
    check_top(jobs, "Jobs", "6 of 7 jobs completed, 1 failed", ["Jobs"])
    expect(jobs.page.locator("#badge, .badge").first).to_contain_text("incomplete")
    part = jobs.open("Jobs")
    for name in ("rig1/gpu0", "rig1/gpu1", "rig2/gpu0"):
        expect(part.locator(".lane", has_text=name)).to_have_count(1)
    expect(part.locator(".lane", has_text="fold-0")).to_have_count(1)
    failed = part.locator("tr", has_text="broken")
    expect(failed).to_contain_text("failed")
    expect(failed).to_contain_text("exit 3")
    jobs.reach_all("Jobs")
    jobs.check("Jobs")
    jobs.page.get_by_role("tab", name="Tasks").click()
    tasks = jobs.page.locator("#task-table")
    expect(tasks).to_contain_text("fold-3")
    expect(tasks).not_to_contain_text("weft.worker.command")
    jobs.page.fill("#find", "broken")
    expect(jobs.page.locator("#task-table tr.row")).to_have_count(1)
    jobs.page.locator("#task-table .place button").press("Enter")
    expect(jobs.page.locator(".life")).to_contain_text("no such file")  # the tail of its log


FIRST_TABS = {
    "arc": "Puzzles", "tree": "Tree", "draws": "Verdict", "silence": "Verdict",
    "pipeline": "Pipeline", "jobs": "Jobs",
}  # fmt: skip


@pytest.mark.parametrize("shown", ["live-desk", "report-phone"], indirect=True)
def test_tabs_of_the_engine_fit_and_tell_tasks_in_words(shown: Show) -> None:
    for name in (*FIRST_TABS, "study", "own"):
        run = shown(name)
        for title in ENGINE_TABS:
            part = run.open_engine(title)
            run.fits(f"{title} of {name}", part)
            if name == "jobs":
                assert findings(run.page) == [], title
                run.reach_all(title, part)
        run.open_engine("Tasks")
        cells = run.page.locator("#task-table td.call, #task-table td.outcome").all_inner_texts()
        raw = [text for text in cells if '":' in text or text.startswith(("{", "["))]
        assert raw == [], f"JSON in the tasks of {name}"


def test_study_shows_parameters_and_not_settings_of_its_sampler(shown: Show) -> None:
    page = shown("study").open_engine("Tasks").page
    heads = page.locator("#task-table thead th.arg").all_inner_texts()
    assert heads == ["activation", "layers", "lr"]


@pytest.mark.parametrize("shown", ["live-phone", "report-desk"], indirect=True)
def test_pages_fit_a_live_phone_and_a_report_at_a_desk(shown: Show) -> None:
    for name, title in FIRST_TABS.items():
        shown(name).check(title)


def test_report_of_every_search_is_small(reports: Callable[[str], Path]) -> None:
    sizes = {name: reports(name).stat().st_size for name in (*FIRST_TABS, "study")}
    assert max(sizes.values()) <= MAX_BYTES, sizes


def test_study_has_importances_and_trials(shown: Callable[[str], Shown]) -> None:
    study = shown("study")
    check_top(study, "Optuna study of loss", "best value", ["Values"])
    page = study.page
    expect(page.locator("#values .plot").first).to_be_visible()
    assert page.locator(".importances .label").all_inner_texts()[0] == "lr"
    expect(page.locator("#values .said")).to_contain_text("24 tasks; best value")
    assert page.locator("#values figcaption").all_inner_texts()[0].startswith("value by task")
    page.get_by_role("button", name="open the best task").press("Enter")
    expect(page.locator(".life")).to_be_visible()
