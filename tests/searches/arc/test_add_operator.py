"""Definitions are independent of kernels; an operator that uses an existing kernel is one row."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.support.arcvalues import compiled, grids
from weft.searches.arc.ops import segmentation
from weft.searches.arc.ops.operator import Operator
from weft.searches.arc.ops.registry import BY_NAME
from weft.searches.arc.program import parse
from weft.searches.arc.synthesis.budget import SearchBudget
from weft.searches.arc.synthesis.language import Language
from weft.searches.arc.synthesis.phases import Options
from weft.searches.arc.synthesis.planner import ParallelPlanner
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid

ROOT = Path(__file__).parents[3]
PROGRAM = "a = sixths_across(I)\nb = pick_most_cells(a)\nreturn object_grid(b)\n"
ROWS = ("112030405060", "102033405060", "102030405066", "702030885060")
ANSWERS = ("11", "33", "66", "88")


def guide_operator() -> Operator:
    """The operator that the row in the guide declares, evaluated as in its source file."""
    guide = (ROOT / "docs" / "arc.md").read_text()
    section = guide.split("## Add an operator")[1].split("\n## ")[0]
    [row] = re.findall(r"```\n(.*),\n```", section)
    operator = eval(row, vars(segmentation))
    assert isinstance(operator, Operator)
    return operator


def grid(digits: str) -> Grid:
    return Grid.of([[int(digit) for digit in digits]])


def test_definitions_import_no_kernel_and_no_numba() -> None:
    code = (
        "import sys; from weft.searches.arc.ops.registry import REGISTRY;"
        "assert len(REGISTRY) > 200;"
        "print([m for m in sys.modules if m.split('.')[0] in ('numba', 'llvmlite', 'numpy')"
        " or m.startswith('weft.searches.arc.kernels')])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


@settings(max_examples=30, deadline=None, derandomize=True, database=None)
@given(value=grids())
def test_row_of_the_guide_has_a_kernel_that_equals_its_definition(value: Grid) -> None:
    operator = guide_operator()
    assert compiled(operator, value, value) == operator.plain(value, value)


def test_row_of_the_guide_adds_an_operator_that_the_search_uses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    operator = guide_operator()
    assert operator.name not in BY_NAME
    monkeypatch.setitem(BY_NAME, operator.name, operator)
    pairs = [Pair(grid(row), grid(answer)) for row, answer in zip(ROWS, ANSWERS, strict=True)]
    task = ArcTask("sixths", tuple(pairs[:3]), (pairs[3].input,))
    language = Language((), [operator, BY_NAME["pick_most_cells"], BY_NAME["object_grid"]])
    result = ParallelPlanner(Options(language, SearchBudget(max_programs=200))).search(task)
    programs = [p.text() for group in result.verdict.groups for p in group.programs]
    assert PROGRAM in programs
    assert parse(PROGRAM).run(pairs[3].input) == pairs[3].output
