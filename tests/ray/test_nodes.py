"""`weft nodes` against real sshds: its report on each node, and what it leaves behind."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import platformdirs
import psutil
import pytest

from tests.ray.hosts import Hosts, entry, hosts_in
from tests.searches.tree.conftest import Wood
from tests.support.arcruns import TASKS, TINY, write_tasks
from tests.support.commands import Told
from tests.support.tools import require_tool
from tests.support.waiting import HANG_S
from tests.workers.lab import SLACK_S
from weft.searches.arc.kernels.compiled import KERNELS

THREE = ("rig1", "rig2", "rig3")
SIMULATED = ("--nodes", "nodes.json", "--simulate-nodes")
SCRIPT = """import json, sys; print(json.dumps({"said": sys.argv[1]}))"""


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    """Three machines with compiled kernels, as in CI."""
    require_tool("ssh")
    os.environ["PATH"] += ":/usr/sbin"
    require_tool("sshd")
    folder = Path(tempfile.mkdtemp(prefix="wh", dir="/tmp"))
    try:
        with hosts_in(folder) as started:
            for name in THREE:
                started.start(name)
                cache = started.home(name) / ".cache" / "weft"
                shutil.copytree(KERNELS.folder, cache / KERNELS.folder.name)
            yield started
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def desk(hosts: Hosts, tmp_path: Path) -> Iterator[Desk]:
    """The user's machine, with a home separate from all others."""
    home = Path(tempfile.mkdtemp(prefix="wd", dir="/tmp"))
    yield Desk(hosts, home, tmp_path)
    shutil.rmtree(home, ignore_errors=True)


class Desk:
    """The machine on which commands are given."""

    def __init__(self, hosts: Hosts, home: Path, folder: Path) -> None:
        self.hosts, self.home, self.folder = hosts, home, folder

    def write(self, *nodes: object) -> None:
        (self.folder / "nodes.json").write_text(json.dumps({"nodes": nodes}))

    def environment(self) -> dict[str, str]:
        ours = {n: v for n, v in os.environ.items() if not n.startswith(("RAY_", "WEFT_NODE"))}
        return {
            **ours,
            "HOME": str(self.home),
            "XDG_STATE_HOME": str(self.home / "state"),
            "XDG_CACHE_HOME": platformdirs.user_cache_dir(),
        }

    def weft(self, *words: str | Path) -> Told:
        result = subprocess.run(
            [sys.executable, "-m", "weft.main", *map(str, words)],
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=HANG_S,
            stdin=subprocess.DEVNULL,
        )
        return Told(result.returncode, result.stdout, result.stderr)

    def nodes(self, verb: str, *words: str, accept: bool = True) -> Told:
        new = ["--accept-new-keys"] if accept else []
        config = ["--ssh-config", str(self.hosts.config)]
        return self.weft("nodes", verb, "nodes.json", *config, *new, *words)

    def ledger(self, out: str) -> str:
        return hashlib.sha256((self.folder / out / "ledger.jsonl").read_bytes()).hexdigest()


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_check_tells_what_each_node_is(desk: Desk) -> None:
    desk.write(*(entry(name, gpus=1) for name in THREE))
    before = [files_below(desk.hosts.home(name)) for name in THREE]
    result = desk.nodes("check", "--json")
    assert result.code == 0, result.out + result.err
    nodes = json.loads(result.out)["nodes"]
    assert [node["node"] for node in nodes] == list(THREE)
    for node in nodes:
        assert node["python"] == sys.version.split()[0]
        assert node["problem"] == ""
        assert node["disk_free_bytes"] > 0
        assert abs(node["clock_skew_s"]) < 1 + SLACK_S
        assert node["notes"] == ["1 GPUs in the file, 0 seen"] or node["gpus"]
    assert [files_below(desk.hosts.home(name)) for name in THREE] == before


def test_check_of_an_unknown_host_key_is_refused_unless_it_may_be_accepted(desk: Desk) -> None:
    desk.write(entry("rig1"))
    result = desk.nodes("check", accept=False)
    assert result.code == 1
    assert "its host key is not known; --accept-new-keys" in result.out
    assert desk.nodes("check").code == 0
    assert desk.nodes("check", accept=False).code == 0
    assert "rig1" in (desk.home / ".weft" / "known_hosts").read_text()


@pytest.mark.parametrize("verb", ["check", "up"])
def test_node_that_cannot_serve_is_one_line(verb: str, desk: Desk) -> None:
    """Wrong host, closed port, wrong key, missing Python, another weft: all in one file."""
    hosts = desk.hosts
    if not (hosts.folder / "old").exists():
        other = hosts.folder / "fake" / "weft"
        other.mkdir(parents=True)
        (other / "__init__.py").write_text('__version__ = "0.0.1"\n')
        hosts.start("old", PYTHONPATH=str(other.parent))
        hosts.name("closed", 9)
        hosts.start("locked")
        text = hosts.config.read_text().split("\nHost locked")
        hosts.config.write_text(text[0] + "\nHost locked" + text[1].replace("/key", "/other"))
    problems = {
        "nowhere.invalid": "there is no such host",
        "closed": "nothing answers at its ssh port",
        "locked": "its ssh refuses our key",
        "old": "weft 0.0.1, this is ",
    }
    desk.write(*(entry(name) for name in problems), entry("rig1", python_env="/nowhere/python"))
    problems["rig1"] = "it has no Python at /nowhere/python"
    result = desk.nodes(verb)
    if verb == "up":
        assert result.code == 75
        assert result.err.count("\n") == 1
        assert not list((desk.home / ".weft").glob("*/"))
        return
    assert result.code == 1
    lines = result.out.splitlines()
    assert len(lines) == len(problems)
    for line, (name, why) in zip(lines, problems.items(), strict=True):
        assert line.startswith(f"problem node {name}: {why}"), line


def test_run_without_a_cluster_says_how_to_start_one(desk: Desk) -> None:
    desk.write(entry("rig1"))
    desk.folder.joinpath("jobs.json").write_text('[{"job_id":"a","argv":["true"],"gpu":0}]')
    words = ["jobs", "run", "jobs.json", "--out", "x", "--backend", "ray", "--nodes", "nodes.json"]
    result = desk.weft(*words, "-q")
    assert result.code == 75
    assert "no Ray cluster is up for nodes.json; weft nodes up nodes.json" in result.err
    assert not (desk.folder / "x").exists()


@pytest.mark.slow
def test_up_serves_searches_and_down_leaves_nothing(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    """The cluster of test_intruder.py does the same for jobs only."""
    write_scripts(desk, *THREE)
    desk.write(*(entry(name, gpus=g, script_path="~/scripts", max_concurrent=2)
                 for name, g in zip(THREE, (2, 12, 12), strict=True)))  # fmt: skip
    before = [files_below(desk.hosts.home(name)) for name in THREE]
    try:
        started = desk.nodes("up")
        assert started.code == 0, started.err
        result = desk.nodes("up")
        assert result.code == 75
        write_tasks(desk.folder / "tasks", TASKS)
        Wood(desk.folder, capsys).plant()
        here = ("--backend", "serial")
        check_same_ledger(desk, "arc", ("arc", "solve", "--data", "tasks", *TINY), here)
        check_same_ledger(desk, "tree", ("tree", "run", "tree.toml"), here)
        check_same_ledger(desk, "jobs", ("jobs", "run", "jobs.json"), SIMULATED)
    finally:
        ended = desk.nodes("down")
    assert (ended.code, ended.err) == (0, "")
    assert [files_below(desk.hosts.home(name)) for name in THREE] == before
    check_nothing_is_left(desk)


def write_scripts(desk: Desk, *names: str) -> None:
    """Write a script where nodes look for it, and jobs that run it on a GPU."""
    for folder in (desk.folder, *(desk.hosts.home(name) / "scripts" for name in names)):
        folder.mkdir(exist_ok=True)
        (folder / "where.py").write_text(SCRIPT)
    jobs = [
        {"job_id": f"j{i}", "script": "where.py", "args": ["x"], "timeout_s": 60} for i in range(3)
    ]
    (desk.folder / "jobs.json").write_text(json.dumps(jobs))


def check_same_ledger(desk: Desk, name: str, asked: tuple[str, ...], here: tuple[str, ...]) -> None:
    """A search on the nodes and here has the same ledger."""
    on_ray = ("--backend", "ray", "--nodes", "nodes.json")
    result = desk.weft(*asked, "--out", f"{name}-ray", *on_ray, "-q")
    assert result.code == 0, result.err
    assert desk.weft(*asked, "--out", f"{name}-here", *here, "-q").code == 0
    assert desk.ledger(f"{name}-ray") == desk.ledger(f"{name}-here")


def check_nothing_is_left(desk: Desk) -> None:
    """Check that no process is left, and of our files only the host keys."""
    assert files_below(desk.home / ".weft") == {"known_hosts"}
    assert _using(desk.hosts.folder) == []
    assert _using(desk.home) == []


def _using(folder: Path) -> list[list[str]]:
    """Command lines of processes below a home, except its sshd."""
    commands = []
    for process in psutil.process_iter():
        try:
            inside = process.environ().get("HOME", "").startswith(str(folder))
            words = process.cmdline()
        except (psutil.Error, OSError):
            continue
        if inside and words and "sshd" not in words[0]:
            commands.append(words)
    return commands
