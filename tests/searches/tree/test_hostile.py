"""Ideas that cheat, commands that break, hostile repositories: refused by name, nothing left."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tests.searches.tree.conftest import COMPRESSOR, CONFIG, SCORE, Wood, blocks
from tests.searches.tree.test_runs import fingerprint, git

pytestmark = pytest.mark.xdist_group("tree-hostile")


SLEEP_S = f"1000.{os.getpid()}"
"""Unique to this test run, since others may run at the same time."""


def sleepers() -> list[int]:
    processes = psutil.process_iter(["cmdline"])
    return [p.pid for p in processes if (p.info["cmdline"] or [])[-1:] == [SLEEP_S]]


def test_cheating_ideas_of_the_demo_are_refused_by_name_and_leave_no_process(wood: Wood) -> None:
    ideas = COMPRESSOR.parent / "ideas"
    for name in ("start", "ideas"):
        subprocess.run(["cp", "-r", COMPRESSOR.parent / name, wood.folder / name], check=True)
    for path in (wood.folder / "ideas").iterdir():
        if not path.name.startswith(("cheat", "word")):
            path.unlink()
    forking = wood.folder / "ideas" / "cheat-forks-sleepers.patch"
    forking.write_text(forking.read_text("utf-8").replace("1000.25", SLEEP_S), "utf-8")
    text = wood.folder / "start" / "text.txt"
    text.write_bytes(text.read_bytes()[: text.stat().st_size // 3])  # well within the limit
    wood.write("tree.toml", COMPRESSOR.read_text("utf-8"))
    words = ("--max-depth", "1", "--max-parallel-evals", "2", "--set", "score.timeout_s=8")
    result = wood.run("r", *words)
    assert result.code == 0, result
    assert wood.verdicts("r") == {
        "cheat-edits-the-scorer.patch": "tampered",
        "cheat-forks-sleepers.patch": "timeout",
        "cheat-reports-nan.patch": "score-invalid",
        "cheat-shadows-a-module.patch": "regressed",
        "cheat-writes-a-result-at-exit.patch": "tampered",
        "word-table.patch": "promoted n1",
    }
    assert sleepers() == []
    assert ideas.is_dir()
    assert not (wood.folder / "r" / "attempts").exists()


RESULTS = {
    "nan": ('{"score": NaN}', "score-invalid"),
    "infinity": ('{"score": 1e999}', "score-invalid"),
    "boolean": ('{"score": true}', "score-invalid"),
    "text": ('{"score": "9"}', "score-invalid"),
    "missing": ('{"metrics": {}}', "score-invalid"),
    "unknown": ('{"score": 9, "scorr": 1}', "score-invalid"),
    "twice": ('{"score": 9, "score": 99}', "score-invalid"),
    "nothing": ("", "score-invalid"),
    "cut": ('{"score": 9', "score-invalid"),
    "rows": ('{"score": 99, "rows": {"ok": 2, "expected": 3}}', "incomplete"),
    "long": ('{"score": 99.000000000000000000000000000001}', "promoted n1"),
}
SAYING = """
import os, pathlib
path = pathlib.Path("said.json")
text = path.read_text() if path.exists() else '{"score": 1}'
if text:
    open(os.environ["WEFT_RESULT_FILE"], "w").write(text)
"""


def test_results_that_are_no_score_are_refused_by_name(wood: Wood) -> None:
    wood.plant(score=SAYING)
    for path in (wood.folder / "ideas").iterdir():
        path.unlink()
    for name, (text, _) in RESULTS.items():
        body = f"FILE: said.json\n<<<<<<< SEARCH\n=======\n{text}\n>>>>>>> REPLACE\n"
        if not text:
            body = body.replace("\n\n>>>>", "\n \n>>>>")
        wood.write(f"ideas/{name}.md", body)
    wood.run("r", "--max-parallel-evals", "2")
    assert wood.verdicts("r") == {f"{n}.md": verdict for n, (_, verdict) in RESULTS.items()}
    node = wood.load("r").history.nodes[1]
    assert node.result.score == "99.000000000000000000000000000001"


def test_candidate_that_rewrites_the_scorer_while_it_runs_is_tampered(wood: Wood) -> None:
    score = SCORE + "import os\nif os.path.exists('evil'): open('score.py', 'a').write('#')\n"
    wood.plant(score=score)
    text = "FILE: evil\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n"
    wood.write("ideas/evil.md", text)
    wood.run("r")
    assert wood.verdicts("r")["evil.md"] == "tampered"


def test_candidate_that_deletes_or_renames_the_scorer_is_tampered(wood: Wood) -> None:
    wood.plant()
    lines = SCORE.splitlines(keepends=True)
    body = "".join(f"-{line}" for line in lines)
    head = "diff --git a/score.py b/score.py\ndeleted file mode 100644\n--- a/score.py\n"
    wood.write("ideas/gone.patch", f"{head}+++ /dev/null\n@@ -1,{len(lines)} +0,0 @@\n{body}")
    moved = "diff --git a/score.py b/other.py\nsimilarity index 100%\nrename from score.py\n"
    wood.write("ideas/moved.patch", f"{moved}rename to other.py\n")
    assert wood.run("r").code == 0
    verdicts = wood.verdicts("r")
    assert (verdicts["gone.patch"], verdicts["moved.patch"]) == ("tampered", "tampered")


def test_idea_that_leads_out_through_a_link_is_a_conflict(wood: Wood) -> None:
    wood.plant()
    (wood.folder / "start" / "link").symlink_to("../../..")
    text = "FILE: link/out\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n"
    wood.write("ideas/away.md", text)
    wood.write("ideas/far.patch", PATCH_OUT)
    wood.run("r")
    verdicts = wood.verdicts("r")
    assert (verdicts["away.md"], verdicts["far.patch"]) == ("apply-conflict", "apply-conflict")


PATCH_OUT = """--- /dev/null
+++ b/link/evil
@@ -0,0 +1 @@
+x
"""


def test_time_limit_kills_grandchildren_and_exit_codes_have_names(wood: Wood) -> None:
    score = SCORE + CODES
    wood.plant(score=score)
    for code in (3, 75, 124, 125, 127):
        text = f"FILE: code\n<<<<<<< SEARCH\n=======\n{code}\n>>>>>>> REPLACE\n"
        wood.write(f"ideas/code-{code}.md", text)
    start_s = time.monotonic()
    wood.run("r", "--max-parallel-evals", "2", "--eval-retries", "1")
    assert time.monotonic() - start_s < 200
    verdicts = wood.verdicts("r")
    assert {n: v for n, v in verdicts.items() if n.startswith("code")} == {
        "code-3.md": "score-invalid",
        "code-75.md": "score-invalid",
        "code-124.md": "timeout",
        "code-125.md": "skipped",
        "code-127.md": "command-broken",
    }
    tree_run = wood.load("r")
    attempts = {e.idea.name: tree_run.timing[e.eval_id].attempts for e in tree_run.history.evals}
    assert attempts["code-75.md"] == attempts["code-3.md"] + 1


CODES = """
import sys
if os.path.exists("code"):
    sys.exit(int(open("code").read()))
"""


def test_strict_depth_ends_at_the_first_failure_whatever_runs_beside(wood: Wood) -> None:
    wood.plant()
    wood.write("ideas/m-bad.md", blocks("b", 99, 1))
    results = [
        wood.run(f"r{n}", "--strict-fail-depth", "--max-parallel-evals", str(n)) for n in (1, 3)
    ]
    assert [t.code for t in results] == [4, 4]
    assert wood.ledger("r1") == wood.ledger("r3")
    assert wood.verdicts("r1")["up-b.md"] == "dropped"


def test_money_is_judged_in_eval_order(wood: Wood) -> None:
    score = SCORE.replace('"rows"', '"cost": {"usd": 0.4}, "rows"')
    wood.plant(score=score)
    results = [
        wood.run(f"r{n}", "--set", 'max_usd="0.8"', "--max-parallel-evals", str(n)) for n in (1, 3)
    ]
    assert [t.code for t in results] == [0, 0]
    assert wood.ledger("r1") == wood.ledger("r3")
    assert wood.verdicts("r3")["up-b.md"] == "dropped"
    assert wood.load("r3").history.stopped == "max-usd: 0.8 of 0.8 USD are spent"


PIPELINE = (
    CONFIG
    + """
[implement]
argv = ["{python}", "-I", "{work}/agent.py", "{idea_file}"]
[review]
argv = ["{python}", "-I", "{work}/review.py"]
[sweep]
argv = ["{python}", "-I", "{work}/sweep.py"]
"""
)
AGENT = """
import json, os, pathlib, sys
said = pathlib.Path(os.environ["WEFT_FEEDBACK_FILE"]).read_text()
body = json.load(open("params.json"))
body["a"] = 3 if said else 2
body["idea"] = pathlib.Path(sys.argv[1]).read_text().strip()
json.dump(body, open("params.json", "w"))
"""
REVIEW = """
import json, os
good = json.load(open("params.json"))["a"] == 3
print(json.dumps({"approved": good, "feedback": "" if good else "more, please"}))
"""
SWEEP = 'print(\'{"rows": {"ok": 2, "expected": 2}}\')\n'


def test_four_commands_with_a_review_that_rejects_once(wood: Wood) -> None:
    config = PIPELINE.replace("max_depth = 1", "max_depth = 1\nreview_rounds = 2")
    wood.plant(config.replace("{work}", str(wood.folder)))
    for name, text in (("agent.py", AGENT), ("review.py", REVIEW), ("sweep.py", SWEEP)):
        wood.write(name, text)
    for path in (wood.folder / "ideas").iterdir():
        path.unlink()
    wood.write("ideas/think.md", "Think harder.")
    wood.write("ideas/rest.md", "Rest a while.")
    result = wood.run("r", "--max-parallel-evals", "2", "--json")
    assert result.code == 0, result
    assert result.json["answer"]["best_score"] == "32"
    rounds = [len(e.keys) for e in wood.load("r").history.evals]
    assert rounds == [6, 6]
    once = wood.run("s", "--set", "review_rounds=1")
    assert once.code == 4
    assert set(wood.verdicts("s").values()) == {"review-rejected"}


def test_hostile_repository_runs_nothing_of_its_own(wood: Wood) -> None:
    wood.plant(CONFIG.replace('files = "start"', 'repo = "start"'))
    start, canary = wood.folder / "start", wood.folder / "canary"
    bite = f"sh -c 'touch {canary}'"
    wood.write("start/.gitattributes", "* filter=bite diff=bite\n")
    wood.write("start/.gitmodules", '[submodule "x"]\npath = x\nurl = ext::' + bite + "\n")
    git(start, "init", "-q")
    git(start, "add", "-A")
    git(start, "commit", "-qm", "one")
    for name in ("filter.bite.clean", "filter.bite.smudge", "diff.bite.textconv",
                 "diff.external", "core.fsmonitor", "core.sshCommand", "alias.apply",
                 "credential.helper", "core.pager", "core.editor"):  # fmt: skip
        git(start, "config", name, bite)
    for hook in ("post-checkout", "pre-commit", "post-index-change", "reference-transaction"):
        path = start / ".git" / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\ntouch {canary}\n")
        path.chmod(0o755)
    (start / "score.py").touch()
    before = fingerprint(start)
    result = wood.run("r")
    assert result.code == 0, result
    assert fingerprint(start) == before
    assert wood.weft("tree", "export", "r", "--repo", "start").code == 0
    assert not Path(canary).exists()
