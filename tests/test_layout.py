"""The layout: no package imports many others, and modules with a search's decisions very few.

Packages are the folders and modules directly in src/weft, and each search separately. Imports
are read from the syntax, including those inside functions and those only for type checkers.
"""

from __future__ import annotations

import ast
import importlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parent.parent / "src" / "weft"
MOST_PACKAGES = 8
ASSEMBLE = ("cli", "runs")
"""Packages whose purpose is to combine the others."""


def package_of(parts: tuple[str, ...]) -> str:
    """The package of a module, given the parts of its name without `weft`."""
    deep = parts[0] == "searches" and len(parts) > 1
    return ".".join(parts[: 2 if deep else 1])


def imports_of(source: str) -> Iterator[tuple[str, ...]]:
    """Every imported name below `weft`, as its parts without `weft`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            root, *rest = name.split(".")
            if root == "weft" and rest:
                yield tuple(rest)


def imported_packages(root: Path) -> dict[str, set[str]]:
    """For each package below `root`, the other packages that it imports."""
    packages: dict[str, set[str]] = defaultdict(set)
    for path in sorted(root.rglob("*.py")):
        owner = package_of(path.relative_to(root).with_suffix("").parts)
        for parts in imports_of(path.read_text("utf-8")):
            is_module = (root / parts[0]).is_dir() or (root / f"{parts[0]}.py").is_file()
            if is_module and package_of(parts) != owner:  # else a name of the public API
                packages[owner].add(package_of(parts))
    return packages


def crowded(packages: Mapping[str, set[str]]) -> dict[str, list[str]]:
    """The packages that import too many others."""
    return {
        owner: sorted(others)
        for owner, others in packages.items()
        if len(others) > MOST_PACKAGES and owner not in ASSEMBLE
    }


def test_no_package_imports_more_than_eight_others() -> None:
    packages = imported_packages(SRC)
    assert {"searches.arc", "searches.jobs", "searches.prng", "searches.tree"} <= set(packages)
    assert crowded(packages) == {}


@pytest.mark.parametrize(
    "ninth",
    [
        "import weft.part8.deep",
        "from weft import part8",
        "from weft.part8.deep import thing",
        "def f():\n    from weft.part8 import thing",
        "if TYPE_CHECKING:\n    from weft.part8 import thing",
        "with lazy_imports():\n    from weft.part8 import thing",
    ],
)
def test_ninth_package_is_noticed(tmp_path: Path, ninth: str) -> None:
    for number in range(9):
        (tmp_path / f"part{number}").mkdir()
    module = tmp_path / "searches" / "mine" / "search.py"
    module.parent.mkdir(parents=True)
    eight = [f"from weft.part{number}.deep import thing" for number in range(8)]
    own = "from weft import task\nfrom weft.searches.mine.tasks import work"
    module.write_text("\n".join([*eight, own]))
    assert crowded(imported_packages(tmp_path)) == {}
    module.write_text("\n".join([*eight, own, ninth]))
    assert list(crowded(imported_packages(tmp_path))) == ["searches.mine"]


def test_another_search_is_a_package_of_its_own(tmp_path: Path) -> None:
    module = tmp_path / "searches" / "mine.py"
    module.parent.mkdir()
    module.write_text("from weft.searches.other.tasks import work")
    assert imported_packages(tmp_path) == {"searches.mine": {"searches.other"}}


def references(root: Path) -> list[tuple[str, str]]:
    """Name and import path of every `reference(…)` below a folder."""
    calls = [
        [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
        for path in sorted(root.rglob("*.py"))
        for source in [path.read_text("utf-8")]
        if "reference(" in source
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "reference"
    ]
    return [(call[0], call[1]) for call in calls if len(call) == 2]


def test_every_reference_of_a_search_is_to_a_function_declared_by_that_name() -> None:
    pairs = references(SRC / "searches")
    assert {"jobs.prepare", "tree.apply_idea", "tree.prepare"} <= {name for name, _ in pairs}
    for name, path in pairs:
        module, _, attribute = path.partition(":")
        function = getattr(importlib.import_module(module), attribute)
        declared = getattr(function, "__weft_name__", None) or function.name
        assert declared == name, path


def test_class_names_are_unique_across_the_package() -> None:
    places: dict[str, list[str]] = {}
    for path in sorted(SRC.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(SRC)))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
