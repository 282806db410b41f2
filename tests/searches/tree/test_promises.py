"""What users of other tools complain about, each as a promise that Weft keeps."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tests.searches.tree.conftest import CONFIG, SCORE, UNCONFINED, Wood
from tests.searches.tree.test_records import new_file
from tests.searches.tree.test_refusals import check_refused
from tests.searches.tree.test_runs import fingerprint
from tests.support.forked import BegunCommand

pytestmark = pytest.mark.xdist_group("tree-promises")
SLEEP_S = f"1000.{os.getpid()}"
"""Unique to this test run, since others may run at the same time."""
FORKS = f"""
import subprocess, time
if os.path.exists("evil"):
    for _ in range(2):
        subprocess.Popen(["setsid", "-f", "sleep", "{SLEEP_S}"])
    time.sleep(1000)
"""


def sleeping(seconds: str) -> list[int]:
    processes = psutil.process_iter(["cmdline"])
    return [p.pid for p in processes if (p.info["cmdline"] or [])[-2:] == ["sleep", seconds]]


def test_time_limit_ends_every_process_of_the_eval_and_no_other(wood: Wood) -> None:
    """All descendants die, not only the direct child, but no unrelated process that looks alike."""
    wood.plant(score=SCORE + FORKS)
    wood.write("ideas/evil.md", new_file("evil", "x"))
    with subprocess.Popen(["sleep", SLEEP_S]) as stranger:
        try:
            wood.run("r", "--set", "score.timeout_s=6")
            assert wood.verdicts("r")["evil.md"] == "timeout"
            assert sleeping(SLEEP_S) == [stranger.pid]
        finally:
            stranger.kill()


KILLS = """
import signal
here, place = os.getppid(), "{place}"
if body["a"] == 5 and not os.path.exists(place):
    open(place, "w").close()
    worker = int(open("/proc/%d/stat" % here).read().rpartition(")")[2].split()[1])
    os.kill(worker, signal.SIGKILL)
    signal.pause()
"""


def test_killed_worker_costs_one_attempt_and_not_the_search(wood: Wood) -> None:
    """The scorer kills the worker above its supervisor once."""
    place = wood.folder / "killed"
    wood.plant(UNCONFINED, SCORE + KILLS.replace("{place}", str(place)))
    result = wood.run("r", "--max-parallel-evals", "2", "--json")
    assert result.code == 0, result
    assert place.exists()
    assert wood.run("ref").code == 0  # the second time nothing is killed
    assert wood.ledger("r") == wood.ledger("ref")
    [record] = [e for e in result.json["evals"] if e["idea_path"] == "up-a.md"]
    assert [e["type"] for e in record["errors"]] == ["worker-killed-SIGKILL"]
    assert record["error"] is None


STALE = """
import json, os, pathlib, sys
place, result = pathlib.Path(os.environ["WEFT_OUT_DIR"]), os.environ["WEFT_RESULT_FILE"]
if not os.path.exists("again"):
    pathlib.Path(result).write_text('{"score": 1}')
elif os.environ["WEFT_ATTEMPT"] == "1":
    pathlib.Path(result).write_text('{"score": 99}')
    pathlib.Path("result.json").write_text('{"score": 99}')
    sys.exit(75)
"""


def test_files_of_an_earlier_attempt_or_of_the_candidate_are_never_scored(wood: Wood) -> None:
    wood.plant(score=STALE)
    wood.write("ideas/again.md", new_file("again", "x"))
    wood.write("ideas/own.md", new_file("again", "x") + new_file("result.json", '{"score": 99}'))
    wood.run("r", "--eval-retries", "1")
    verdicts = wood.verdicts("r")
    assert (verdicts["again.md"], verdicts["own.md"]) == ("score-invalid", "score-invalid")
    tree_run = wood.load("r")
    assert [tree_run.timing[e.eval_id].attempt for e in tree_run.history.evals][:1] == [2]


def test_two_starters_never_both_win_the_run(wood: Wood) -> None:
    gate = wood.folder / "gate"
    os.mkfifo(gate)
    wood.plant(score=f"open({str(gate)!r}).read()\n" + SCORE)
    with wood.begin("tree", "run", "tree.toml", "--out", "r", "-q") as first:
        with gate.open("w"):  # opens when the first run's scorer waits for it
            second = wood.apart("tree", "run", "tree.toml", "--out", "r", "-q")
            assert second.code == 75, second
            assert f"in use by pid {first.pid}" in second.err
            assert wood.apart("resume", "r", "-q").code == 75
        first.terminate()
        keep_open(gate, first)
    assert first.returncode == 130


def keep_open(gate: Path, process: BegunCommand) -> None:
    """Release every reader that waits at the gate, until the process has ended."""
    while process.poll() is None:
        try:
            os.close(os.open(gate, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:  # no reader is waiting now
            time.sleep(0.01)


def test_moved_run_goes_on_in_its_new_place(wood: Wood) -> None:
    wood.plant(CONFIG + '[sweep]\nargv = ["sh", "-c", "exec {work_dir}/sweep.sh"]\n')
    wait = 'while [ ! -e "$WEFT_WORK_DIR/go" ]; do sleep 0.02; done'
    wood.write("sweep.sh", f"#!/bin/sh\n{wait}\necho '{{}}'\n")
    with wood.begin("tree", "run", "tree.toml", "--out", "r", "-q") as process:
        while not (wood.folder / "r" / "repo.git" / "config").exists():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
    assert process.returncode == 130
    wood.write("go", "")
    for name in ("run.toml", "ledger.jsonl", "repo.git/config"):
        assert str(wood.folder) not in (wood.folder / "r" / name).read_text("utf-8"), name
    (wood.folder / "there").mkdir()
    (wood.folder / "r").rename(wood.folder / "there" / "moved")
    assert wood.run("ref").code == 0
    assert wood.run("there/moved").code == 0
    assert wood.ledger("there/moved") == wood.ledger("ref")


KEYS = """
import json, os, pathlib
seen = sorted(n for n, v in os.environ.items() if "s3cr3t" in v)
pathlib.Path("{place}").open("a").write(os.environ["WEFT_STAGE"] + ",".join(["", *seen]) + "\\n")
"""


def test_secrets_reach_the_stage_that_lists_them_and_nobody_else(
    wood: Wood, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = wood.folder / "seen"
    look = KEYS.replace("{place}", str(place))
    wood.plant(UNCONFINED + IMPLEMENT, look + SCORE)
    wood.write("agent.py", look + 'pathlib.Path("new").write_text(os.environ["WEFT_EVAL_ID"])\n')
    wood.write("start/wide.txt", "x")
    monkeypatch.setenv("LAB_KEY", "s3cr3t-one")
    monkeypatch.setenv("OTHER_KEY", "s3cr3t-two")
    assert wood.run("r").code == 1
    assert set(place.read_text().split()) == {"implement,LAB_KEY", "score"}
    files = [p for p in (wood.folder / "r").rglob("*") if p.is_file()]
    assert not [p for p in files if b"s3cr3t-" in p.read_bytes()]
    monkeypatch.delenv("LAB_KEY")
    result = wood.run("s")
    assert (result.code, result.out) == (3, "")
    assert "implement.env_from: the variable LAB_KEY is not set" in result.err


IMPLEMENT = """
[implement]
argv = ["{python}", "-I", "{work_dir}/agent.py"]
env_from = ["LAB_KEY"]
"""


def test_commands_are_told_what_the_contract_names(wood: Wood) -> None:
    names = [
        "RUN_ID", "EVAL_ID", "NODE_ID", "DEPTH", "ATTEMPT", "STAGE", "IDEA_FILE", "OUT_DIR",
        "RESULT_FILE", "PARENT_RESULT", "ROOT_RESULT", "SEED", "DEADLINE", "SLOT",
        "FEEDBACK_FILE",
    ]  # fmt: skip
    place = wood.folder / "told"
    tell = (
        "import json, os, time\n"
        f"open({str(place)!r}, 'w').write(json.dumps({{**os.environ, 'now': time.time()}}))\n"
    )
    idea = "assert os.path.exists(os.environ['WEFT_IDEA_FILE'])\n"
    wood.plant(UNCONFINED, tell + idea + SCORE)
    assert wood.run("r", "--json").json["evals"][0]["task_state"] == "completed"
    variables = json.loads(place.read_text())
    assert {f"WEFT_{name}" for name in names} <= variables.keys()
    assert (variables["WEFT_EVAL_ID"], variables["WEFT_NODE_ID"], variables["WEFT_DEPTH"]) == (
        "e3",
        "n0",
        "1",
    )
    assert variables["WEFT_RUN_ID"] in (wood.folder / "r" / "run.toml").read_text()
    assert 0 < int(variables["WEFT_DEADLINE"]) - variables["now"] <= 31
    assert Path(variables["WEFT_IDEA_FILE"]).name == "up-b.md"


def test_two_results_at_once_are_an_error(wood: Wood) -> None:
    wood.plant(score=SCORE + "if body['a'] == 5: print('{\"score\": 99}')\n")
    wood.run("r")
    assert wood.verdicts("r")["up-a.md"] == "score-invalid"
    [record] = [
        e for e in wood.weft("tree", "evals", "r", "--json").json["evals"] if e["score"] is None
    ]
    assert "there must be one" in record["error"]["message"]


PROMOTES = """
import os, time
from weft.searches.tree.history import Rule

def gate(seen):
    open("{place}", "a").close()
    while not os.path.exists("{place}.go"):
        time.sleep(0.01)
    return seen.rules
"""


def test_killed_during_promotion_repeats_nothing(wood: Wood) -> None:
    """The gate waits for a file, so the coordinator is killed in the middle of promoting."""
    place = wood.folder / "promoting"
    module = f"slow_{abs(hash(wood.folder))}"
    wood.plant(CONFIG.replace("direction", f'gate = "{module}:gate"\ndirection'))
    wood.write(f"{module}.py", PROMOTES.replace("{place}", str(place)))
    words = ["tree", "run", "tree.toml", "--out", "r", "-q", "--max-depth", "2"]
    with wood.begin(*words) as process:
        while not place.exists():
            assert process.poll() is None
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
    Path(f"{place}.go").touch()
    before = {p: data for p, data in fingerprint(wood.folder / "r").items() if "/logs/" in p}
    assert wood.apart(*words).code == 0
    assert wood.apart(*[w if w != "r" else "ref" for w in words]).code == 0
    assert wood.ledger("r") == wood.ledger("ref")
    assert before.items() <= fingerprint(wood.folder / "r").items()
    assert not (wood.folder / "r" / "attempts").exists()
    assert [e["attempts"] for e in wood.weft("tree", "evals", "r", "--json").json["evals"]] == [
        e["attempts"] for e in wood.weft("tree", "evals", "ref", "--json").json["evals"]
    ]


def test_idea_that_names_a_path_outside_is_refused_before_anything_runs(wood: Wood) -> None:
    wood.plant()
    for name, text in (
        ("away.md", new_file("../../out", "x")),
        ("far.md", new_file("/etc/out", "x")),
        ("gone.patch", "--- /dev/null\n+++ b/../../evil\n@@ -0,0 +1 @@\n+x\n"),
    ):
        path = wood.write(f"ideas/{name}", text)
        check_refused(wood, 3, [name, "outside the repository"])
        path.unlink()
