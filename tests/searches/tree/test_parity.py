"""Any number of parallel evals, any hash seed, any arrival order: one ledger and one summary."""

from __future__ import annotations

import pytest

from tests.searches.tree.conftest import BINPACK, CONFIG, SCORE, UNCONFINED, Wood
from weft.inspect.report.view import RunView
from weft.searches.tree.load import stage_args_of
from weft.searches.tree.search import NAME

pytestmark = pytest.mark.xdist_group("tree-parity")
SLOW_FIRST = """
import time
from pathlib import Path
last_began = Path("{place}")
if body["a"] == 5:
    last_began.touch()
while body["a"] == 2 and not last_began.exists():
    time.sleep(0.01)
"""
"""The first eval of a depth ends once the last has started, which needs another to have ended."""
PARAMETERS = """
[[parameters]]
file = "params.json"
key = "a"
values = [2, 3, 4, 5]
"""
COUNTING = """
import fcntl, os
with open("{place}", "a+") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    file.write("x")
    file.flush()
    count = os.fstat(file.fileno()).st_size
print('{{"score": %d}}' % count)
"""


def arrivals(wood: Wood, out: str) -> list[tuple[int, int]]:
    tasks = [t for t in RunView(wood.folder / out, NAME).tasks() if t.round == 2]
    return [
        (t.index, stage_args_of(t)["eval_id"])
        for t in sorted(tasks, key=lambda t: t.finished_at or 0)
    ]


def test_one_ledger_and_summary_for_any_number_at_a_time_and_two_hash_seeds(
    wood: Wood, parallelism: tuple[int, ...]
) -> None:
    last_began = wood.folder / "last-began"
    score = SCORE + SLOW_FIRST.replace("{place}", str(last_began))
    wood.plant(UNCONFINED.replace('ideas = "ideas"\n', "") + PARAMETERS, score)
    own = ("tree", "run", "tree.toml", "--max-depth", "2", "-q")
    ways = {"serial": ["--parallel-backend", "serial"]}
    ways |= {f"r{count}": ["--max-parallel-evals", str(count)] for count in parallelism}
    for seed, (out, words) in enumerate(ways.items()):
        last_began.unlink(missing_ok=True)
        if words[-1] in ("serial", "1"):
            last_began.touch()  # serially, the first would wait forever
        if seed == 0:  # this process has its own seed
            result = wood.weft(*own, "--out", out, *words)
        else:
            result = wood.started(*own, "--out", out, *words, PYTHONHASHSEED=str(seed))
        assert result.code == 0, result
    assert len({wood.ledger(out) for out in ways}) == 1
    assert len({wood.summary(out) for out in ways}) == 1
    orders = {tuple(arrivals(wood, out)) for out in ways}
    assert len(orders) > 1, "the completion orders did not differ, the test shows nothing"


def test_check_parity_says_equal(wood: Wood) -> None:
    wood.plant()
    result = wood.run("r", "--max-parallel-evals", "2", "--check-parity", "--json")
    assert result.code == 0, result
    assert result.json["parity"]["equal"] is True
    assert result.json["parity"]["commands"] == "run again"


def test_check_parity_catches_a_score_that_depends_on_arrival(wood: Wood) -> None:
    place = wood.folder / "count"
    wood.plant(UNCONFINED, COUNTING.format(place=place))
    result = wood.run("r", "--max-parallel-evals", "2", "--check-parity")
    assert result.code == 1
    assert "parity  DIFFERENT" in result.out


def test_check_parity_uses_recorded_outputs_when_commands_need_not_be_deterministic(
    wood: Wood,
) -> None:
    place = wood.folder / "count"
    config = UNCONFINED.replace("deterministic = true", "deterministic = false")
    wood.plant(config, COUNTING.format(place=place))
    result = wood.run("r", "--max-parallel-evals", "2", "--check-parity")
    assert "parity  equal with 1 at a time (recorded outputs of commands)" in result.out


def test_dry_run_promotes_the_same_at_1_and_4(wood: Wood) -> None:
    words = ("--dry-run", "--beam-width", "3", "--max-depth", "2", "--json")
    runs = [
        wood.run(f"d{n}", *words, "--max-parallel-evals", str(n), config=BINPACK) for n in (1, 4)
    ]
    answers = [run.json["answer"] for run in runs]
    assert answers[0] == answers[1]
    assert len(answers[0]["promoted"]) == 5  # of siblings with equal scores, the first
    assert wood.ledger("d1") == wood.ledger("d4")
    verdicts = set(wood.verdicts("d1").values())
    assert {"incomplete", "score-invalid", "regressed"} <= verdicts


def test_at_most_two_of_a_parent_run_at_a_time(wood: Wood) -> None:
    score = SCORE + "import time\ntime.sleep(0.1)\n"
    wood.plant(CONFIG + PARAMETERS, score)
    words = ("--max-depth", "2", "--beam-width", "2", "--max-parallel-evals", "5")
    wood.run("r", *words, "--max-parallel-per-node", "2")
    spans = [
        (t.started_at or 0.0, t.finished_at or 0.0, stage_args_of(t)["parent_node_id"])
        for t in RunView(wood.folder / "r", NAME).tasks()
    ]
    for start, _, parent in spans:
        running = [s for s in spans if s[0] <= start < s[1]]
        assert sum(s[2] == parent for s in running) <= 2
    most = max(sum(s[0] <= start < s[1] for s in spans) for start, _, _ in spans)
    assert most > 1
