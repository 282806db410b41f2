"""One checkout per candidate, never trusted; large roots, submodules, slow imports."""

from __future__ import annotations

import os
import pathlib
import subprocess
from pathlib import Path

import pytest

from tests.searches.tree.conftest import CONFIG, Wood
from tests.searches.tree.test_runs import git
from tests.support.commands import COMMAND
from weft.searches.tree.repository import read_files
from weft.searches.tree.slot.checkouts import FOLDER, keep, reuse
from weft.searches.tree.slot.git import Git

pytestmark = pytest.mark.xdist_group("tree")
FILES = 40
LARGE_MB = 64
SWEEP = """
import os, pathlib
pathlib.Path("cache/deep").mkdir(parents=True)
pathlib.Path("cache/deep/x").write_text("left by the sweep")
pathlib.Path(".git").write_text("left too")
{more}
status = os.stat("params.json")
print("file", status.st_ino, status.st_mtime_ns)
"""
SCORE = """
import json, os, pathlib
assert not pathlib.Path("cache").exists() and not pathlib.Path(".git").exists()
assert json.load(open("params.json"))["a"] != 99
status = os.stat("params.json")
print("file", status.st_ino, status.st_mtime_ns)
print(json.dumps({"score": json.load(open("params.json"))["a"]}))
"""
STAGES = '[sweep]\nargv = ["{python}", "-I", "sweep.py"]\n'


def plant(wood: Wood, more: str = "") -> None:
    wood.plant(CONFIG + STAGES, SCORE)
    wood.write("start/sweep.py", SWEEP.format(more=more))
    for number in range(FILES):
        wood.write(f"start/data/d{number % 4}/f{number}", f"file {number}\n")
    for name in ("up-b.md", "down-b.md"):
        (wood.folder / "ideas" / name).unlink()


def files_seen(wood: Wood, out: str) -> list[list[str]]:
    """The file that each stage of the one eval saw: its inode, which may be reused, and time."""
    [item] = wood.load(out).history.evals
    logs = [next((wood.folder / out / "logs" / key).glob("*.out")) for key in item.keys[1:]]
    return [log.read_text().split()[1:3] for log in logs]


def test_score_gets_the_files_of_the_sweep_without_what_it_left(wood: Wood) -> None:
    plant(wood)
    assert wood.run("r").code == 0, wood.verdicts("r")
    swept, scored = files_seen(wood, "r")
    assert swept == scored
    assert not (wood.folder / "r" / "attempts").exists()


CHANGED = {
    "content": 'file = pathlib.Path("params.json"); os.utime(file)\n'
    'file.write_text(file.read_text().replace("5", "99"))',
    "second name": 'os.link("params.json", "../../linked")',
    "mode": 'os.chmod("params.json", 0o604)',  # no usual umask gives this
    "removed": 'os.remove("data/d0/f0")',
    "link": 'os.remove("data/d0/f0"); os.symlink("f4", "data/d0/f0")',
}


def test_worktree_that_the_sweep_changed_is_checked_out_anew(wood: Wood) -> None:
    plant(wood, CHANGED["content"] + "\n" + CHANGED["second name"])
    unconfined = ("--set", 'sweep.sandbox="off"')  # a sandbox would not let it link
    assert wood.run("r", *unconfined).code == 0, wood.weft("tree", "why", "r", "e1").out
    swept, scored = files_seen(wood, "r")
    assert swept != scored


@pytest.mark.parametrize("change", CHANGED)
def test_worktree_in_which_one_thing_changed_is_not_taken(
    checkout: tuple[Git, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    git, tree = checkout
    monkeypatch.chdir(tmp_path / "attempt" / "worktree")
    exec(CHANGED[change], {"os": os, "pathlib": pathlib})
    keep(tmp_path / "attempt", tmp_path, 1, 7, tree)
    assert not reuse(git, tmp_path, 1, 7, tree)
    assert not (tmp_path / "attempt" / "worktree").exists()


@pytest.fixture
def checkout(tmp_path: Path) -> tuple[Git, str]:
    for number in range(FILES):
        folder = tmp_path / "start" / "data" / f"d{number % 4}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{number}").write_text(f"{number}\n")
    (tmp_path / "start" / "params.json").write_text('{"a": 5}\n')
    stream = read_files([tmp_path / "start"])
    (tmp_path / "attempt").mkdir()
    git = Git(
        tmp_path / "repo.git", tmp_path / "attempt" / "worktree",
        {"GIT_INDEX_FILE": str(tmp_path / "attempt" / "index")},
    )  # fmt: skip
    (tmp_path / "attempt" / "worktree").mkdir()
    git.run("init", "-q", "--template=")
    git.import_stream([stream.path.read_bytes()], lambda: None)
    git.run("read-tree", "--reset", "-u", stream.root.root.tree)
    return git, stream.root.root.tree


def test_kept_worktree_is_taken_once_by_its_eval_and_gone_with_its_depth(
    checkout: tuple[Git, str], tmp_path: Path
) -> None:
    git, tree = checkout
    keep(tmp_path / "attempt", tmp_path, 1, 7, tree)
    assert not reuse(git, tmp_path, 1, 8, tree)
    assert reuse(git, tmp_path, 1, 7, tree)
    assert not reuse(git, tmp_path, 1, 7, tree)
    keep(tmp_path / "attempt", tmp_path, 1, 7, tree)
    (tmp_path / "attempt" / "worktree").mkdir()
    git.run("read-tree", "--reset", "-u", tree)
    keep(tmp_path / "attempt", tmp_path, 2, 9, tree)
    assert [path.name for path in sorted((tmp_path / FOLDER).iterdir())] == ["2"]


def test_few_files_are_not_kept(checkout: tuple[Git, str], tmp_path: Path) -> None:
    git, tree = checkout
    git.run("rm", "-r", "-q", "--cached", "data/d0", "data/d1")
    keep(tmp_path / "attempt", tmp_path, 1, 7, tree)
    keep(tmp_path / "attempt", tmp_path, 1, None, tree)
    assert not (tmp_path / FOLDER).exists()


@pytest.mark.slow  # it waits for longer than the limit
def test_import_of_the_repository_does_not_count_against_the_first_stage(wood: Wood) -> None:
    wood.plant(CONFIG.replace("eval_timeout_seconds = 30", "eval_timeout_seconds = 2"))
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout
    slow = 'case "$*" in *fast-import*) sleep 5;; esac\n'
    wood.write("bin/git", f'#!/bin/sh\n{slow}exec {real.strip()} "$@"\n').chmod(0o755)
    path = f"{wood.folder}/bin:{os.environ['PATH']}"
    result = wood.apart("tree", "run", "tree.toml", "--out", "r", "-q", PATH=path)
    assert result.code == 0, result
    assert wood.verdicts("r")["up-a.md"] == "promoted n1"


def test_submodule_is_refused_by_name_or_left_empty(wood: Wood) -> None:
    wood.plant(CONFIG.replace('files = "start"', 'repo = "start"'))
    start, inner = wood.folder / "start", wood.folder / "inner"
    for folder in (start, inner):
        wood.write(f"{folder.name}/note", "x")
        git(folder, "init", "-q")
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", "one")
    git(start, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "lib/sub")
    git(start, "commit", "-qm", "two")
    result = wood.run("r")
    assert result.code == 3
    assert "lib/sub is a submodule" in result.err
    assert 'submodules = "empty"' in result.err
    assert not (wood.folder / "r").exists()
    assert wood.run("r", "--set", 'submodules="empty"').code == 0


def test_large_file_passes_through_in_pieces(wood: Wood) -> None:
    wood.plant()
    with (wood.folder / "start" / "large").open("wb") as file:
        file.truncate(LARGE_MB * 2**20)
    code = (
        "import resource, sys\nfrom pathlib import Path\n"
        "from weft.searches.tree.request import read_request\n"
        "from weft.runs.decision import digests\n"
        "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024\n"
        "import weft.searches.tree.cli; before = peak()\n"
        "request = read_request(Path('tree.toml')); request.decision()\n"
        "print(request.stream.root.files['large'].size, peak() - before)"
    )
    result = subprocess.run(
        [COMMAND[0], "-c", code], cwd=wood.folder, capture_output=True, text=True, check=True
    )
    size, grown_mb = map(int, result.stdout.split())
    assert size == LARGE_MB * 2**20
    assert grown_mb < LARGE_MB // 2
