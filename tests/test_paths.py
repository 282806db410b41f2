"""The paths in docs/architecture.md: every function exists, every list is short and descends."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"
SECTION = "## The path of one task"
SEARCHES = ("arc", "tree", "prng", "jobs")
MOST_HOPS = 18
FUNCTION = re.compile(r"`(weft(?:\.\w+)+):([\w.]+)`")
HOP = re.compile(r"^(\d+)\. (`weft[.\w]+:[\w.]+`)(.*(?:\n {2,}\S.*)*)$", re.MULTILINE)

Hops = list[tuple[str, str]]
"""Hops in order, each a module and a function or method in it."""


def section(page: str, heading: str) -> str:
    """The text of a section, up to the next heading of its level."""
    return page.partition(f"\n{heading}\n")[2].partition("\n## ")[0]


def paths(page: str) -> dict[str, Hops]:
    """Each list of the section by its heading, up to a colon."""
    lists: dict[str, Hops] = {}
    for part in section(page, SECTION).split("\n### ")[1:]:
        heading, _, text = part.partition("\n")
        hops = HOP.findall(text)
        assert [int(number) for number, *_ in hops] == list(range(1, len(hops) + 1)), heading
        assert len(hops) == len(re.findall(r"^\d+\.", text, re.MULTILINE)), heading
        lists[heading.partition(":")[0]] = [FUNCTION.findall(hop)[0] for _, hop, _ in hops]
    return lists


def exists(module: str, function: str) -> bool:
    """Whether a module defines a function, or a class with that method, without importing it."""
    place = ROOT / "src" / module.replace(".", "/")
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    if not file.is_file():
        return False
    body: Sequence[ast.stmt] = ast.parse(file.read_text("utf-8")).body
    *classes, name = function.split(".")
    for part in classes:
        owner = next((s for s in body if isinstance(s, ast.ClassDef) and s.name == part), None)
        if owner is None:
            return False
        body = owner.body
    return any(isinstance(s, ast.FunctionDef) and s.name == name for s in body)


def layers() -> dict[str, int]:
    """The position of each package in the contract of import-linter; 0 is the top."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    [rows] = [c["layers"] for c in contracts if c.get("containers") == ["weft"]]
    return {name.strip(): place for place, row in enumerate(rows) for name in row.split("|")}


def first_rise(path: Hops) -> str:
    """The first hop to a layer above the previous one; empty if there is none."""
    places = layers()
    lowest = 0
    for module, name in path:
        place = places[module.split(".")[1]]
        if place < lowest:
            return f"{module}:{name}"
        lowest = place
    return ""


PATHS = paths(PAGE.read_text("utf-8"))


def test_table_of_layers_is_the_contract() -> None:
    text = section(PAGE.read_text("utf-8"), "## Layers")
    rows = re.findall(r"^\| `weft\.(\w+)` \|", text, re.MULTILINE)
    beside = {"version", "lazy_imports"}  # in the row of `weft.errors`
    places = layers()
    assert len(rows) == len(set(rows))
    assert set(rows) | beside == set(places)
    assert [places[row] for row in rows] == sorted(places[row] for row in rows)


def test_every_search_has_its_path() -> None:
    assert set(SEARCHES) <= set(PATHS)
    shipped = {p.parent.name for p in (ROOT / "src/weft/searches").glob("*/product.py")}
    assert shipped == set(SEARCHES)


@pytest.mark.parametrize("name", SEARCHES)
def test_path_leads_from_option_to_ledger_line(name: str) -> None:
    modules = [module for module, _ in PATHS[name]]
    assert modules[0] == "weft.main"
    assert any(module.startswith(f"weft.searches.{name}.") for module in modules)
    assert modules[-1].startswith("weft.ledger.")


@pytest.mark.parametrize("name", sorted(PATHS))
def test_path_is_short_and_only_goes_down(name: str) -> None:
    assert 3 <= len(PATHS[name]) <= MOST_HOPS
    assert first_rise(PATHS[name]) == ""


def test_every_function_on_the_page_exists() -> None:
    functions = FUNCTION.findall(PAGE.read_text("utf-8"))
    assert len(functions) >= sum(map(len, PATHS.values()))
    assert [f"{m}:{f}" for m, f in functions if not exists(m, f)] == []


@pytest.mark.parametrize(
    ("module", "function", "there"),
    [
        ("weft.ledger.chain", "Chain.next_line", True),
        ("weft.ledger.chain", "check_lines", True),
        ("weft.ledger.chain", "Chain.gone", False),
        ("weft.ledger.chain", "Gone.next_line", False),
        ("weft.ledger.chain", "gone", False),
        ("weft.ledger.gone", "render", False),
    ],
)
def test_function_that_is_gone_is_found(module: str, function: str, there: bool) -> None:
    assert exists(module, function) is there


def test_path_that_goes_up_is_found() -> None:
    down = [("weft.main", "main"), ("weft.runs.run", "run"), ("weft.ledger.records", "render")]
    assert first_rise(down) == ""
    assert first_rise([down[0], down[2], down[1]]) == "weft.runs.run:run"


def test_hop_that_cannot_be_read_is_found() -> None:
    page = f"\n{SECTION}\n\n### arc\n\n1. `weft.main:main` begins\n2. then more\n"
    with pytest.raises(AssertionError, match="arc"):
        paths(page)
