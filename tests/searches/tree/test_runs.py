"""A run from config to branch: ideas, gate, rank, promotion, export, and the exit codes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.searches.tree.conftest import CONFIG, Wood, blocks

pytestmark = pytest.mark.xdist_group("tree")


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    argv = ["git", *who, *words]
    return subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True).stdout


def test_better_ideas_are_promoted_by_score_and_worse_ones_are_refused(wood: Wood) -> None:
    wood.plant()
    result = wood.run("r", "--json")
    assert result.code == 0, result
    answer = result.json["answer"]
    assert (answer["root_score"], answer["best_score"]) == ("12", "52")
    assert wood.verdicts("r") == {
        "down-b.md": "regressed",
        "up-a.md": "promoted n1",
        "up-b.md": "promoted n2",
    }
    fields = {"eval_id", "parent_node_id", "idea_path", "depth", "task_state"}
    assert all(fields <= e.keys() for e in result.json["evals"])
    assert "promoted n1" in wood.summary("r")
    assert "n0 -->" in (wood.folder / "r" / "TREE_GRAPH.md").read_text("utf-8")


def test_ideas_stand_on_top_of_each_other_and_export_is_one_commit_each(wood: Wood) -> None:
    wood.plant()
    assert wood.run("r", "--max-depth", "2").code == 0
    assert wood.load("r").history.nodes[3].result.score == "57"
    result = wood.weft("tree", "export", "r", "--repo", "made", "--branch", "best")
    assert result.code == 0, result
    assert git(wood.folder / "made", "log", "--format=%s").split() == ["up-b.md", "up-a.md", "root"]
    assert json.loads((wood.folder / "made" / "params.json").read_text()) == {"a": 5, "b": 7}
    assert git(wood.folder / "made", "status", "--porcelain") == ""
    best = wood.load("r").history.nodes[3].commit
    assert git(wood.folder / "made", "rev-parse", "best").strip() == best
    assert wood.weft("tree", "export", "r", "--patches", "series").code == 0
    assert [p.name for p in sorted((wood.folder / "series").iterdir())] == [
        "0001-up-a.patch",
        "0002-up-b.patch",
    ]


def test_export_adds_a_branch_to_the_users_repository_and_nothing_else(wood: Wood) -> None:
    wood.plant(CONFIG.replace('files = "start"', 'repo = "start"'))
    start = wood.folder / "start"
    git(start, "init", "-q")
    for text in ("one", "two"):
        wood.write("start/note", text)
        git(start, "add", "-A")
        git(start, "commit", "-qm", text)
    before = fingerprint(start)
    assert wood.run("r").code == 0
    assert fingerprint(start) == before
    result = wood.weft("tree", "export", "r", "--repo", "start")
    assert result.code == 0, result
    assert git(start, "log", "--format=%s", "weft-best").split() == ["up-a.md", "two", "one"]
    assert git(start, "status", "--porcelain") == ""
    second = wood.weft("tree", "export", "r", "--repo", "start")
    assert second.code == 3
    assert "already has a branch" in second.err


def fingerprint(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_why_prints_every_rule_the_rank_and_who_was_before(wood: Wood) -> None:
    wood.plant()
    wood.run("r", "--beam-width", "1")
    result = wood.weft("tree", "why", "r", "e3")
    assert result.code == 0
    assert "score 17 against 12 of n0" in result.out
    assert "rank 2 of 2, 1 are promoted" in result.out
    assert "ranked above: e2 up-a.md with 52" in result.out
    assert "verdict outranked" in result.out
    assert wood.weft("tree", "why", "r", "e9").code == 3


def test_no_better_idea_exits_1_and_no_completed_eval_exits_4(wood: Wood) -> None:
    wood.plant()
    for name in ("up-a.md", "up-b.md"):
        (wood.folder / "ideas" / name).unlink()
    assert wood.run("r").code == 1
    wood.write("ideas/down-b.md", blocks("b", 99, 1))
    assert wood.run("s").code == 4
    assert wood.verdicts("s") == {"down-b.md": "apply-conflict"}


def test_same_files_share_one_result_and_same_text_is_skipped(wood: Wood) -> None:
    wood.plant()
    wood.write("ideas/up-b-again.md", "Other words. " + blocks("b", 2, 7))
    wood.write("ideas/zz-copy.md", blocks("b", 2, 7) + "  \n\n")
    assert wood.run("r").code == 0
    assert wood.verdicts("r")["up-b.md"] == "same as e3"
    [skip] = wood.load("r").history.skips
    assert (skip.idea, skip.reason) == ("zz-copy.md", "same text as another idea on this node")


@pytest.mark.parametrize(("scope", "evals"), [("none", 6), ("ancestors", 5), ("global", 3)])
def test_dedupe_scope_decides_where_an_idea_is_tried_again(
    wood: Wood, scope: str, evals: int
) -> None:
    wood.plant()
    words = ("--dedupe-scope", scope, "--max-depth", "2", "--beam-width", "2", "--dry-run")
    wood.run("r", *words)
    assert len(wood.load("r").history.evals) == evals


def test_eval_budget_is_counted_before_dispatch(wood: Wood) -> None:
    wood.plant()
    wood.run("r", "--max-total-evals", "2")
    assert [e.idea.name for e in wood.load("r").history.evals] == ["down-b.md", "up-a.md"]


def test_interrupted_run_goes_on_with_resume_and_the_same_ledger(wood: Wood) -> None:
    wood.plant()
    assert wood.run("ref").code == 0
    assert wood.run("r", "--wall-limit", "0.1").code == 130
    assert wood.weft("resume", "r", "-q").code == 0
    assert wood.ledger("r") == wood.ledger("ref")
    assert wood.run("r", "--report-only").code == 0
    assert wood.summary("r") == wood.summary("ref")


def test_plan_and_validate_create_nothing(wood: Wood) -> None:
    wood.plant()
    before = fingerprint(wood.folder)
    result = wood.weft("tree", "plan", "tree.toml", "--json")
    assert [e["idea_path"] for e in result.json["evals"]] == ["down-b.md", "up-a.md", "up-b.md"]
    assert wood.weft("tree", "run", "tree.toml", "--validate-only").code == 0
    assert fingerprint(wood.folder) == before
