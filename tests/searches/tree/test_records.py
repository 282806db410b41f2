"""Evals as records: named fields, lifecycle columns, every failed attempt with its error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.searches.tree.conftest import CONFIG, SCORE, Wood, blocks
from tests.searches.tree.test_runs import git

pytestmark = pytest.mark.xdist_group("tree-records")
FIELDS = ["eval_id", "parent_node_id", "idea_path", "depth", "task_state"]
LIFECYCLE = ["queued_at", "started_at", "finished_at", "worker_pid", "worker_started", "node",
             "gpu", "attempt", "error"]  # fmt: skip
ERROR = ["stage", "type", "message", "attempt", "retriable", "exit_code", "log_tail"]
FLAKY = (
    SCORE
    + """
import sys
if os.path.exists("code"):
    print("it is", open("code").read(), file=sys.stderr)
    sys.exit(int(open("code").read()))
"""
)


def new_file(name: str, text: str) -> str:
    return f"FILE: {name}\n<<<<<<< SEARCH\n=======\n{text}\n>>>>>>> REPLACE\n"


def test_records_have_the_fields_of_an_eval_and_its_lifecycle(wood: Wood) -> None:
    wood.plant(score=FLAKY)
    wood.write("ideas/code.md", new_file("code", "75"))
    wood.write("ideas/up-b-again.md", "Other words. " + blocks("b", 2, 7))
    result = wood.run("r", "--eval-retries", "1", "--json")
    assert result.code == 0, result
    records = {e["idea_path"]: e for e in result.json["evals"]}
    assert list(records["up-a.md"])[:14] == FIELDS + LIFECYCLE
    good = records["up-a.md"]
    assert (good["eval_id"], good["parent_node_id"], good["depth"]) == (3, 0, 1)
    assert (good["task_state"], good["error"], good["attempt"]) == ("completed", None, 1)
    assert good["queued_at"] <= good["started_at"] <= good["finished_at"]
    assert good["worker_pid"] > 0 < good["worker_started"]
    assert records["up-b.md"]["same_as"] == records["up-b-again.md"]["eval_id"]
    listed = wood.weft("tree", "evals", "r", "--json").json
    assert listed["evals"] == result.json["evals"]
    assert [n["expanded"] for n in listed["nodes"]] == [True, False, False]
    assert "up-a.md: promoted n1" in wood.weft("tree", "evals", "r").out


def test_every_failed_attempt_has_an_error_with_all_fields(wood: Wood) -> None:
    wood.plant(score=FLAKY)
    wood.write("ideas/code.md", new_file("code", "75"))
    wood.write("ideas/bad.md", blocks("b", 99, 1))
    wood.write("ideas/same.md", blocks("a", 1, 1))
    wood.run("r", "--eval-retries", "1")
    records = wood.weft("tree", "evals", "r", "--json").json["evals"]
    by_idea = {e["idea_path"]: e for e in records}
    errors = by_idea["code.md"]["errors"]
    assert [list(e) for e in errors] == [ERROR, ERROR]
    assert [(e["attempt"], e["retriable"], e["exit_code"]) for e in errors] == [
        (1, True, 75),
        (2, True, 75),
    ]
    assert by_idea["code.md"]["error"] == errors[1]
    assert (errors[1]["stage"], errors[1]["type"]) == ("score", "score-invalid")
    assert "it is 75" in errors[1]["message"]
    assert "it is 75" in errors[1]["log_tail"]
    kinds = {name: e["error"] and e["error"]["type"] for name, e in by_idea.items()}
    assert (kinds["bad.md"], kinds["same.md"]) == ("apply-conflict", "no-change")
    assert kinds["up-a.md"] is None
    assert "there 0 times" in by_idea["bad.md"]["error"]["message"]
    why = wood.weft("tree", "why", "r", f"e{by_idea['code.md']['eval_id']}").out
    assert "attempt 1 of score: score-invalid, retried: it is 75" in why
    ledger = (wood.folder / "r" / "ledger.jsonl").read_text("utf-8")
    assert "it is 75" not in ledger


def test_interrupted_run_has_records_in_their_states_and_nodes_not_expanded(wood: Wood) -> None:
    wood.plant(CONFIG + '[sweep]\nargv = ["./not-there"]\n')
    wood.write("ideas/bad.md", blocks("b", 99, 1))
    assert wood.run("r").code == 130
    report = wood.weft("tree", "evals", "r", "--json").json
    states = {e["idea_path"]: e["task_state"] for e in report["evals"]}
    assert states == {
        "bad.md": "failed", "down-b.md": "queued", "up-a.md": "queued", "up-b.md": "queued",
    }  # fmt: skip
    assert [n["expanded"] for n in report["nodes"]] == [False]


def test_commits_of_nodes_and_rejected_evals_have_names_in_the_runs_repository(wood: Wood) -> None:
    wood.plant()
    assert wood.run("r").code == 0
    repository = wood.folder / "r" / "repo.git"
    named = dict(line.split()[::-1] for line in git(repository, "show-ref").splitlines())
    history = wood.load("r").history
    assert {f"refs/weft/n{n.node_id}": n.commit for n in history.nodes}.items() <= named.items()
    [rejected] = [e for e in history.evals if e.verdict == "regressed"]
    assert '+  "b": 1' in git(repository, "show", f"refs/weft/e{rejected.eval_id}")
    assert git(repository, "worktree", "list").count("\n") == 1
    (repository / "refs" / "weft" / "e1.lock").touch()  # as a killed command leaves it
    assert wood.run("r", "--report-only").code == 0
    assert not (repository / "objects" / "info" / "alternates").exists()


def test_rejected_worktrees_and_failed_folders_stay_when_asked(wood: Wood) -> None:
    failing = FLAKY.replace("import sys", "import sys\nopen('left', 'w').write('behind')")
    wood.plant(score=failing)
    wood.write("ideas/code.md", new_file("code", "3"))
    assert wood.run("plain").code == 0
    assert not (wood.folder / "plain" / "kept").exists()
    assert wood.run("r", "--keep-rejected-worktrees", "--keep-failed-artifacts").code == 0
    kept_folder = wood.folder / "r" / "kept"
    [rejected] = [e for e in wood.load("r").history.evals if e.verdict == "regressed"]
    assert json.loads((kept_folder / rejected.name / "params.json").read_text()) == {"a": 1, "b": 1}
    assert [p.read_text() for p in kept_folder.glob("*-1/worktree/left")] == ["behind"]
    assert wood.ledger("r") == wood.ledger("plain")
    assert wood.weft("verify", "r").code == 0


def test_resume_keeps_and_summarises_as_the_first_command_would(wood: Wood) -> None:
    wood.plant(score=FLAKY)
    wood.write("ideas/code.md", new_file("code", "3"))
    keep = ("--keep-rejected-worktrees", "--keep-failed-artifacts")
    assert wood.run("ref", *keep).code == 0
    assert wood.run("r", *keep, "--wall-limit", "0.1").code == 130
    assert not (wood.folder / "r" / "TREE_SUMMARY.md").exists()
    assert wood.weft("resume", "r", "-q").code == 0
    assert wood.summary("r") == wood.summary("ref")
    assert graph_of(wood.folder / "r") == graph_of(wood.folder / "ref")
    names = [sorted(p.name for p in (wood.folder / r / "kept").iterdir()) for r in ("r", "ref")]
    assert names[0] == names[1] != []


def graph_of(run: Path) -> str:
    return (run / "TREE_GRAPH.md").read_text("utf-8")


SHELL = CONFIG.split("[score]", maxsplit=1)[0]


def test_shell_line_runs_only_when_asked_for_and_gets_names_from_the_environment(
    wood: Wood,
) -> None:
    wood.plant(
        SHELL
        + '[score]\nshell = \'echo "{\\"score\\": $(grep -o [0-9] params.json | head -1)}"\'\n'
    )
    result = wood.run("r", "--json")
    assert result.code == 0, result
    assert result.json["answer"]["best_score"] == "5"
    wood.write("tree.toml", SHELL + "[score]\nshell = 'cat {idea_file}'\n")
    refusal = wood.run("s")
    assert (refusal.code, refusal.out) == (3, "")
    assert "{idea_file} cannot be used in shell; write $WEFT_IDEA_FILE" in refusal.err
    wood.write("tree.toml", SHELL + "[score]\nshell = 'true'\nargv = ['true']\n")
    assert "give either argv or shell" in wood.run("s").err
