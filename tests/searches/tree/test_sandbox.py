"""The sandbox of stages: required, optional, missing, and missing after it was available."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.searches.tree.conftest import CONFIG, SCORE, Wood
from tests.support.sandboxes import require_sandbox
from weft.worker import sandbox

pytestmark = pytest.mark.xdist_group("tree-sandbox")
WAITING = """
import os, time
while not os.path.exists(os.environ["WEFT_WORK_DIR"] + "/go"):
    time.sleep(0.01)
"""
PROBLEM = "bwrap does not work here: bwrap: No permissions to create new namespace"


def break_bwrap(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a fake bubblewrap first in PATH that fails as the real one does in a container."""
    program = folder / "programs" / "bwrap"
    program.parent.mkdir()
    line = "echo bwrap: No permissions to create new namespace >&2"
    program.write_text(f"#!/bin/sh\n{line}\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")


def events(run: Path) -> dict[str, str]:
    with closing(sqlite3.connect(f"file:{run}/manifest.sqlite?mode=ro", uri=True)) as base:
        return dict(base.execute("SELECT kind, detail FROM events"))


def test_required_without_bubblewrap_starts_nothing(
    wood: Wood, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_bwrap(wood.folder, monkeypatch)
    wood.plant(CONFIG + 'sandbox = "required"\n')
    result = wood.run("r")
    assert result.code == 75, result
    assert result.err.count("\n") == 1
    assert f'sandbox = "required": {PROBLEM}' in result.err
    assert not (wood.folder / "r").exists()


def test_auto_goes_on_without_and_says_so_everywhere(
    wood: Wood, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_sandbox()
    wood.plant()
    confined = wood.run("confined")
    assert (confined.code, confined.err) == (0, "")
    assert events(wood.folder / "confined")["sandbox"].endswith("/bwrap")
    break_bwrap(wood.folder, monkeypatch)
    quiet = wood.run("quiet")
    assert (quiet.code, quiet.err) == (0, "")
    result = wood.run_with_warnings("r")
    assert result.code == 0, result
    assert result.err.count(f"scores not isolated: commands run without a sandbox, {PROBLEM}") == 1
    assert events(wood.folder / "r")["sandbox-missing"] == PROBLEM
    assert wood.ledger("r") == wood.ledger("confined"), "what held must not decide anything"
    for out, is_open in (("r", True), ("confined", False)):
        texts = [
            wood.weft("tree", "why", out, "e1").out,
            wood.weft("status", out).out,
            (wood.folder / out / "TREE_SUMMARY.md").read_text("utf-8"),
        ]
        assert ["scores not isolated" in text for text in texts] == [is_open] * 3, out


def test_off_is_the_configs_own_word(wood: Wood) -> None:
    wood.plant(CONFIG + 'sandbox = "off"\n')
    assert wood.run("r").err == ""
    why = wood.weft("tree", "why", "r", "e1").out
    assert 'scores not isolated: [score] has sandbox = "off"' in why
    assert "sandbox" not in events(wood.folder / "r")


def test_a_confined_run_does_not_go_on_unconfined_without_a_word(
    wood: Wood, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_sandbox()
    wood.plant(score=WAITING + SCORE)
    assert wood.run("r", "--wall-limit", "0.5").code == 130
    break_bwrap(wood.folder, monkeypatch)
    wood.write("go", "")
    before = events(wood.folder / "r")
    for words in (("tree", "run", "tree.toml", "--out", "r", "-q"), ("resume", "r", "-q")):
        result = wood.weft(*words)
        assert result.code == 3, result
        assert "its commands were sandboxed and cannot be here" in result.err
        assert "--accept sandbox" in result.err
        assert events(wood.folder / "r") == before
    assert wood.weft("resume", "r", "-q", "--accept", "sandbox").code == 0
    assert events(wood.folder / "r")["sandbox-accepted"] == PROBLEM
    assert wood.weft("verify", "r").code == 0


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("network = true", "score.network: what is scored gets no network"),
        ('sandbox = "yes"', "score.sandbox"),
        ("readable = [1]", "score.readable.0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wood: Wood, line: str, problem: str) -> None:
    wood.plant(CONFIG + line + "\n")
    result = wood.run("r")
    assert result.code == 3
    assert problem in result.err


AGENT = """
import os, pathlib, sys
pathlib.Path("params.json").write_text('{\\n  "a": 9,\\n  "b": 2\\n}\\n')
pathlib.Path(os.environ["WEFT_TURNS_FILE"]).write_text('{"role": "assistant", "text": "did it"}\\n')
lines = open("/proc/net/dev").read().count(":")
print(lines, os.path.exists(os.environ["WEFT_OUT_DIR"] + "/../../../manifest.sqlite"))
"""


def test_an_agent_in_a_sandbox_changes_its_worktree_and_has_network_by_declaration(
    wood: Wood,
) -> None:
    require_sandbox()
    own = '[implement]\nargv = ["{python}", "-I", "{work_dir}/agent.py"]\nsandbox = "required"\n'
    memory = CONFIG.replace("max_depth = 1", 'max_depth = 1\nmemory = "replay"')
    wood.plant(memory + own)
    wood.write("agent.py", AGENT)
    wood.write("ideas/think.md", "make it better")
    wood.write("online.toml", memory + own + "network = true\n")
    interfaces = Path("/proc/net/dev").read_text().count(":")
    for out, config, count in (("r", "tree.toml", 1), ("n", "online.toml", interfaces)):
        result = wood.run(out, config=config)
        assert result.code == 0, result
        printed = {p.read_text() for p in (wood.folder / out / "logs").rglob("*.out")} - {""}
        assert printed == {f"{count} False\n"}
        assert "did it" in wood.weft("tree", "transcript", out, "n1").out


NOBODY = 65534


def test_probe_of_a_user_without_privileges_really_starts_bubblewrap(
    require_tool: Callable[[str], str],
) -> None:
    """The probe agrees with bubblewrap itself: being installed does not count as usable."""
    program = require_tool("bwrap")
    become = (
        require_tool("setpriv"), f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
        "--no-new-privs",
    )  # fmt: skip
    user = become if os.geteuid() == 0 else ()
    bare = (program, "--ro-bind", "/", "/", "--unshare-all", "--", "true")
    works = subprocess.run([*user, *bare], cwd="/", check=False).returncode == 0
    source = Path(sandbox.__file__).read_text("utf-8")
    result = subprocess.run(
        [*user, shutil.which("python3", path=os.defpath) or sys.executable, "-"],
        input=f"{source}\nfound = find_isolation()\nprint(found.program, found.problem, sep=';')\n",
        cwd="/", env={"PATH": f"{Path(program).parent}:{os.defpath}", "HOME": "/nonexistent"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found_program, _, problem = result.stdout.strip().partition(";")
    assert bool(found_program) == works, (result.stdout, works)
    assert bool(problem) != works
