"""Concept puzzles: every rule generates valid ones, identical on every machine."""

from __future__ import annotations

import hashlib
import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import arcconcepts
from weft.searches.arc.data import load
from weft.searches.arc.recorded import Recorded

DIGEST = "148c8783f6034067"
"""Digest of all puzzles with their names; must be updated when a rule changes."""


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "tools")
    return importlib.import_module("make_concept_puzzles")


def test_puzzles_are_the_same_on_every_machine(tool: Any, tmp_path: Path) -> None:
    names = tool.write(tmp_path)
    files = {name: json.loads((tmp_path / f"{name}.json").read_text()) for name in names}
    text = json.dumps(files, sort_keys=True).encode()
    assert hashlib.sha256(text).hexdigest()[:16] == DIGEST
    assert len(load(tmp_path).tasks) == len(names) == 2 * len(tool.concepts())


def test_every_rule_says_what_it_does_and_makes_many_different_puzzles(tool: Any) -> None:
    make = importlib.import_module("concepts.puzzle").puzzle_of
    for entry in tool.concepts():
        assert entry.rule.__doc__, entry.name
        puzzles = [make(entry, number) for number in range(3)]
        assert len({str(puzzle) for puzzle in puzzles}) == 3, entry.name
        for pairs in puzzles:
            assert len(pairs) == 4, entry.name
            assert all(given != target for given, target in pairs), entry.name


def test_puzzles_vary_in_orientation_and_background(tool: Any) -> None:
    module = importlib.import_module("concepts.puzzle")
    entry = next(entry for entry in tool.concepts() if entry.name == "cells_fall")
    puzzles = [module.puzzle_of(entry, number) for number in range(24)]
    black = [sum(row.count(0) for row in pairs[0][0]) > 0 for pairs in puzzles]
    assert 0 < sum(black) < len(black)
    assert {heavy_side(pairs) for pairs in puzzles} == {"top", "bottom", "left", "right"}


def heavy_side(pairs: list[tuple[list[list[int]], list[list[int]]]]) -> str:
    """The side of the outputs with the fewest background cells."""
    grids = [target for _, target in pairs]
    cells = [cell for grid in grids for row in grid for cell in row]
    ground = max(set(cells), key=cells.count)
    sides = {
        "top": [grid[0] for grid in grids],
        "bottom": [grid[-1] for grid in grids],
        "left": [[row[0] for row in grid] for grid in grids],
        "right": [[row[-1] for row in grid] for grid in grids],
    }
    return min(sides, key=lambda side: sum(line.count(ground) for line in sides[side]))


def test_rules_that_no_guess_reaches_are_named(tool: Any, tmp_path: Path) -> None:
    tool.write(tmp_path / "puzzles", 1, "tile")
    truth = arcconcepts.truths(tmp_path / "puzzles")
    tasks = sorted(truth.values(), key=lambda task: task.name)
    names = {t.name: {"rule": f"rule {t.name}", "group": "tile"} for t in tasks}
    first = {"groups": [{"outputs": [grid.rows() for grid in tasks[0].truth]}], "failure": None}
    items = tuple(Recorded(t, first if t is tasks[0] else None) for t in tasks)  # type: ignore[arg-type]
    missed = arcconcepts.missed(type("Run", (), {"items": items})(), truth, names)
    assert missed == [f"rule {task.name}" for task in tasks[1:]]


def test_the_section_has_a_row_for_each_group_and_for_all() -> None:
    counts = {"tasks": 4, "answered": 3, "right": 2, "wrong": 1, "top1": 2, "top2": 3}
    part = {
        "machine": "here", "rules": 2, "groups": {"tile": counts}, "missed": ["tile_grid"],
        "totals": {**counts, "cpu_s_per_task": 1.25},
    }  # fmt: skip
    text = arcconcepts.section(part)
    assert "| tile | 4 | 3 | 2 | 1 | 2 | 3 |\n| all | 4 | 3 | 2 | 1 | 2 | 3 |" in text
    assert "1.25 CPU s" in text
    assert "tile_grid" in text
