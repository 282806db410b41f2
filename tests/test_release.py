"""`make release`: a project that is not ready is refused in one line, and its builds work.

The checks run as a program on a scratch repository; the wheel is that of this project.
"""

from __future__ import annotations

import runpy
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.tools import require_tool

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / "tools" / "release.py"
SECTION = "## [1.2.0] - 2026-11-16\n\n- All.\n\n"
CHANGELOG = f"# Changelog\n\n## [Unreleased]\n\n{SECTION}## [1.1.0]\n"


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A committed project of version 1.2.0 that is ready for release."""
    require_tool("git")
    folder = tmp_path / "project"
    (folder / "src" / "weft").mkdir(parents=True)
    (folder / "tools").mkdir()
    shutil.copy(TOOL, folder / "tools")
    (folder / "pyproject.toml").write_text('[project]\nname = "weft"\nversion = "1.2.0"\n')
    (folder / "src/weft/version.py").write_text('"""Weft."""\nOTHER = 1\n__version__ = "1.2.0"\n')
    (folder / "CHANGELOG.md").write_text(CHANGELOG)
    (folder / ".gitignore").write_text("/dist/\n__pycache__/\n")
    git(folder, "init", "-q")
    commit(folder)
    return folder


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "x")


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "tools/release.py", "--check"], cwd=folder, capture_output=True, text=True
    )


def check_refused(folder: Path, *words: str) -> None:
    """Check that the tool exits with 1 and that its only line has all words."""
    result = check(folder)
    assert (result.returncode, result.stdout) == (1, ""), result.stdout + result.stderr
    assert result.stderr.startswith("release: ")
    assert result.stderr.count("\n") == 1, result.stderr
    assert [word for word in words if word not in result.stderr] == []


def test_project_that_is_ready_passes(project: Path) -> None:
    (project / "dist").mkdir()
    (project / "dist" / "old.whl").write_text("ignored by git")
    result = check(project)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("weft 1.2.0:")


@pytest.mark.parametrize(
    ("path", "old", "new", "words"),
    [
        ("src/weft/version.py", "1.2.0", "1.1.9", ("version.py", "1.1.9", "1.2.0", "next:")),
        ("src/weft/version.py", "__version__", "__revision__", ("no __version__",)),
        ("pyproject.toml", "1.2.0", "1.3.0", ("version.py", "1.2.0", "1.3.0")),
        ("CHANGELOG.md", SECTION, "", ("CHANGELOG.md", "1.1.0", "1.2.0")),
        ("CHANGELOG.md", "[1.2.0]", "[1.2.1]", ("1.2.1", "1.2.0", "next:")),
        ("CHANGELOG.md", " - 2026-11-16", "", ("1.2.0", "date none", "YYYY-MM-DD")),
        ("CHANGELOG.md", "2026-11-16", "2026-13-16", ("date 2026-13-16",)),
        ("CHANGELOG.md", "[Unreleased]\n", "[Unreleased]\n\n- More.\n", ("Unreleased", "move")),
        ("CHANGELOG.md", CHANGELOG, "# Changelog\n", ("newest section is none",)),
        ("CHANGELOG.md", CHANGELOG, "## [Unreleased]\n", ("newest section is none",)),
    ],
)
def test_version_or_changelog_that_disagrees_is_refused(
    project: Path, path: str, old: str, new: str, words: tuple[str, ...]
) -> None:
    replace(project / path, old, new)
    commit(project)
    check_refused(project, *words)


def test_changed_file_is_refused(project: Path) -> None:
    replace(project / "pyproject.toml", "[project]", "[project]  # changed")
    check_refused(project, "1 files", "pyproject.toml", "commit")


def test_untracked_file_in_new_folder_is_refused(project: Path) -> None:
    (project / "src" / "weft" / "new").mkdir()
    (project / "src" / "weft" / "new" / "module.py").write_text("")
    check_refused(project, "src/weft/new/module.py")


def test_version_tagged_elsewhere_is_refused(project: Path) -> None:
    git(project, "tag", "v1.2.0")
    assert check(project).returncode == 0
    commit(project)
    check_refused(project, "v1.2.0", "raise the version")


def test_folder_without_git_is_refused(project: Path, tmp_path: Path) -> None:
    shutil.rmtree(project / ".git")
    check_refused(project, "git status")


@pytest.fixture(scope="module")
def tool() -> dict[str, Any]:
    return runpy.run_path(str(TOOL))


@pytest.fixture(scope="module")
def wheel(tool: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this project, built through its sdist."""
    version = tool["project_version"](ROOT)
    sdist, wheel = tool["build"](ROOT, tmp_path_factory.mktemp("dist"), version)
    assert sdist.stat().st_size > 100_000
    return Path(wheel)


def test_versions_of_this_project_agree(tool: dict[str, Any]) -> None:
    assert tool["package_version"](ROOT) == tool["project_version"](ROOT)


def test_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    require_tool("git")
    listing = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "src/weft"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    tracked = {name for name in listing.stdout.splitlines() if (ROOT / name).is_file()}
    packed = {f"src/{name}" for name in zipfile.ZipFile(wheel).namelist()}
    assert tracked
    assert tracked - packed == set()


def test_wheel_installed_elsewhere_searches_and_verifies(
    tool: dict[str, Any], wheel: Path, tmp_path: Path
) -> None:
    """Its dependencies are ours; test_wheel_installs_with_its_dependencies downloads them."""
    program = install_alone(wheel, tmp_path / "venv")
    command = [program.with_name("python"), "-c", "import weft; print(weft.__file__)"]
    location = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert Path(location.stdout.strip()).is_relative_to(tmp_path / "venv")
    version = tool["project_version"](ROOT)
    assert len(tool["try_weft"](program, version, tmp_path)) == 64
    with pytest.raises(Exception, match=r"not 'weft 9\.9\.9'"):
        tool["try_weft"](program, "9.9.9", tmp_path)


def install_alone(wheel: Path, environment: Path) -> Path:
    """Install a wheel without its dependencies, which are taken from this environment."""
    venv.create(environment, with_pip=False)
    [packages] = environment.glob("lib/python*/site-packages")
    ours = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "dependencies.pth").write_text("\n".join(ours) + "\n")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    pip += ["--python", str(environment / "bin" / "python"), "install", "--no-deps", str(wheel)]
    subprocess.run([*pip, "--ignore-installed"], check=True)
    return environment / "bin" / "weft"


@pytest.mark.slow
def test_wheel_installs_with_its_dependencies(
    tool: dict[str, Any], wheel: Path, tmp_path: Path
) -> None:
    tool["install"](wheel, tmp_path / "venv", ROOT / "constraints.txt")
    program = tmp_path / "venv" / "bin" / "weft"
    assert len(tool["try_weft"](program, tool["project_version"](ROOT), tmp_path)) == 64
