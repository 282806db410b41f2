"""A gate and a rank of the user's own: pure functions, bound into the run."""

from __future__ import annotations

import pytest

from tests.searches.tree.conftest import CONFIG, Wood
from tests.searches.tree.test_refusals import check_refused

pytestmark = pytest.mark.xdist_group("tree-rules")
MINE = '''
from weft.searches.tree.history import Rule

def gate(seen):
    """Small steps only; the usual rules hold too."""
    return [*seen.rules, Rule("too-much", seen.gain <= 10, f"{seen.gain} at once")]

def lenient(seen):
    return []

def rank(passed):
    """Worst first, by the decimals that were recorded."""
    return sorted(passed, key=lambda seen: (seen.score, seen.eval_id))
'''
OWN = CONFIG.replace("direction", 'gate = "{module}:gate"\nrank = "{module}:rank"\ndirection')


def plant(wood: Wood, config: str = OWN) -> str:
    module = f"mine_{abs(hash(wood.folder))}"  # modules stay imported in this process
    wood.plant(config.replace("{module}", module))
    wood.write(f"{module}.py", MINE)
    return module


def test_own_gate_refuses_by_its_names_and_own_rank_orders(wood: Wood) -> None:
    plant(wood)
    result = wood.run("r", "--beam-width", "1", "--json")
    assert result.code == 0, result
    assert wood.verdicts("r") == {
        "down-b.md": "regressed",
        "up-a.md": "too-much",
        "up-b.md": "promoted n1",
    }
    assert "40 at once" in wood.weft("tree", "why", "r", "e2").out
    wood.run("q", "--set", f'gate="{next(iter(wood.folder.glob("mine*.py"))).stem}:lenient"')
    nodes = [n.result.score for n in wood.load("q").history.nodes]
    assert nodes == ["12", "11", "17", "52"]


def test_no_gate_lets_a_candidate_pass_that_failed_or_touched_the_scorer(wood: Wood) -> None:
    module = plant(wood)
    patch = "FILE: score.py\n<<<<<<< SEARCH\nimport json, os, sys\n=======\nimport json, os\n"
    wood.write("ideas/cheat.md", patch + ">>>>>>> REPLACE\n")
    wood.run("r", "--set", f'gate="{module}:lenient"')
    assert wood.verdicts("r")["cheat.md"] == "tampered"


def test_other_gate_or_changed_source_is_another_run(wood: Wood) -> None:
    module = plant(wood)
    assert wood.apart("tree", "run", "tree.toml", "--out", "r", "-q").code == 0
    path = wood.folder / f"{module}.py"
    path.write_text(MINE.replace("<= 10", "<= 50"), "utf-8")
    result = wood.apart("tree", "run", "tree.toml", "--out", "r", "-q")
    assert (result.code, result.out) == (3, "")
    assert "contains a different run: config.args.config.gate_source" in result.err
    looked = wood.apart("tree", "why", "r", "e2")
    assert looked.code == 3
    assert f"the source of {module}:gate has changed since this run started" in looked.err


def test_resume_from_elsewhere_finds_the_module_beside_the_config(wood: Wood) -> None:
    plant(wood)
    assert wood.apart("tree", "run", "tree.toml", "--out", "runs/r", "-q").code == 0
    cut = wood.apart("tree", "run", "tree.toml", "--out", "runs/s", "-q", "--wall-limit", "0.1")
    assert cut.code == 130, cut
    elsewhere = wood.folder / "elsewhere"
    elsewhere.mkdir()
    wood.folder, base = elsewhere, wood.folder
    assert wood.apart("resume", base / "runs" / "s", "-q").code == 0
    replayed = wood.apart("replay", base / "runs" / "s", "-q")
    assert replayed.code == 0, replayed
    wood.folder = base
    assert wood.ledger("runs/s") == wood.ledger("runs/r")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("mine", "gate"),
        ("not_there_at_all:gate", "gate: not_there_at_all:gate: No module named"),
        ("json:nothing", "gate: json:nothing: module 'json' has no attribute 'nothing'"),
        ("json:__name__", "json:__name__ is not a function"),
    ],
)
def test_gate_that_is_no_function_is_refused(wood: Wood, value: str, said: str) -> None:
    wood.plant(CONFIG.replace("direction", f'gate = "{value}"\ndirection'))
    check_refused(wood, 3, ["tree.toml", said])


def test_rank_that_loses_an_eval_is_refused(wood: Wood) -> None:
    module = plant(wood)
    path = wood.folder / f"{module}.py"
    path.write_text(MINE.replace("return sorted(passed,", "return sorted(passed[1:],"), "utf-8")
    result = wood.apart("tree", "run", "tree.toml", "--out", "r", "-q")
    assert result.code == 3
    assert f"{module}:rank must return each eval exactly once" in result.err
