"""Runs of every kind with their reports, created once; and one browser."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.inspect.report.browser import Browser, started
from tests.inspect.runs import Stopper, copy_of, heads, put_ledger, read_lines
from tests.support.pages import weave
from weft.inspect.report.page import render_report, write_report

KINDS = ("finished", "running", "interrupted", "all-failed", "damaged")


@dataclass
class Onlooker:
    """A watcher that writes a report while the run is in progress."""

    run: Path
    out: Path
    after: int

    def update(self, counts: Any) -> None:
        if counts.finished >= self.after:
            self.after = 10**9
            write_report(self.run, heads(), self.out)


@dataclass(frozen=True)
class Kinds:
    """A run folder and a report for each kind."""

    runs: dict[str, Path]
    reports: dict[str, Path]

    def text(self, kind: str) -> str:
        return self.reports[kind].read_text("utf-8")


@pytest.fixture(scope="session")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Kinds:
    base = tmp_path_factory.mktemp("kinds")
    runs = {kind: base / kind for kind in KINDS}
    reports = {kind: base / f"{kind}.html" for kind in KINDS}
    onlooker = Onlooker(runs["finished"], reports["running"], after=20)
    weft.run(weave.naps(), out=runs["finished"], workers=2, watcher=onlooker)
    with pytest.raises(weft.errors.Interrupted):
        weft.run(weave.naps(40), out=runs["interrupted"], workers=2, watcher=Stopper(60))
    weft.run(weave.hopeless(), out=runs["all-failed"], workers=2)
    lines = read_lines(copy_of(runs["finished"], runs["damaged"]))
    lines[20] = re.sub(rb'"value":\d+', b'"value":999', lines[20])
    put_ledger(runs["damaged"], b"".join(lines))
    for kind in KINDS:
        if kind != "running":
            write_report(runs[kind], heads(), reports[kind])
    return Kinds(runs, reports)


@pytest.fixture(scope="session")
def many(many_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of 100,000 tasks."""
    return write_report(many_run, heads(), tmp_path_factory.mktemp("report") / "many.html")


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of a run whose every text looks like markup."""
    base = tmp_path_factory.mktemp("hostile")
    run = base / "<b>run"
    weft.run(weave.hostile(), out=run, workers=1)
    return write_report(run, heads(), base / "hostile.html")


@pytest.fixture(scope="session")
def browser(
    tmp_path_factory: pytest.TempPathFactory, require_tool: Callable[[str], str]
) -> Iterator[Browser]:
    with started(
        require_tool("chromium-headless-shell"), tmp_path_factory.mktemp("browser")
    ) as browser:
        yield browser


def page_of(run: Path) -> str:
    return render_report(run, heads())
