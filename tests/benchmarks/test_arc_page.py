"""The page of ARC figures: published results beside those of Weft."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import arcpage, arcpublished
from benchmarks.arcpublished import HEADING, PUBLISHED, SUBSET, Published

PAGES = Path(__file__).parents[2] / "docs" / "benchmarks"
RESULTS = ("training", "evaluation", "hidden", "arc_agi_2", "subset")


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    body: dict[str, Any] = json.loads((PAGES / "arc.json").read_text())
    return body


def test_page_is_what_the_recorded_figures_give(recorded: dict[str, Any]) -> None:
    assert (PAGES / "arc.md").read_text() == arcpage.render(recorded)


def test_every_row_is_on_the_page_under_its_columns(recorded: dict[str, Any]) -> None:
    text = arcpage.render(recorded).split(HEADING, 1)[1].split("\n## ", 1)[0]
    rows = [tuple(line[2:-2].split(" | ")) for line in text.splitlines() if line.startswith("| ")]
    assert rows[0] == arcpublished.COLUMNS
    assert rows[2 : 2 + len(PUBLISHED)] == [row.cells() for row in PUBLISHED]
    assert rows[-len(SUBSET) - 1] == arcpublished.SUBSET_COLUMNS
    assert rows[-len(SUBSET) :] == [row.subset_cells() for row in SUBSET]


def test_own_row_comes_first_with_the_recorded_figures(recorded: dict[str, Any]) -> None:
    part = recorded["splits"]
    own = arcpublished.own(part["version"], part["runs"])
    assert own.evaluation == str(part["runs"]["evaluation"]["top2"])
    assert own.training == str(part["runs"]["training"]["top2"])
    assert own.arc_agi_2 == str(part["runs"]["ARC-AGI-2 evaluation"]["top2"])
    first = arcpublished.section(part["version"], part["runs"]).split("\n|---", 1)[1].splitlines()
    assert first[1] == f"| {' | '.join(own.cells())} |"


@pytest.mark.parametrize("row", [*PUBLISHED, *SUBSET], ids=lambda row: row.solver)
def test_published_row_names_result_guesses_tuning_and_a_public_source(row: Published) -> None:
    assert any(getattr(row, name) for name in RESULTS)
    assert all((row.guesses, row.time, row.tuned_on, row.sources))
    assert all("](https://" in source for source in row.sources)
