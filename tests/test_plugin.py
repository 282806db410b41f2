"""A package installed beside Weft adds a search: examples/plugin, with pip and a real install.

Every command is a process in a scratch environment, which sees the packages of this one. A copy
of the package waits at a lock that the test holds, so that a run can be killed in the middle.
"""

from __future__ import annotations

import ast
import fcntl
import hashlib
import importlib
import os
import re
import shutil
import site
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.support.commands import Told
from tests.support.shown import ROOT, block_of, check_said
from tests.support.waiting import HANG_S, wait_until
from weft.errors import Interrupted
from weft.storage.ledgerfile import count_lines

pytestmark = pytest.mark.xdist_group("plugin")

EXAMPLE = ROOT / "examples" / "plugin"
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
PAGE = "docs/ship-your-search.md"
TEXT = "hello, world"
GATE = """
    with open(os.environ.get("HELLO_GATE", os.devnull)) as gate:
        if 2 * matches(parent, target) >= len(target):
            fcntl.flock(gate, fcntl.LOCK_SH)
"""
"""The second half of a climb waits for the lock, if there is one."""


class Scratch:
    """A separate environment that sees what is installed here."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "environment" / "bin" / "python"
        subprocess.run(
            [sys.executable, "-m", "venv", "--without-pip", folder / "environment"], check=True
        )
        places = [sysconfig.get_path("purelib"), *site.getsitepackages()]
        lines = [f"import site; site.addsitedir({place!r})\n" for place in dict.fromkeys(places)]
        [packages] = (folder / "environment").glob("lib/python3.*/site-packages")
        (packages / "outer.pth").write_text("".join(lines))
        program = self.python.with_name("weft")
        program.write_text(f'#!/bin/sh\nexec {self.python} -m weft "$@"\n')
        program.chmod(0o755)

    def pip(self, *words: str | Path) -> None:
        """Run pip for this environment."""
        argv = [*PIP, "--python", self.python, *words]
        result = subprocess.run(argv, cwd=self.folder, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr

    def install(self, package: Path) -> None:
        """Install a package, or its next version, as a user would."""
        self.pip("install", "--no-deps", "--no-build-isolation", "--upgrade", package)

    def weft(self, *words: str | Path, **env: str) -> Told:
        """Run a command of this environment."""
        argv = [self.python, "-m", "weft", *words]
        result = subprocess.run(
            argv, cwd=self.folder, env={**os.environ, **env}, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=HANG_S,
        )  # fmt: skip
        return Told(result.returncode, result.stdout, result.stderr)

    def kill_midway(self, out: Path) -> None:
        """Run `weft hello` until a task waits at the gate, then SIGKILL the run."""
        gate, ledger = self.folder / "gate", self.folder / out / "ledger.jsonl"
        words = [self.python, "-m", "weft", "hello", TEXT, "--out", out, "--workers", "2"]
        env = {**os.environ, "HELLO_GATE": str(gate)}
        with gate.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with subprocess.Popen(words, cwd=self.folder, env=env) as running:
                try:
                    wait_until(lambda: is_waiting(gate), "a task at the gate")
                    wait_until(lambda: count_lines(ledger) > 1, "results that are durable")
                finally:
                    running.kill()


def is_waiting(gate: Path) -> bool:
    """Whether some process waits for the lock on a file."""
    number = f":{gate.stat().st_ino} "
    lines = Path("/proc/locks").read_text().splitlines()
    return any("->" in line and number in line for line in lines)


def copy_with_gate(folder: Path) -> Path:
    """Copy the example; its task waits at the gate in the second half of a climb."""
    shutil.copytree(EXAMPLE, folder)
    tasks = folder / "weft_hello" / "tasks.py"
    source = tasks.read_text("utf-8")
    first = "    draws = random.Random(seed)\n"
    assert source.count(first) == 1
    source = source.replace("import random\n", "import fcntl\nimport os\nimport random\n")
    tasks.write_text(source.replace(first, GATE.lstrip("\n") + first), "utf-8")
    return folder


def move_modules(package: Path) -> None:
    """Create the next version of the package, with its search and tasks in renamed files."""
    source = package / "weft_hello"
    (source / "search.py").rename(source / "climbing.py")
    (source / "tasks.py").rename(source / "mutation.py")
    for file in (*sorted(source.glob("*.py")), package / "pyproject.toml"):
        text = file.read_text("utf-8").replace("1.0.0", "1.1.0")
        text = text.replace("weft_hello.search", "weft_hello.climbing")
        file.write_text(text.replace("weft_hello.tasks", "weft_hello.mutation"), "utf-8")


def sha256(run: Path) -> str:
    return hashlib.sha256((run / "ledger.jsonl").read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    """An environment with the unchanged example installed."""
    environment = Scratch(tmp_path_factory.mktemp("scratch"))
    environment.install(EXAMPLE)
    return environment


@pytest.fixture(scope="module")
def first_run(scratch: Scratch) -> Path:
    """A finished run with one worker."""
    out = scratch.folder / "first"
    result = scratch.weft("hello", TEXT, "--out", out, "--json")
    assert result.code == 0, result
    assert result.json["answer"]["text"] == TEXT
    assert result.json["search"] == "hello.evolve"
    return out


def test_command_of_plugin_is_listed_and_says_how_it_is_used(scratch: Scratch) -> None:
    listed = scratch.weft("--help")
    assert (listed.code, listed.err) == (0, "")
    assert "hello" in [line.split()[0] for line in listed.out.splitlines() if line[:2] == "  "]
    usage = scratch.weft("hello", "--help")
    assert usage.code == 0, usage
    for word in ("TEXT", "--out", "--workers", "--seed", "--json"):
        assert word in usage.out


def test_plugin_refuses_bad_input_in_one_line(scratch: Scratch) -> None:
    result = scratch.weft("hello", "HELLO", "--out", "refused")
    result.check_one_line(2, "TEXT", "'E'")
    assert not (scratch.folder / "refused").exists()


def test_plugin_that_gives_up_says_what_it_has(scratch: Scratch) -> None:
    result = scratch.weft("hello", TEXT, "--out", "short", "--generations", "1", "--json")
    assert result.code == 1, result
    assert result.json["status"] == "unknown"
    assert result.json["answer"]["detail"]["generations"] == 1


def test_task_of_plugin_is_a_plain_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLE)
    tasks = importlib.import_module("weft_hello.tasks")
    child = tasks.breed.function("hellx", "hello", 1, seed=0)
    assert child == tasks.breed.function("hellx", "hello", 1, seed=0)
    assert tasks.breed.function("hello", "hello", 9, seed=1) == {"text": "hello", "letters": 5}
    assert child["letters"] >= tasks.matches("hellx", "hello") == 4


@pytest.mark.parametrize(("workers", "hash_seed"), [("2", "1"), ("8", "0"), ("8", "77")])
def test_ledger_of_plugin_is_the_same_for_any_workers(
    scratch: Scratch, first_run: Path, workers: str, hash_seed: str
) -> None:
    out = scratch.folder / f"run-{workers}-{hash_seed}"
    result = scratch.weft(
        "hello", TEXT, "--out", out, "--workers", workers, PYTHONHASHSEED=hash_seed
    )
    assert result.code == 0, result
    assert sha256(out) == sha256(first_run)


def test_plugin_run_is_replayed_to_the_same_ledger(scratch: Scratch, first_run: Path) -> None:
    result = scratch.weft("replay", first_run)
    assert result.code == 0, result
    assert result.out.startswith("equal "), result


def test_plugin_adds_a_page_to_the_report_and_a_line_to_the_status(
    scratch: Scratch, first_run: Path
) -> None:
    status = scratch.weft("status", first_run)
    assert "summary 12 of 12 letters after" in status.out, status
    assert scratch.weft("report", first_run).code == 0
    page = (first_run / "report.html").read_text("utf-8")
    assert "Evolution" in page
    assert "right letters by generation, 12 of 12 in the last" in page


def test_page_shows_the_plugin_as_it_is(scratch: Scratch, first_run: Path) -> None:
    documented = ast.parse(block_of(PAGE, "python", "from weft import Product\n"))
    source = ast.parse((EXAMPLE / "weft_hello" / "product.py").read_text("utf-8"))
    assert ast.dump(documented) == ast.dump(ast.Module(source.body[1:], []))
    assert block_of(PAGE, "toml") in (EXAMPLE / "pyproject.toml").read_text("utf-8")
    path = f"{scratch.python.parent}{os.pathsep}{os.environ['PATH']}"
    for step in re.split(r"^\$ ", block_of(PAGE, "sh", "$ weft hello"), flags=re.MULTILINE)[1:]:
        line, _, expected = step.partition("\n")
        result = subprocess.run(
            ["bash", "-c", line], cwd=scratch.folder, env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=HANG_S,
        )  # fmt: skip
        check_said(result.stdout, expected)


@pytest.fixture(scope="module")
def gated(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    """An environment with a copy of the example whose runs can be held; it is in `package`."""
    environment = Scratch(tmp_path_factory.mktemp("gated"))
    environment.install(copy_with_gate(environment.folder / "package"))
    return environment


def test_run_of_plugin_that_is_killed_is_resumed(gated: Scratch, first_run: Path) -> None:
    out = gated.folder / "killed"
    gated.kill_midway(out)
    status = gated.weft("status", out)
    assert "state   interrupted" in status.out, status
    assert "letters after" in status.out, status
    resumed = gated.weft("resume", out)
    assert resumed.code == 0, resumed
    assert sha256(out) == sha256(first_run)


def test_plugin_may_go_and_come_back_with_its_modules_moved(
    gated: Scratch, first_run: Path
) -> None:
    out, anew = gated.folder / "left", gated.folder / "anew"
    gated.kill_midway(out)
    gated.pip("uninstall", "--yes", "weft-hello")
    gated.weft("hello", TEXT, "--out", anew).check_one_line(2, "No such command 'hello'")
    interrupted = gated.weft("verify", out)
    assert (interrupted.code, interrupted.err) == (Interrupted.exit_code, ""), interrupted
    assert "status  interrupted" in interrupted.out, interrupted
    for words in (("verify", first_run), ("status", out), ("report", first_run)):
        result = gated.weft(*words)
        assert (result.code, result.err) == (0, ""), result
    gated.weft("resume", out).check_one_line(3, "'hello.evolve'", "weft_hello.search", "install")

    move_modules(gated.folder / "package")
    gated.install(gated.folder / "package")
    gated.weft("resume", out).check_one_line(3, "'weft_hello'", "--accept code")
    resumed = gated.weft("resume", out, "--accept", "code")
    fresh = gated.weft("hello", TEXT, "--out", anew, "--workers", "2")
    assert (resumed.code, fresh.code) == (0, 0), (resumed, fresh)
    assert sha256(out) == sha256(anew) == sha256(first_run)
