"""Small repositories, ideas and configs for tests, and commands that run on them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Told, run_apart, run_here
from tests.support.forked import BegunCommand, ForkServer
from tests.support.forkedworkers import WorkerServer
from tests.support.quickruns import quick_runs, started_workers  # noqa: F401 - fixtures
from weft.inspect.report.view import RunView
from weft.searches.tree.load import TreeRun, load_run
from weft.searches.tree.search import NAME

ROOT = Path(__file__).resolve().parents[3]
BINPACK = ROOT / "examples" / "tree" / "binpack" / "tree.toml"
COMPRESSOR = ROOT / "examples" / "tree" / "compressor" / "tree.toml"
SCORE = """
import json, os, sys
body = json.load(open("params.json"))
value = {"score": body["a"] * 10 + body["b"], "rows": {"ok": 1, "expected": 1}}
open(os.environ["WEFT_RESULT_FILE"], "w").write(json.dumps(value))
"""
CONFIG = """
files = "start"
ideas = "ideas"
direction = "max"
protected = ["score.py"]
max_depth = 1
eval_timeout_seconds = 30
deterministic = true
[score]
argv = ["{python}", "-I", "score.py"]
"""
UNCONFINED = CONFIG + 'sandbox = "off"\n'
"""For scorers that write outside their worktree."""


def blocks(key: str, old: int, new: int) -> str:
    """An idea that sets one number, as a search-replace block."""
    comma = "," if key == "a" else ""
    before, after = f'  "{key}": {old}{comma}', f'  "{key}": {new}{comma}'
    return (
        "Set it.\n\nFILE: params.json\n"
        f"<<<<<<< SEARCH\n{before}\n=======\n{after}\n>>>>>>> REPLACE\n"
    )


@dataclass
class Wood:
    """A folder with tree.toml, starting files and ideas."""

    folder: Path
    capture: Any
    forks: ForkServer | None = None
    background: ForkServer | None = None

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def plant(self, config: str = CONFIG, score: str = SCORE) -> None:
        self.write("tree.toml", config)
        self.write("start/params.json", '{\n  "a": 1,\n  "b": 2\n}\n')
        self.write("start/score.py", score)
        self.write("ideas/up-a.md", blocks("a", 1, 5))
        self.write("ideas/down-b.md", blocks("b", 2, 1))
        self.write("ideas/up-b.md", blocks("b", 2, 7))

    def weft(self, *words: str | Path) -> Told:
        """Run a command in this process, in the folder."""
        return run_here(self.capture, *words)

    def run(self, out: str, *words: str, config: str | Path = "tree.toml") -> Told:
        return self.weft("tree", "run", config, "--out", out, "-q", *words)

    def run_with_warnings(self, out: str, *words: str) -> Told:
        return self.weft("tree", "run", "tree.toml", "--out", out, *words)

    def apart(self, *words: str | Path, **env: str) -> Told:
        """Run a command in a separate process."""
        assert self.forks is not None
        return Told(*self.forks.run([str(word) for word in words], self.folder, os.environ | env))

    def begin(self, *words: str | Path, **env: str) -> BegunCommand:
        """Start a command in a separate process; one at a time."""
        assert self.background is not None
        return self.background.begin([str(w) for w in words], self.folder, os.environ | env)

    def started(self, *words: str | Path, **env: str) -> Told:
        """Run a command in a new interpreter, which takes a second to load its modules."""
        return run_apart(self.folder, *words, **env)

    def load(self, out: str) -> TreeRun:
        return load_run(RunView(self.folder / out, NAME))

    def verdicts(self, out: str) -> dict[str, str]:
        return {e.idea.name: e.verdict for e in self.load(out).history.evals}

    def ledger(self, out: str) -> str:
        return hashlib.sha256((self.folder / out / "ledger.jsonl").read_bytes()).hexdigest()

    def summary(self, out: str) -> str:
        """The text of TREE_SUMMARY.md without its timing."""
        return (self.folder / out / "TREE_SUMMARY.md").read_text("utf-8").split("## Timing")[0]


@pytest.fixture(scope="session")
def tree_forks() -> Iterator[tuple[ForkServer, ForkServer]]:
    """One for commands that the test waits for, one for those that run beside it."""
    loaded = ("weft.searches.tree.run", "weft.searches.tree.export")
    servers = ForkServer(*loaded), ForkServer(*loaded)
    yield servers
    for server in servers:
        server.close()


@pytest.fixture(scope="session")
def worker_server() -> Iterator[WorkerServer]:
    server = WorkerServer("weft.searches.tree.stages", "weft.searches.tree.slot.hooks")
    yield server
    server.close()


@pytest.fixture
def wood(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tree_forks: tuple[ForkServer, ForkServer],
) -> Wood:
    monkeypatch.chdir(tmp_path)
    return Wood(tmp_path, capsys, *tree_forks)


@pytest.fixture(scope="session")
def parallelism(chaos: bool) -> tuple[int, ...]:
    """Numbers of parallel evals that a parity test compares with a serial run."""
    return (1, 2, 4, 8) if chaos else (3,)
