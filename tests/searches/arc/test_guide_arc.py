"""docs/arc.md and docs/arc-language.md are complete: defaults, outcomes, operators and rules."""

from __future__ import annotations

import re

from tests.support.shown import ROOT, block_of
from weft.searches.arc import options as arcoptions
from weft.searches.arc.fitted.registry import COMPOSED, RULES
from weft.searches.arc.normal.registry import VIEWS
from weft.searches.arc.ops.registry import REGISTRY
from weft.searches.arc.program import parse
from weft.searches.arc.synthesis.budget import SLICES, SearchBudget
from weft.searches.arc.synthesis.sample import CANVASES
from weft.searches.arc.verdict import Outcome

GUIDE = (ROOT / "docs" / "arc.md").read_text("utf-8")
LANGUAGE = (ROOT / "docs" / "arc-language.md").read_text("utf-8")


def test_example_of_the_language_is_a_program() -> None:
    parse(block_of("docs/arc-language.md", "", "a = "))
    parse(block_of("docs/arc-language.md", "", "view "))


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
    assert f"gets {budget.view_share} % of the programs" in " ".join(GUIDE.split())
    assert f"at most {CANVASES} canvases" in GUIDE


def test_guide_names_every_view() -> None:
    assert [view.name for view in VIEWS if f"`{view.name}`" not in GUIDE] == []


def test_guide_explains_every_outcome() -> None:
    assert [name for name in Outcome if f"| `{name}` |" not in GUIDE] == []


def undocumented(page: str) -> list[str]:
    """Operators, rules and views without exactly one row; measures may share their names."""
    page = re.sub(r"^## Measures of objects$.*?(?=^## )", "", page, flags=re.M | re.S)
    names = [o.name for o in REGISTRY] + [rule.name for rule in (*RULES, *COMPOSED)]
    names += [view.name for view in VIEWS]
    return [name for name in names if page.count(f"| `{name}` |") != 1]


def test_language_has_every_operator_and_rule() -> None:
    assert undocumented(LANGUAGE) == []


def test_operator_without_a_row_is_found() -> None:
    for name in (REGISTRY[0].name, REGISTRY[-1].name, RULES[-1].name, VIEWS[-1].name):
        assert undocumented(LANGUAGE.replace(f"| `{name}` |", "| |")) == [name]
