"""The searches that Weft ships, each as a small run for campaigns to put under fault."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.faults.case import FREQUENT_CHECKPOINTS, Search
from tests.searches.tree.conftest import CONFIG, SCORE, blocks

JAVA = Path(__file__).parents[1] / "searches" / "prng" / "histories" / "java.csv"


def write_jobs(folder: Path) -> None:
    """Six jobs, one of which writes its result to a file."""
    jobs = [{"job_id": f"j{i}", "argv": ["sh", "-c", f"echo '[{i}]'"], "gpu": 0, "timeout_s": 60}
            for i in range(5)]  # fmt: skip
    line = "echo '[5]' > result.json"
    file = {"cwd": "{out_dir}", "expected_output": "{out_dir}/result.json"}
    jobs.append({"job_id": "j5", "argv": ["sh", "-c", line], "gpu": 0, "timeout_s": 60, **file})
    (folder / "jobs.json").write_text(json.dumps(jobs))


def write_tree(folder: Path) -> None:
    """Three ideas on a repository of two files."""
    for name in ("start", "ideas"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "tree.toml").write_text(CONFIG)
    (folder / "start" / "params.json").write_text('{\n  "a": 1,\n  "b": 2\n}\n')
    (folder / "start" / "score.py").write_text(SCORE)
    for name, key, old, new in (("up-a", "a", 1, 5), ("down-b", "b", 2, 1), ("up-b", "b", 2, 7)):
        (folder / "ideas" / f"{name}.md").write_text(blocks(key, old, new))


def write_puzzles(folder: Path) -> None:
    """Two puzzles solved quickly: the same kinds of writes as with more, in a third of the time."""
    from tests.support.arcruns import solved, write_tasks  # imports what `weft arc` needs

    write_tasks(folder / "puzzles", [solved(), solved("other", 20)])


def write_draws(folder: Path) -> None:
    """Draws of java.util.Random."""
    shutil.copyfile(JAVA, folder / "draws.csv")


FEW_PROGRAMS = ("--max-programs", "400", "--max-depth", "2", "--competitor-programs", "400")
USUAL = ("--out", "OUT", "-q")
PRODUCTS = (
    Search("jobs", "", {}, FREQUENT_CHECKPOINTS,
           ("jobs", "run", "jobs.json", "--workers", "WORKERS", *USUAL), write_jobs),
    Search("tree", "", {}, FREQUENT_CHECKPOINTS,
           ("tree", "run", "tree.toml", "--max-depth", "2", "--max-parallel-evals", "WORKERS",
            *USUAL), write_tree),
    Search("prng", "", {}, FREQUENT_CHECKPOINTS,
           ("prng", "analyse", "draws.csv", "--families", "java", "--outputs", "bounded",
            "--skips", "100:200", "--workers", "WORKERS", *USUAL), write_draws),
    Search("arc", "", {}, FREQUENT_CHECKPOINTS,
           ("arc", "solve", "--data", "puzzles", *FEW_PROGRAMS, "--without", "fitted",
            "--workers", "WORKERS", *USUAL), write_puzzles),
)  # fmt: skip
