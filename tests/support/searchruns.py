"""One small real run of every shipped search, of a study and of a user's search; created once.

The runs are in one folder, as users keep them, so that one server shows them all; tests of pages
read them and change nothing.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.forked import ForkServer

ARC_BENCH = ("arc", "bench", "--data", "puzzles", "--max-programs", "400", "--max-depth", "2",
             "--competitor-programs", "400")  # fmt: skip
NODES = {"nodes": [{"hostname": "rig1", "gpu_count": 2}, {"hostname": "rig2", "gpu_count": 1}]}
SCORE = """\
import json, os, sys
params = json.load(open("params.json"))
if params["b"] == 1:
    sys.exit("b is too small")
score = {"score": params["a"] * 10 + params["b"], "rows": {"ok": 1, "expected": 1}}
open(os.environ["WEFT_RESULT_FILE"], "w").write(json.dumps(score))
"""
TREE = """\
files = "start"
ideas = "ideas"
direction = "max"
protected = ["score.py"]
max_depth = 2
beam_width = 1
eval_timeout_seconds = 60
deterministic = true
[score]
argv = ["{python}", "-I", "score.py"]
"""
LOSSES = """\
import math

import weft


@weft.task
def loss(lr: float, layers: int, activation: str) -> float:
    rest = 0.01 * abs(layers - 3) + (0.05 if activation == "tanh" else 0.0)
    return round((math.log10(lr) + 2.5) ** 2 + rest, 6)
"""
OWN = """

@weft.search(version=1)
def scan(trials: int):
    yield weft.Plan(total=trials, best="min")
    results = yield [loss(10.0 ** -(1 + i % 4), 1 + i % 3, "relu") for i in range(trials)]
    return min(r.value for r in results)
"""
SPACE = {
    "lr": {"type": "float", "low": 0.0001, "high": 0.1, "log": True},
    "layers": {"type": "int", "low": 1, "high": 8},
    "activation": {"type": "categorical", "options": ["relu", "tanh"]},
}


class SearchRuns:
    """Creates runs below a folder on first request."""

    def __init__(self, folder: Path, forks: ForkServer) -> None:
        self.folder = folder
        self._forks = forks
        self._makers: dict[str, Callable[[Path], None]] = {
            "arc": self._arc,
            "jobs": self._jobs,
            "study": self._study,
            "own": self._own,
            "pipeline": self._pipeline,
            "silence": self._silence,
            "draws": self._draws,
            "tree": self._tree,
        }

    def make_all(self) -> None:
        """Create the missing runs."""
        for name in self._makers:
            self.get(name)

    def get(self, name: str) -> Path:
        """The folder of a run, created if it is missing."""
        run = self.folder / name
        if not run.exists():
            inputs = self.folder.parent / f"{name}-inputs"
            inputs.mkdir()
            self._makers[name](inputs)
        return run

    def _weft(self, inputs: Path, *words: str, code: int = 0) -> str:
        exit_code, out, err = self._forks.run(words, inputs, os.environ)
        assert exit_code == code, (words, exit_code, out, err)
        return out

    def _arc(self, inputs: Path) -> None:
        from tests.support.arcruns import TASKS, write_tasks

        write_tasks(inputs / "puzzles", TASKS)
        self._weft(inputs, *ARC_BENCH, "--out", str(self.folder / "arc"), "-q", "--workers", "1")

    def _jobs(self, inputs: Path) -> None:
        jobs = [job(f"fold-{number}", 0.05 * (1 + number % 3)) for number in range(6)]
        jobs.append(
            {**job("broken", 0.05), "argv": ["sh", "-c", "echo 'no such file' >&2; exit 3"]}
        )
        write_json(inputs / "jobs.json", jobs)
        write_json(inputs / "nodes.json", NODES)
        words = ("jobs", "run", "jobs.json", "--nodes", "nodes.json", "--simulate-nodes", "-q")
        self._weft(inputs, *words, "--out", str(self.folder / "jobs"), code=4)

    def _study(self, inputs: Path) -> None:
        (inputs / "losses.py").write_text(LOSSES, "utf-8")
        settings = {"objective": "losses:loss", "trials": 24, "batch": 8, "space": SPACE}
        words = ("run", "weft.optuna:study", "--args", json.dumps(settings), "--workers", "1")
        self._weft(inputs, *words, "--out", str(self.folder / "study"), "-q")

    def _own(self, inputs: Path) -> None:
        (inputs / "losses.py").write_text(LOSSES + OWN, "utf-8")
        words = ("run", "losses.py:scan", "--args", '{"trials": 12}', "--workers", "1", "-q")
        self._weft(inputs, *words, "--out", str(self.folder / "own"))

    def _draws(self, inputs: Path) -> None:
        self._generate(inputs, "java", "--seed", "314", "--corrupt", "0.05", "-n", "60")
        words = ("--families", "java", "--effort", "quick", "--skips", "0:1", "--starts", "0:4")
        self._analyse(inputs, "draws", *words)

    def _silence(self, inputs: Path) -> None:
        self._generate(inputs, "sfc64", "--seed", "31415926535897", "-n", "60")
        words = ("--families", "minstd", "--outputs", "mod", "--effort", "quick")
        self._analyse(inputs, "silence", *words, "--skips", "0:0", "--starts", "0:1", code=1)

    def _generate(self, inputs: Path, *words: str) -> None:
        (inputs / "draws.csv").write_text(self._weft(inputs, "prng", "generate", *words), "utf-8")

    def _analyse(self, inputs: Path, name: str, *words: str, code: int = 0) -> None:
        command = ("prng", "analyse", "draws.csv", *words, "--out", str(self.folder / name))
        self._weft(inputs, *command, "-q", "--workers", "1", code=code)

    def _pipeline(self, inputs: Path) -> None:
        self._generate(inputs, "java", "--seed", "3", "-n", "80")
        words = ("--seeds", "8", "--skips", "0:0", "--starts", "0:80", "--window-trials", "2",
                 "--scorer-trials", "2", "--model-trials", "2", "--workers", "1")  # fmt: skip
        out = str(self.folder / "pipeline")
        self._weft(inputs, "prng", "pipeline", "draws.csv", *words, "--out", out, "-q")

    def _tree(self, inputs: Path) -> None:
        (inputs / "start").mkdir()
        (inputs / "ideas").mkdir()
        (inputs / "tree.toml").write_text(TREE.replace("{python}", sys.executable), "utf-8")
        (inputs / "start" / "params.json").write_text('{\n  "a": 1,\n  "b": 2\n}\n', "utf-8")
        (inputs / "start" / "score.py").write_text(SCORE, "utf-8")
        for name, key, old, new in IDEAS:
            (inputs / "ideas" / f"{name}.md").write_text(idea(key, old, new), "utf-8")
        out = str(self.folder / "tree")
        self._weft(inputs, "tree", "run", "tree.toml", "--out", out, "-q")


IDEAS = (("more-a", "a", 1, 5), ("less-b", "b", 2, 1), ("more-b", "b", 2, 7), ("no-a", "a", 1, 0))


def idea(key: str, old: int, new: int) -> str:
    """An idea that sets one parameter."""
    comma = "," if key == "a" else ""
    before, after = f'  "{key}": {old}{comma}', f'  "{key}": {new}{comma}'
    edit = f"FILE: params.json\n<<<<<<< SEARCH\n{before}\n=======\n{after}\n>>>>>>> REPLACE\n"
    return f"Set {key} to {new}.\n\n{edit}"


def job(name: str, seconds: float) -> dict[str, Any]:
    """A job that sleeps for a while."""
    line = f'sleep {seconds}; echo \'{{"name": "{name}"}}\''
    return {"job_id": name, "argv": ["sh", "-c", line], "timeout_s": 60}


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), "utf-8")
