"""All options that affect promotion, combined: one ledger for any way to run them.

Two roots, repeats of a noisy score, several objectives, a minimum gain, diversity, patience and a
merged patch. Approval by a person is tested in test_approve.
"""

from __future__ import annotations

import pytest

from tests.searches.tree import test_kills as kills
from tests.searches.tree.conftest import CONFIG, Wood
from weft.searches.tree.history import TreeHistory

pytestmark = pytest.mark.xdist_group("tree-optionparity")
OPTIONS = """
max_depth = 4
beam_width = 2
repeats = 3
min_gain = "2"
patience = 2
max_children_per_parent = 1
novelty = "files"
merge = "three-way"
"""
OBJECTIVES = """
[[objectives]]
metric = "size"
direction = "min"
min_gain = "1"
"""
SCORE = """
import json, os
numbers = [int(line) for line in open("numbers.txt")]
more = [int(line) for line in open("more.txt")]
noise = int(os.environ["WEFT_SEED"][-1]) % 3
score = sum(numbers) + 3 * sum(more) + noise
print(json.dumps({"score": score, "metrics": {"size": len(numbers) + len(more)}}))
"""
NUMBERS = "".join(f"{n}\n" for n in range(1, 8))
HASHING = """
def rank(passed):
    return sorted(passed, key=lambda seen: hash(seen.idea))
"""


def patch(file: str, at: int, new: int | None) -> str:
    """A patch against the root that changes or removes a line in a file of consecutive numbers."""
    before = "".join(f" {n}\n" for n in (at - 2, at - 1))
    after = "".join(f" {n}\n" for n in (at + 1, at + 2))
    lines = 4 if new is None else 5
    added = "" if new is None else f"+{new}\n"
    head = f"--- a/{file}\n+++ b/{file}\n@@ -{at - 2},5 +{at - 2},{lines} @@\n"
    return f"{head}{before}-{at}\n{added}{after}"


def plant(wood: Wood, more: str = "") -> None:
    config = CONFIG.replace("max_depth = 1\n", OPTIONS).replace('"start"', '["start", "other"]')
    wood.write("tree.toml", more + config + OBJECTIVES)
    for folder, second in (("start", NUMBERS), ("other", NUMBERS.replace("1", "9"))):
        wood.write(f"{folder}/numbers.txt", NUMBERS)
        wood.write(f"{folder}/more.txt", second)
        wood.write(f"{folder}/score.py", SCORE)
    ideas = {
        "a-near-b": ("numbers.txt", 3, 30), "b-near-a": ("numbers.txt", 5, 50),
        "less": ("more.txt", 4, None), "worse": ("more.txt", 3, 1),
    }  # fmt: skip
    for name, change in ideas.items():
        wood.write(f"ideas/{name}.patch", patch(*change))


def check_used(history: TreeHistory) -> None:
    """Check that every option had an effect; otherwise equal ledgers would show little."""
    evals = history.evals
    assert history.roots == 2
    assert any(len(e.scorings) == 3 for e in evals)
    assert any(len(e.scorings) == 2 for e in evals), "some medians are known early"
    verdicts = {e.verdict for e in evals}
    assert "max_children_per_parent" in verdicts
    assert "dominated" in verdicts
    assert any(e.candidate is not None and e.candidate.merged for e in evals)


def test_one_ledger_with_every_option_for_serial_and_parallel_runs_and_two_hash_seeds(
    wood: Wood, parallelism: tuple[int, ...], chaos: bool
) -> None:
    plant(wood)
    own = ("tree", "run", "tree.toml", "-q", "--json", "--max-depth", "4" if chaos else "2")
    ways = {"serial": ("--parallel-backend", "serial")}
    ways |= {f"r{count}": ("--max-parallel-evals", str(count)) for count in parallelism}
    for seed, (out, words) in enumerate(ways.items()):
        if seed == 0:  # this process has its own seed
            result = wood.weft(*own, "--out", out, *words)
        else:
            result = wood.started(*own, "--out", out, *words, PYTHONHASHSEED=str(seed))
        assert result.code == 0, result
    history = wood.load("serial").history
    check_used(history)
    assert history.stopped.startswith("patience" if chaos else "max-depth")
    assert len({wood.ledger(out) for out in ways}) == 1
    assert len({wood.summary(out) for out in ways}) == 1


@pytest.mark.slow
def test_killed_and_resumed_with_every_option_the_ledger_is_the_same(
    wood: Wood, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(wood)
    own = ("tree", "run", "tree.toml", "-q", "--max-parallel-evals", "2")
    monkeypatch.setattr(kills, "words", lambda out: [*own, "--out", str(out)])
    assert wood.weft(*own, "--out", "ref").code == 0
    results = len(kills.done_rows(wood.folder / "ref"))
    for number, share in enumerate((4, 2)):
        moment = kills.after_progress(results // share, 0.0)
        out = wood.folder / f"k{number}"
        assert kills.check_killed(wood, out, moment, wood.ledger("ref"))


@pytest.mark.slow
def test_rank_that_follows_the_hash_seed_is_caught(wood: Wood) -> None:
    """The tests above can fail: with this planted bug, the ledger depends on the process."""
    plant(wood, 'rank = "hashing:rank"\n')
    wood.write("hashing.py", HASHING)
    for seed in ("0", "1", "2"):
        words = ("tree", "run", "tree.toml", "-q", "--max-depth", "1", "--out", f"s{seed}")
        assert wood.started(*words, PYTHONHASHSEED=seed).code == 0
    assert len({wood.ledger(f"s{seed}") for seed in "012"}) > 1
