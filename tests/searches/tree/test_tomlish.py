"""Compatible ideas that touch each other's context lines: their combination is found."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from tests.searches.tree import test_kills as kills
from tests.searches.tree.conftest import ROOT, Wood
from tests.workers.lab import print_figures

pytestmark = pytest.mark.xdist_group("tree-tomlish")
FOLDER = ROOT / "examples" / "tree" / "tomlish"
IDEAS = {path.name for path in (FOLDER / "ideas").iterdir()}
KILLS = 10
"""The number of kills for each of five seeds."""


def words(out: Path, *more: str) -> list[str]:
    return ["tree", "run", "tree.toml", "--out", str(out), "-q", *more]


def test_two_ideas_of_one_function_combine_and_without_a_merge_they_do_not(wood: Wood) -> None:
    shutil.copytree(FOLDER, wood.folder, dirs_exist_ok=True)
    for name in sorted(IDEAS - {"find-comment.patch", "blank-by-strip.patch"}):
        (wood.folder / "ideas" / name).unlink()
    own = ("--max-depth", "2", "--beam-width", "1", "--json")
    both = wood.weft(*words(wood.folder / "both", "--max-parallel-evals", "2", *own))
    assert both.code == 0, both
    assert both.json["answer"]["path"] == ["blank-by-strip.patch", "find-comment.patch"]
    alone = wood.weft(*words(wood.folder / "alone", "--set", 'merge="off"', *own))
    assert alone.json["answer"]["path"] == ["blank-by-strip.patch"]
    assert "apply-conflict" in wood.verdicts("alone").values()


@pytest.mark.slow
def test_all_ideas_combine_with_one_ledger_for_1_2_4(wood: Wood) -> None:
    shutil.copytree(FOLDER, wood.folder, dirs_exist_ok=True)
    for count in (1, 2, 4):
        own = ("--max-parallel-evals", str(count), "--json")
        result = wood.weft(*words(wood.folder / f"r{count}", *own))
        assert result.code == 0, result
    answer = result.json["answer"]
    assert set(answer["path"]) == IDEAS
    assert len({wood.ledger(f"r{count}") for count in (1, 2, 4)}) == 1
    off = wood.weft(*words(wood.folder / "off", "--set", 'merge="off"', "--json")).json["answer"]
    assert int(off["best_score"]) > int(answer["best_score"])
    with wood.capture.disabled():
        figures = {"root": answer["root_score"], "best": answer["best_score"]}
        figures |= {"unmerged": off["best_score"], "evals": answer["evals"], "parity": "1, 2, 4"}
        print_figures("tomlish", **figures)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [23, 24, 25, 26, 27])
def test_storm_of_kills_repeats_nothing_and_ends_with_the_same_ledger(
    wood: Wood, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    shutil.copytree(FOLDER, wood.folder, dirs_exist_ok=True)
    own = ("--max-parallel-evals", "2", "--max-depth", "2")
    monkeypatch.setattr(kills, "words", lambda out: words(out, *own))
    assert wood.weft(*words(wood.folder / "ref", *own)).code == 0
    runs = storm(wood, wood.ledger("ref"), seed)
    with wood.capture.disabled():
        print_figures("tomlish kills", seed=seed, kills=KILLS, runs=runs, repeated=0, orphans=0)


def storm(wood: Wood, head: str, seed: int) -> int:
    """Kill runs a few results after each start, `KILLS` times; return the number of runs."""
    chance, killed, runs = random.Random(seed), 0, 0
    while killed < KILLS:
        out, before = wood.folder / f"k{runs}", dict[str, tuple[int, float]]()
        alive = True
        while alive and killed < KILLS:
            results = len(before) + chance.randrange(3)
            moment = kills.after_progress(results, chance.uniform(0.0, 0.2))
            alive = kills.kill_at(wood, out, moment)
            killed += alive
            now = kills.done_rows(out)
            assert {key: now[key] for key in before} == before, "a completed task ran again"
            before = now
        assert kills.check_killed(wood, out, lambda _: True, head) in (True, False)
        runs += 1
    return runs
