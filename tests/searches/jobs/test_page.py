"""docs/jobs.md has every field and shows examples/jobs; the report's page shows a jobs run."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.searches.jobs.conftest import THREE_NODES, Shop, shell, sleeper
from tests.support.shown import ROOT, block_of
from weft.cluster.nodesfile import NodeEntry
from weft.searches.jobs.jobfile import JobEntry

PAGE = (ROOT / "docs" / "jobs.md").read_text("utf-8")


def test_page_shows_parts_of_the_example() -> None:
    documented = tomllib.loads(block_of("docs/jobs.md", "toml"))["jobs"]
    example = tomllib.loads((ROOT / "examples" / "jobs" / "jobs.toml").read_text())["jobs"]
    assert all(job in example for job in documented)
    nodes = (ROOT / "examples" / "jobs" / "nodes.json").read_text()
    assert block_of("docs/jobs.md", "json") == nodes


def test_page_has_every_field() -> None:
    for name in (*JobEntry.model_fields, *NodeEntry.model_fields):
        assert f"`{name}`" in PAGE, name


@pytest.fixture
def told(shop: Shop) -> Path:
    """The report of a small run on three nodes, with a failed job and hostile texts."""
    jobs = [sleeper(i, 0.02) for i in range(5)]
    hostile = "<script>alert(1)</script>"
    jobs += [shell("fails", f"echo '{hostile}'; exit 3"), shell("cpu", "echo '[]'")]
    shop.write(jobs, THREE_NODES)
    assert shop.run("run", "--nodes", "nodes.json", "--simulate-nodes", "-q").code == 4
    assert shop.weft("report", "run").code == 0
    return shop.folder / "run" / "report.html"


def test_report_has_a_page_with_times_timeline_and_jobs(told: Path) -> None:
    page = told.read_text("utf-8")
    assert "sequential would be" in page
    for name in ("localhost/gpu0", "rig-a/gpu1", "rig-a/cpu0", "Distribution (static"):
        assert name in page
    assert page.count('class="lane"') >= 7
    assert "exit 3" in page
    assert "<script>alert" not in page


def test_unfinished_run_has_a_page_too(shop: Shop) -> None:
    shop.write([shell("a", "sleep 30; echo '[]'")])
    assert shop.run("run", "--wall-limit", "0.3", "-q").code == 130
    assert shop.weft("report", "run").code == 0
    assert "No job has finished yet" in (shop.folder / "run" / "report.html").read_text()
    assert shop.weft("status", "run").code == 0


def test_strict_ends_with_the_first_failure(shop: Shop) -> None:
    others = (shell(f"j{i}", "sleep 30; echo '[]'") for i in range(5))  # none ends earlier
    shop.write([shell("fails", "exit 3"), *others])
    result = shop.run("run", "--strict")
    assert result.code == 4
    assert "cancelled" in result.out
