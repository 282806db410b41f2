"""A report stays small and safe: 100,000 tasks, hostile texts, a policy that fits its script."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

import weft
from tests.inspect.report.conftest import KINDS, Kinds, page_of, weave
from tests.inspect.report.test_content import data_of
from weft.inspect.report.hook import Page, register, unregister
from weft.inspect.report.text import clip, counted, duration, some, value_text, visible
from weft.inspect.report.timeline import MAX_SPANS, MAX_TRACKS, TimelineBuilder, WorkerId, WorkSpan

pytestmark = pytest.mark.xdist_group("report")
MAX_BYTES = 2_000_000


def test_report_of_100_000_tasks_is_small_and_says_what_is_left_out(many: Path) -> None:
    page = many.read_text("utf-8")
    assert many.stat().st_size <= MAX_BYTES
    assert re.search(r"showing [\d,]+ of 100,000 tasks: all 4 failed", page)
    assert re.search(r"showing [\d,]+ of 100,003 records", page)
    data = data_of(page)
    assert sum(data["names"][task[4]] == "failed" for task in data["tasks"]) == 4
    indices = {task[2] for task in data["tasks"]}
    assert {0, 1, 777, 25_777, 50_777, 75_777, 99_999} <= indices
    assert "99,996 completed" in page
    assert "weave:tiny" in page


def test_worst_texts_stay_within_the_limit(tmp_path: Path) -> None:
    text = "<&\"'\u202e" * 4000
    weft.run(weave.one(text), out=tmp_path / "run", workers=1)
    page = page_of(tmp_path / "run")
    assert len(page.encode()) < 200_000
    assert "\u202e" not in page


def test_only_long_failures_stay_within_the_limit(tmp_path: Path) -> None:
    weft.run(weave.wordy(3000), out=tmp_path / "run", workers=2)
    register("weave", lambda run: [Page("Full", Markup("x" * run.page_bytes))])
    try:
        page = page_of(tmp_path / "run")
    finally:
        unregister("weave")
    assert len(page.encode()) <= MAX_BYTES, "all tasks fail, with long texts that must be escaped"
    assert page.count("x" * 500_000) == 1, "the search's page has most of its room"
    assert re.search(r"showing 1,[0-9]{3} of 3,000 tasks: 900 of 3,000 failed", page)


def test_hostile_texts_are_escaped(hostile: Path) -> None:
    page = hostile.read_text("utf-8")
    assert page.count("<script") == 2, "the data block and our own"
    assert "<img" not in page
    assert "<b>run" not in page
    for mark in "\u202e\u2066\x07":
        assert mark not in page
    assert "\\u202e" in page


def test_policy_names_the_script_and_nothing_else(kinds: Kinds) -> None:
    for kind in KINDS:
        page = kinds.text(kind)
        policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
        scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
        assert policy
        assert len(scripts) == 1
        digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
        assert f"script-src &#39;sha256-{digest}&#39;" in policy[1]
        assert "default-src &#39;none&#39;" in policy[1]
        assert not re.search(r"(?:src|href)=\"(?!data:|#)", page)
        assert not re.search(r"https?://", page.replace("http://www.w3.org", ""))
        assert not re.search(r"\son\w+=", page.split("<script")[0])


@given(st.text(max_size=300), st.integers(1, 400))
def test_clip_is_printable_and_bounded(text: str, limit: int) -> None:
    clipped = clip(text, limit)
    assert clipped.isprintable()
    assert len(clipped.encode()) <= limit + 40
    if clipped == text:
        assert text.isprintable()


@given(st.text(max_size=100))
def test_visible_keeps_what_is_printable(text: str) -> None:
    assert visible(text).isprintable()
    assert visible(visible(text)) == visible(text)
    if text.isprintable():
        assert visible(text) == text


def test_spans_and_counts_read_well() -> None:
    expected = {0: "0 s", 2.5e-6: "2.5 µs", 0.0123: "12.3 ms", 9.87: "9.87 s", 125: "2 min 05 s"}
    assert {s: duration(s) for s in expected} == expected
    assert duration(3 * 3600 + 120) == "3 h 02 min"
    assert duration(26 * 3600) == "1 d 2 h"
    assert duration(None) == "–"
    assert counted(1, "task") == "1 task"
    assert some(3, 3, "task") == "3 tasks"
    assert some(3, 4000, "task") == "showing 3 of 4,000 tasks"
    assert value_text('{"x":{"$f":"0.5"}}') == '{"x":0.5}'
    assert value_text('{"$bad":1}') == '{"$bad":1}'


@given(
    st.lists(
        st.tuples(st.integers(0, 90), st.floats(0, 100), st.floats(0, 5), st.booleans()),
        max_size=60,
    ),
    st.integers(1, 120),
)
def test_timeline_keeps_every_task_and_stays_small(
    rows: list[tuple[int, float, float, bool]], copies: int
) -> None:
    builder = TimelineBuilder(0.0, 105.0)
    for copy in range(copies):
        for pid, start, length, failed in rows:
            begin = min(100.0, start + copy / 7)
            span = WorkSpan(begin, begin + length, 1, int(failed), length)
            builder.add(WorkerId("here", -1, pid, 0.0), span)
    timeline = builder.finish()
    workers = {pid for pid, *_ in rows}
    assert timeline.workers == len(workers)
    assert len(timeline.tracks) == min(MAX_TRACKS, len(workers))
    assert sum(len(t.spans) for t in timeline.tracks) <= MAX_SPANS
    if len(workers) <= MAX_TRACKS:
        assert sum(t.tasks for t in timeline.tracks) == len(rows) * copies
    for track in timeline.tracks:
        starts = [span.start for span in track.spans]
        assert starts == sorted(starts)
