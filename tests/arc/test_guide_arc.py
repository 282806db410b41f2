"""docs/arc.md and docs/arc-language.md are true: commands print what they say, tables are whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.test_guide import BLOCK, ROOT, run_console
from weft.arc.fitted.registry import RULES
from weft.arc.ops.registry import REGISTRY
from weft.arc.program import parse
from weft.arc.search.budget import SLICES, SearchBudget
from weft.arc.verdict import Outcome
from weft.cli import arcoptions

pytestmark = pytest.mark.xdist_group("arc-runs")
GUIDE = (ROOT / "docs" / "arc.md").read_text("utf-8")
LANGUAGE = (ROOT / "docs" / "arc-language.md").read_text("utf-8")


def test_commands_of_the_guide_print_what_it_says(tmp_path: Path) -> None:
    consoles = [text for language, text in BLOCK.findall(GUIDE) if language == "console"]
    assert len(consoles) == 2
    for text in consoles:
        run_console(text, tmp_path)


def test_example_of_the_language_runs(tmp_path: Path) -> None:
    program, console = re.findall(r"^```(?:console)?\n(.*?)^```$", LANGUAGE, re.DOTALL | re.M)[:2]
    parse(program)
    (tmp_path / "program.txt").write_text(program)
    run_console(console, tmp_path)


def test_guide_states_the_defaults() -> None:
    budget = SearchBudget()
    known = (
        budget.max_programs,
        budget.max_depth,
        budget.max_states,
        budget.competitor_programs,
        budget.max_millibits // 1000,
    )
    assert known == (
        arcoptions.DEFAULT_PROGRAMS,
        arcoptions.DEFAULT_DEPTH,
        arcoptions.DEFAULT_STATES,
        arcoptions.DEFAULT_COMPETITORS,
        arcoptions.DEFAULT_BITS,
    )
    stated = re.findall(r"^\| `--[a-z-]+` \| ([\d,]+) \|", GUIDE, re.M)
    assert [int(text.replace(",", "")) for text in stated] == list(known)
    assert f"divided into {SLICES} *slices*" in GUIDE
    assert f"| {budget.shallow_share} |" not in GUIDE
    assert (budget.shallow_share, budget.shallow_most) == (50, 30_000), "the guide says so"


def test_guide_explains_every_outcome() -> None:
    assert [name for name in Outcome if f"| `{name}` |" not in GUIDE] == []


def test_language_has_every_operator_and_rule() -> None:
    names = [o.name for o in REGISTRY] + [rule.name for rule in RULES]
    assert [name for name in names if LANGUAGE.count(f"| `{name}` |") != 1] == []
