"""The project's frame: rules for every file, pin and page."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from _pytest.assertion import rewrite
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.tools import require_tool
from tools.compile_tests import compile_one

ROOT = Path(__file__).resolve().parent.parent
# Folders of a particular machine, never of the project. Written so as not to match itself.
MACHINE_PATH = re.compile(r"(?:file://|(?<![\w.~}/-]))/(?:work|root|farm)(?:/|\b(?![\w-]))")
ABSENT_TOOL = "no-such-tool"
PIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9.!+_-]+")


def tracked_files() -> list[Path]:
    listing = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    names = sorted(name for name in listing.stdout.decode().split("\0") if name)
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def text_of(path: Path) -> str:
    """Return the text of a file, empty for a binary one."""
    data = path.read_bytes()
    return "" if b"\0" in data else data.decode("utf-8", errors="replace")


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return {canonicalize_name(name): v for name, v in (line.split("==") for line in lines)}


def pyproject() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_tracked_files_hold_no_machine_paths() -> None:
    require_tool("git")
    lines = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in tracked_files()
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]
    assert lines == []


@pytest.mark.parametrize("folder", ["work", "root", "farm"])
def test_machine_path_planted_is_found(folder: str) -> None:
    for text in (f"/{folder}/x", f"see /{folder}/x", f'"/{folder}"', f"file:///{folder}/x"):
        assert MACHINE_PATH.search(text), text
    for text in (f"a/{folder}/x", f"/{folder}er/x", f"/{folder}-x", f"https://h.org/{folder}/"):
        assert not MACHINE_PATH.search(text), text


def test_constraints_are_names_and_versions_only() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert lines
    assert [line for line in lines if not PIN.fullmatch(line)] == []
    assert lines == sorted(lines, key=str.lower)
    assert {"pip", "setuptools", "weft"}.isdisjoint(pins())


def test_constraints_cover_and_satisfy_every_dependency() -> None:
    project = pyproject()["project"]
    assert isinstance(project, dict)
    requirements = [*project["dependencies"]]
    for extra in project.get("optional-dependencies", {}).values():
        requirements += extra
    pinned = pins()
    for requirement in map(Requirement, requirements):
        name = canonicalize_name(requirement.name)
        if name == "weft":  # an extra composed of other extras
            continue
        assert name in pinned, f"{name} has no pin in constraints.txt"
        assert requirement.specifier.contains(pinned[name], prereleases=True), name


def test_readme_names_the_two_commands_on_its_first_screen() -> None:
    first_screen = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:30]
    assert any("make demo" in line for line in first_screen)
    assert any("make test" in line for line in first_screen)


def test_source_modules_have_docstrings() -> None:
    modules = sorted((ROOT / "src").rglob("*.py"))
    assert modules
    bare = [
        str(path.relative_to(ROOT))
        for path in modules
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert bare == []


def test_required_tools_are_installed_by_ci() -> None:
    tools: set[str] = set()
    for path in sorted((ROOT / "tests").rglob("*.py")):
        tools |= set(re.findall(r'require_tool\("([\w.-]+)"\)', path.read_text(encoding="utf-8")))
    installed = set(re.findall(r"^  ([\w.-]+):[\w.+-]+$", text_of(ROOT / ".ci/run"), re.MULTILINE))
    assert tools <= installed


def test_require_tool_missing_skips_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=ABSENT_TOOL):
        require_tool(ABSENT_TOOL)


def test_require_tool_missing_fails_under_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=ABSENT_TOOL):
        require_tool(ABSENT_TOOL)


def test_commit_hooks_call_only_tools_of_the_environment() -> None:
    [source] = yaml.safe_load(text_of(ROOT / ".pre-commit-config.yaml"))["repos"]
    assert source["repo"] == "local"  # nothing is fetched, every version is pinned
    entries = [hook["entry"] for hook in source["hooks"]]
    assert {hook["language"] for hook in source["hooks"]} == {"system"}
    makefile = text_of(ROOT / "Makefile")
    for entry in entries:
        program, *options = entry.split()
        assert program.startswith(".venv/bin/")
        tool = Path(program).name
        assert Path(sys.executable).with_name(tool).is_file(), tool
        assert re.search(rf"^\t\$\(BIN\)/{' '.join((tool, *options))}\b", makefile, re.M), entry
    assert {Path(entry.split()[0]).name for entry in entries} == {"ruff", "mypy", "lint-imports"}


@pytest.mark.parametrize("name", ["bug.yml", "feature.yml"])
def test_issue_form_is_complete(name: str) -> None:
    form = yaml.safe_load(text_of(ROOT / ".github" / "ISSUE_TEMPLATE" / name))
    assert form["name"]
    assert form["description"]
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    ids = [field["id"] for field in fields]
    assert len(set(ids)) == len(ids) >= 3
    assert all(field["attributes"]["label"] for field in fields)


def test_make_help_names_every_target() -> None:
    makefile = text_of(ROOT / "Makefile")
    [targets] = re.findall(r"^\.PHONY: help (.*)$", makefile, re.MULTILINE)
    assert re.findall(r'^\t@echo "make (\w+)', makefile, re.MULTILINE) == targets.split()


def test_generated_pages_are_current() -> None:
    checked = subprocess.run(
        [sys.executable, "tools/make_docs.py", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr


def test_area_times_sum_per_first_folder(tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    junit.write_text(
        '<testsuites><testsuite time="90">'
        '<testcase classname="tests.ledger.test_a" time="60"/>'
        '<testcase classname="tests.ledger.deep.test_b.TestC" time="30"/>'
        '<testcase classname="tests.test_frame" time="6"/>'
        "</testsuite></testsuites>"
    )
    core = tmp_path / "junit-core.xml"
    core.write_text(
        '<testsuite time="6"><testcase classname="tests.model.test_d" time="6"/></testsuite>'
    )
    result = subprocess.run(
        [sys.executable, "tools/area_times.py", str(junit), str(core)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.rsplit(maxsplit=2) for line in result.stdout.splitlines()[1:]]
    assert rows == [
        ["frame", "1", "0.10"], ["ledger", "2", "1.50"], ["model", "1", "0.10"],
        ["wall clock", "4", "1.50"],
    ]  # fmt: skip


def test_tests_compiled_before_are_those_that_pytest_reads(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    file = tmp_path / "test_one.py"
    file.write_text("def test_two():\n    assert 1 + 1 == 2\n")
    compile_one(file, pytestconfig)
    [cached] = (tmp_path / "__pycache__").iterdir()
    code = rewrite._read_pyc(file, cached)
    assert "@pytest_ar" in code.co_names, "assertions are rewritten"
    assert cached.name == "test_one" + rewrite.PYC_TAIL


def test_slow_tests_are_deselected_without_chaos(tmp_path: Path) -> None:
    (tmp_path / "test_planted.py").write_text(
        "import pytest\n@pytest.mark.slow\ndef test_a(chaos): assert chaos\n"
        "def test_b(): pass\ndef test_sample(chaos): pass\n"
    )
    base = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    base += ["-c", str(ROOT / "pyproject.toml"), "-p", "tests.conftest", str(tmp_path)]
    plain = subprocess.run(base, cwd=ROOT, capture_output=True, text=True)
    full = subprocess.run(
        [*base, "--chaos", "-m", "slow"], cwd=ROOT, capture_output=True, text=True
    )
    assert "2 passed, 1 deselected" in plain.stdout, plain.stdout + plain.stderr
    assert "2 passed, 1 deselected" in full.stdout, full.stdout + full.stderr
