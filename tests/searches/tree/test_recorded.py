"""A run with an agent, then the same without it: recorded diffs, reviews and proposals."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest

from tests.searches.tree.conftest import CONFIG, Wood
from weft.inspect.report.view import RunView
from weft.searches.tree.memory import parse
from weft.searches.tree.search import NAME

pytestmark = pytest.mark.xdist_group("tree-recorded")
AGENT_CONFIG = (
    CONFIG.replace('ideas = "ideas"\n', "").replace("deterministic = true\n", "")
    + """
[propose]
argv = ["{python}", "-I", "{work_dir}/propose.py"]
[implement]
argv = ["{python}", "-I", "{work_dir}/agent.py", "{idea_file}"]
env_from = ["TREE_TEST_SECRET"]
[review]
argv = ["{python}", "-I", "{work_dir}/review.py"]
"""
)
TOP = "memory = 'replay'\nreview_rounds = 2\nmax_depth = 2\nbeam_width = 2\nmax_usd = '50'\n"
PROPOSE = """
import os, pathlib
for name in ("fail", "rest", "think", "work"):
    (pathlib.Path(os.environ["WEFT_IDEAS_DIR"]) / f"{name}.md").write_text(name)
"""
AGENT = """
import json, os, pathlib, random, sys
idea = pathlib.Path(sys.argv[1]).read_text()
if idea == "fail" or not os.environ["TREE_TEST_SECRET"]:
    sys.exit(3)
body = json.load(open("params.json"))
if idea != "rest":
    again = bool(pathlib.Path(os.environ["WEFT_FEEDBACK_FILE"]).read_text())
    body["a"] += 1 + len(idea) + again
    body["said"] = random.SystemRandom().random()
json.dump(body, open("params.json", "w"), indent=2)
cost = {"usd": 0.5, "input_tokens": 10, "output_tokens": 1}
open(os.environ["WEFT_RESULT_FILE"], "w").write(json.dumps({"cost": cost}))
print("did", idea)
"""
REVIEW = """
import json, os, pathlib
good = json.load(open("params.json"))["a"] % 2 == 0
print(json.dumps({"approved": good, "feedback": "" if good else "odd"}))
"""
RECORDED = ["implement", "review", "propose"]


def plant(wood: Wood, monkeypatch: pytest.MonkeyPatch) -> None:
    wood.plant(AGENT_CONFIG.replace("max_depth = 1\n", TOP))
    for name, text in (("propose", PROPOSE), ("agent", AGENT), ("review", REVIEW)):
        wood.write(f"{name}.py", text)
    monkeypatch.setenv("TREE_TEST_SECRET", "x")


def test_agents_run_is_repeated_without_the_agent(
    wood: Wood, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(wood, monkeypatch)
    first = wood.run("first", "--max-parallel-evals", "2", "--json")
    assert first.code == 0, first
    assert {"implement-failed", "review-rejected"} <= set(wood.verdicts("first").values())
    check_transcripts(wood)
    for name in ("propose", "agent", "review"):
        (wood.folder / f"{name}.py").unlink()
    monkeypatch.delenv("TREE_TEST_SECRET")
    settings = [w for stage in RECORDED for w in ("--set", f"{stage}.recorded=true")]
    second = wood.run("second", *settings, "--set", 'recorded_from="first"', "--json")
    assert second.code == 0, second
    assert second.json["answer"] == first.json["answer"]
    assert wood.verdicts("second") == wood.verdicts("first")
    original, other = (wood.load(out).history for out in ("first", "second"))
    assert len(original.nodes) > 3
    assert [(n.commit, n.turns) for n in original.nodes] == [
        (n.commit, n.turns) for n in other.nodes
    ]
    assert (original.usd, original.tokens) == (other.usd, other.tokens)
    assert wood.run("third", *settings, "--set", 'recorded_from="second"').code == 0
    assert wood.load("third").history.nodes[-1].commit == original.nodes[-1].commit


def check_transcripts(wood: Wood) -> None:
    """Check that a node's transcript holds its own and its ancestors' turns, no sibling's."""
    view = RunView(wood.folder / "first", NAME)
    for node in wood.load("first").history.nodes:
        turns = [t for reference in node.turns for t in parse(view.read(reference))]
        ideas = [Path(n.idea.name).stem for n in node.path() if n.idea is not None]
        prompts = [t.text.removesuffix("odd") for t in turns if t.role == "user"]
        assert [idea for idea, _ in groupby(prompts)] == ideas
        assert [t.text for t in turns if t.role == "assistant"] == [f"did {a}" for a in prompts]


def test_idea_without_a_recording_is_refused_by_name(
    wood: Wood, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(wood, monkeypatch)
    assert wood.run("first", "--max-depth", "1").code == 0
    settings = ("--set", "implement.recorded=true", "--set", 'recorded_from="first"')
    wood.write("propose.py", PROPOSE.replace('"work"', '"new"'))
    assert wood.run("second", *settings, "--max-depth", "1").code == 0
    verdicts = wood.verdicts("second")
    assert verdicts["n0.1/new.md"] == "not-recorded"
    assert verdicts["n0.1/think.md"].startswith("promoted")


def test_recorded_belongs_to_a_run_of_tree(wood: Wood, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(wood, monkeypatch)
    result = wood.run("r", "--set", "implement.recorded=true")
    assert (result.code, result.out) == (3, "")
    assert "recorded = true and recorded_from, the run, belong together" in result.err
    words = ("--set", "implement.recorded=true", "--set", 'recorded_from="start"')
    result = wood.run("r", *words)
    assert result.code == 3
    assert "start" in result.err
    assert not (wood.folder / "r").exists()
