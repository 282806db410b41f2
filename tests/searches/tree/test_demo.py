"""The whole compressor demo: the beam matters, the winner decodes, two at a time are faster."""

from __future__ import annotations

import bz2
import subprocess
import sys
import time

import pytest

from tests.searches.tree.conftest import COMPRESSOR, SCORE, UNCONFINED, Wood
from tests.searches.tree.test_runs import git
from tests.workers.lab import print_figures


@pytest.mark.slow
def test_beam_beats_greedy_and_bz2_and_the_branch_decodes_exactly(wood: Wood) -> None:
    best, spent = {}, {}
    for name, width, count in (("beam", "3", "2"), ("serial", "3", "1"), ("greedy", "1", "2")):
        words = ("--beam-width", width, "--max-depth", "6", "--max-parallel-evals", count)
        start_s = time.monotonic()
        outcome = wood.run(name, *words, "--json", config=COMPRESSOR)
        spent[name] = time.monotonic() - start_s
        assert outcome.code == 0, outcome
        best[name] = int(outcome.json["answer"]["best_score"])
    text = (COMPRESSOR.parent / "start" / "text.txt").read_bytes()
    assert best["beam"] < best["greedy"]
    assert best["beam"] < len(bz2.compress(text))
    assert wood.ledger("beam") == wood.ledger("serial")
    assert wood.weft("tree", "export", "beam", "--repo", "made").code == 0
    exported = wood.folder / "made"
    ideas = git(exported, "log", "--format=%s").split()
    assert len(ideas) == len(set(ideas)) == 7
    check = "import codec; t = open('text.txt', 'rb').read(); p = codec.compress(t)"
    check += "; assert codec.decompress(p) == t; print(len(p))"
    result = subprocess.run(
        [sys.executable, "-c", check], cwd=exported, capture_output=True, text=True
    )
    assert result.stdout.strip() == str(best["beam"])
    with wood.capture.disabled():
        figures = {f"{n}_bytes": b for n, b in best.items()}
        print_figures("tree demo", **figures, speed_up=spent["serial"] / spent["beam"])


NOISY = SCORE.replace('value = {"score": ', 'value = {"score": noise + ')
COUNT = """
import pathlib
place = pathlib.Path("{place}")
count = len(place.read_text()) if place.exists() else 0
place.write_text("x" * (count + 1))
noise = (0, 4, 1)[count] if count < 3 else 0
"""


def test_noise_band_of_the_root_asks_for_a_larger_gain(wood: Wood) -> None:
    wood.plant(UNCONFINED, COUNT.format(place=wood.folder / "count") + NOISY)
    wood.run("r", "--root-repeats", "3")
    history = wood.load("r").history
    assert (history.root_scores, str(history.band)) == (["12", "16", "13"], "4")
    assert wood.verdicts("r") == {
        "down-b.md": "within-noise",
        "up-a.md": "promoted n1",
        "up-b.md": "promoted n2",
    }


def test_a_thousand_dry_evals_stay_small(wood: Wood, chaos: bool) -> None:
    wood.plant()
    count = 1000 if chaos else 200
    values = ",".join(map(str, range(count * 2 // 5)))
    table = f'[[parameters]]\nfile = "params.json"\nkey = "a"\nvalues = [{values}]\n'
    wood.write("tree.toml", (wood.folder / "tree.toml").read_text("utf-8") + table)
    words = ("tree", "run", "tree.toml", "--dry-run", "--max-depth", "3", "-q", "--out", "r")
    words += ("--max-total-evals", str(count))
    watch = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    argv = [sys.executable, "-c", watch, sys.executable, "-m", "weft.main", *words]
    result = subprocess.run(argv, cwd=wood.folder, capture_output=True, text=True, check=True)
    assert int(result.stdout.split()[-1]) < 300 * 1024
    tree_run = wood.load("r")
    assert len(tree_run.history.evals) == count
