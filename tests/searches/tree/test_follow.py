"""What a run shows while it works and afterwards: events, summaries, live scores, attempts."""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.searches.tree.conftest import CONFIG, SCORE, Wood
from weft.errors import WeftError
from weft.inspect.report.view import RunView
from weft.searches.tree.load import TreeRun
from weft.searches.tree.search import NAME

pytestmark = pytest.mark.xdist_group("tree-follow")
WAITING = (
    "import json, os, pathlib, time\n"
    "body = json.load(open('params.json'))\n"
    "go = pathlib.Path(os.environ['GO'] + f\"-{body['a']}-{body['b']}\")\n"
    "while body['b'] == 7 and not go.exists(): time.sleep(0.01)\n" + SCORE
)


def wait_until(wood: Wood, out: str, condition: Any) -> TreeRun:
    while True:
        try:
            tree_run = wood.load(out)
            if condition(tree_run):
                return tree_run
        except (WeftError, OSError, StopIteration):
            pass
        time.sleep(0.1)


def two_are_scored(tree_run: TreeRun) -> bool:
    """Whether e1 and e2 have scores while e3 is being scored."""
    live = {n: (stage.stage, stage.score) for n, stage in tree_run.live.items()}
    scored = live == {1: ("score", "11"), 2: ("score", "52"), 3: ("score", None)}
    return scored and tree_run.live[3].state == "running"


def events(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_run_shows_scores_summaries_and_events_while_it_works(wood: Wood) -> None:
    config = CONFIG.replace("max_depth = 1", "max_depth = 2\nbeam_width = 1")
    wood.plant(f"{config}env = {{ GO = '{wood.folder}/go' }}\n", WAITING)
    words = ("tree", "run", "tree.toml", "--out", "r", "-q", "--events", "events.jsonl")
    with wood.begin(*words) as process:
        wait_until(wood, "r", two_are_scored)
        output = wood.weft("status", "r").out
        assert "scored so far: e1 11, e2 52" in output
        assert "running: e3 score" in output
        scores = {
            e["eval_id"]: e["score"]
            for e in wood.weft("tree", "evals", "r", "--json").json["evals"]
        }
        assert scores == {1: "11", 2: "52", 3: None}
        (wood.folder / "go-1-7").touch()
        wait_until(wood, "r", lambda r: len(r.history.frontiers) == 2 and 5 in r.live)
        summary = wood.folder / "r" / "TREE_SUMMARY.md"
        while not summary.exists():
            assert process.poll() is None
            time.sleep(0.1)
        assert "| 1 | 3 | 3 | 0 | 0 | 1 | 52 |" in summary.read_text()
        assert "Under way." in summary.read_text()
        (wood.folder / "go-5-7").touch()
    assert process.returncode == 0
    check_events(events(wood.folder / "events.jsonl"))
    before = (wood.folder / "events.jsonl").read_text()
    assert wood.run("r", "--events", "events.jsonl").code == 0
    assert (wood.folder / "events.jsonl").read_text() == before, "nothing happened twice"


def test_resumed_run_writes_events_and_summaries_as_the_first_command_does(wood: Wood) -> None:
    wood.plant(CONFIG.replace("max_depth = 1", "max_depth = 2\nbeam_width = 1"))
    assert wood.run("whole", "--events", "whole.jsonl").code == 0
    assert wood.run("r", "--events", "r.jsonl", "--wall-limit", "0.1").code == 130
    assert not (wood.folder / "r" / "TREE_SUMMARY.md").exists()
    assert wood.weft("resume", "r", "-q", "--events", "r.jsonl").code == 0
    check_events(events(wood.folder / "r.jsonl"))
    assert wood.summary("r") == wood.summary("whole")
    other = wood.weft("resume", "r", "--events", "none/r.jsonl")
    assert other.code == 3
    assert "--events none/r.jsonl: No such file or directory" in other.err


def check_events(happened: list[dict[str, Any]]) -> None:
    counts = Counter(event["event"] for event in happened)
    assert counts == {
        "root-scored": 1, "depth-planned": 2, "stage-done": 10, "eval-scored": 5, "eval-done": 5,
        "promoted": 2, "depth-done": 2, "stopped": 1,
    }  # fmt: skip
    assert len({event["id"] for event in happened}) == len(happened)
    assert happened[0]["scores"] == ["12"]
    assert happened[-1]["reason"] == "max-depth"
    times = [event["observed_at"] for event in happened]
    assert times == sorted(times)
    scored = next(n for n, e in enumerate(happened) if e["event"] == "eval-scored")
    first_done = next(n for n, e in enumerate(happened) if e["event"] == "depth-done")
    assert scored < first_done


def test_root_that_cannot_be_scored_is_explained_and_scored_again(wood: Wood) -> None:
    missing = f"print(open({str(wood.folder / 'data')!r}).read())\n"
    wood.plant(score=missing + SCORE)
    result = wood.run("r")
    assert result.code == 4
    [root] = [line for line in result.out.splitlines() if line.startswith("root ")]
    assert root.startswith("root    score-invalid, exit code 1: FileNotFoundError: ")
    [log] = [line for line in result.out.splitlines() if line.startswith("log ")]
    assert "No such file" in wood.weft(*log.split()[2:]).out
    assert "again   weft resume r --retry-failed --out NEW" in result.out
    assert "stopped root-unscored: " in result.out
    assert "FileNotFoundError" in (wood.folder / "r" / "VALIDATION_REPORT.md").read_text()
    wood.write("data", "")
    assert wood.weft("resume", "r", "--retry-failed", "--out", "n").code == 0
    assert wood.load("n").history.root_scores == ["12"]
    assert wood.verdicts("n")["up-a.md"] == "promoted n1"


def test_times_are_sums_over_all_attempts_of_all_stages(wood: Wood) -> None:
    flaky = (
        "import os, sys, time\n"
        "if int(os.environ['WEFT_ATTEMPT']) < 3: time.sleep(0.05); sys.exit(75)\n" + SCORE
    )
    config = CONFIG.replace("max_depth = 1", "max_depth = 1\neval_retries = 2")
    wood.plant(config + '[sweep]\nargv = ["{python}", "-I", "{work_dir}/sweep.py"]\n')
    wood.write("sweep.py", flaky.replace('"score": body["a"] * 10 + body["b"], ', ""))
    result = wood.run("r", "--json")
    assert result.code == 0, result
    first = result.json["evals"][0]
    assert first["attempts_by_stage"] == {"implement": 1, "sweep": 3, "score": 1}
    assert first["attempts"] == 5
    view = RunView(wood.folder / "r", NAME)
    failed = [a.seconds or 0 for a in view.attempts() if a.key == first["keys"][1]]
    ended = [t.run_s or 0 for t in view.tasks() if t.key in first["keys"]]
    assert len(failed) == 2
    assert first["seconds"] == pytest.approx(sum(failed) + sum(ended))
    assert "| e1 | 5 (sweep 3) |" in (wood.folder / "r" / "TREE_SUMMARY.md").read_text()


def test_run_warns_of_what_validation_finds_and_names_files_that_are_no_ideas(wood: Wood) -> None:
    wood.plant(CONFIG.replace('["score.py"]', '["score.py", "none.txt"]'))
    wood.write("ideas/notes.rst", "x")
    wood.write("ideas/deep/more.md", "x")
    wood.write("ideas/up-c.md", (wood.folder / "ideas/up-b.md").read_text())
    result = wood.run_with_warnings("r", "--dry-run")
    assert "warning: ideas: not read, since they do not end in .md" in result.err
    assert ": deep, notes.rst" in result.err
    assert "warning: ideas: same text as another: up-c.md" in result.err
    assert "warning: protected: none.txt: no file of the root matches" in result.err
    assert wood.run("silent", "--dry-run", "-q").err == ""


def test_patches_of_export_are_applied_by_git_am(wood: Wood) -> None:
    wood.plant(CONFIG.replace("max_depth = 1", "max_depth = 2"))
    repo = wood.folder / "start"
    who = ("-c", "user.name=x", "-c", "user.email=x@example.com")

    def git(*words: str) -> str:
        result = subprocess.run(["git", *who, *words], cwd=repo, capture_output=True, check=True)
        return result.stdout.decode().strip()

    git("init", "-q")
    for message in ("one", "two"):
        (repo / message).write_text(message)
        git("add", ".")
        git("commit", "-qm", message)
    config = (wood.folder / "tree.toml").read_text()
    wood.write("tree.toml", config.replace('files = "start"', 'repo = "start"'))
    assert wood.run("r").code == 0
    best = wood.load("r").history.nodes[-1]
    exported = wood.weft("tree", "export", "r", "--patches", "series", "--json").json
    assert len(exported["commits"]) == 2
    series = sorted(str(path) for path in (wood.folder / "series").iterdir())
    git("am", "-q", *series)
    assert git("rev-parse", "HEAD^{tree}") == best.tree
    assert git("log", "-2", "--format=%s %an") == "up-b.md weft tree\nup-a.md weft tree"


def test_events_file_that_cannot_be_written_is_refused_before_anything(wood: Wood) -> None:
    wood.plant()
    result = wood.run("r", "--events", "none/events.jsonl")
    assert result.code == 3
    assert "--events none/events.jsonl: No such file or directory" in result.err
    assert not (wood.folder / "r").exists()
