"""An agent with a key: no file of the run contains its value, and no scorer finds it in /proc."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from tests.searches.tree.conftest import CONFIG, SCORE, Wood
from tests.support.sandboxes import require_sandbox

pytestmark = [pytest.mark.xdist_group("tree-keys"), pytest.mark.usefixtures("started_workers")]
KEY = "sk-e2e-0123456789abcdef"
AGENT = """
import json, os, pathlib, sys, time
key = os.environ["API_KEY"]
half = len(key) // 2
for stream in (1, 2):
    os.write(stream, b"the key is " + key[:half].encode())
    time.sleep(0.05)
    os.write(stream, key[half:].encode() + b".\\n")
turn = {"role": "assistant", "text": "I used " + key}
pathlib.Path(os.environ["WEFT_TURNS_FILE"]).write_text(json.dumps(turn) + "\\n")
idea = pathlib.Path(os.environ["WEFT_IDEA_FILE"]).read_text().split()
pathlib.Path("params.json").write_text('{\\n  "a": %s,\\n  "b": 2\\n}\\n' % idea[0])
if "leak" in idea:
    pathlib.Path("config.ini").write_text("key = " + key)
if "result" in idea:
    body = json.dumps({"notes": key, "cost": {"usd": 0}})
    pathlib.Path(os.environ["WEFT_RESULT_FILE"]).write_text(body)
if "fail" in idea:
    sys.exit("failed with " + key)
if "name" in idea:
    pathlib.Path("a-" + key).touch()
"""
SPY = """
import glob
def seen(pattern):
    return sum(b"sk-" + b"e2e-" in open(path, "rb").read() for path in readable(pattern))
def readable(pattern):
    for path in glob.glob(pattern):
        try:
            open(path, "rb").read()
            yield path
        except OSError:
            pass
def above(pid):
    while pid > 1:
        stat = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
        pid = int(stat[1])
        words = open(f"/proc/{pid}/cmdline").read()
        if "weft" not in words and "supervisor" not in words:
            return
        yield pid
        if "weft.worker" in words:
            return
"""
COUNT_ALL = 'found = seen("/proc/[0-9]*/environ") + seen("/proc/[0-9]*/cmdline")\n'
COUNT_ABOVE = """
import os
found = sum(seen(f"/proc/{pid}/{name}") for pid in above(os.getpid())
            for name in ("environ", "cmdline"))
"""
IMPLEMENT = """
[implement]
argv = ["{python}", "-I", "{work_dir}/agent.py"]
env_from = ["API_KEY"]
"""


def plant(wood: Wood, monkeypatch: pytest.MonkeyPatch, count: str, score: str = "") -> None:
    monkeypatch.setenv("API_KEY", KEY)
    config = CONFIG.replace("max_depth = 1", 'max_depth = 2\nmemory = "replay"')
    wood.plant(config + score + IMPLEMENT, SPY + count + SCORE.replace('"rows"', FOUND))
    for path in (wood.folder / "ideas").iterdir():
        path.unlink()
    wood.write("agent.py", AGENT)
    ideas = ("3", "5", "6 leak", "7 result", "8 fail", "9 name")
    for idea in ideas:
        wood.write(f"ideas/{idea.replace(' ', '-')}.md", f"{idea}\n")


FOUND = '"metrics": {"found": found}, "rows"'


def files_with_the_key(folder: Path) -> list[str]:
    """Every file with the key in its name or bytes; git's compressed objects are decompressed."""
    paths = []
    for path in folder.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        if path.is_relative_to(folder / "repo.git" / "objects") and data[:1] == b"x":
            data = zlib.decompress(data)
        if KEY.encode() in data or KEY in path.name:
            paths.append(str(path.relative_to(folder)))
    return paths


def test_a_key_reaches_the_agent_and_nothing_else(
    wood: Wood, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_sandbox()
    plant(wood, monkeypatch, COUNT_ALL)
    result = wood.run("r", "--max-parallel-evals", "2", "--keep-failed-artifacts")
    assert result.code == 0, result
    history = wood.load("r").history
    first = [e for e in history.evals if e.depth == 1]
    verdicts = {e.idea.name: e.error.type if e.error else e.score for e in first}
    assert verdicts == {
        "3.md": "32", "5.md": "52", "6-leak.md": "secret-in-result",
        "7-result.md": "secret-in-result", "8-fail.md": "implement-failed",
        "9-name.md": "secret-in-result",
    }  # fmt: skip
    assert files_with_the_key(wood.folder / "r") == []
    assert KEY not in result.out + result.err
    for node in history.nodes:
        assert node.result is not None
        assert node.result.recorded["metrics"] == {"found": "0"}
    logs = [p.read_text() for p in (wood.folder / "r" / "logs").rglob("*.*") if p.stat().st_size]
    assert sum(text.count("the key is [API_KEY].") for text in logs) >= 12
    assert "I used [API_KEY]" in wood.weft("tree", "transcript", "r", "n1").out
    errors = wood.weft("tree", "evals", "r", "--json").out
    assert "the value of API_KEY is in" in errors
    assert "failed with [API_KEY]" in errors


def test_workers_and_supervisors_have_no_key_in_their_environment(
    wood: Wood, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(wood, monkeypatch, COUNT_ABOVE, 'sandbox = "off"\n')
    assert wood.run("r", "--max-depth", "1").code == 0
    for node in wood.load("r").history.nodes:
        assert node.result is not None
        assert node.result.recorded["metrics"] == {"found": "0"}
