"""Make a release: check its metadata, build it, and try it as a user would.

    python tools/release.py [--check]

    version, changelog, clean tree ──► sdist ──► wheel from the sdist ──► a fresh environment

The wheel is built from the sdist, so a file missing from the sdist is noticed here. Files go to
dist/, with their SHA-256 printed. `--check` stops before the build. Tags and uploads nothing.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Sequence
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADING = re.compile(r"^## \[(?P<version>[^\]]+)\](?: - (?P<date>\S+))?\s*$", re.MULTILINE)
UNRELEASED = "Unreleased"
SEARCH = '''\
"""A hill with its top at 7."""

import weft


@weft.task
def score(x: int) -> int:
    return -((x - 7) ** 2)


@weft.search(version=1)
def climb():
    results = yield [score(x) for x in range(10)]
    return max(results, key=lambda r: (r.value, -r.index)).args["x"]
'''
ANSWER = 7
SHOWN_CHARS = 4000
"""How many characters of a failed step's output are shown."""


class ReleaseError(Exception):
    """Something is not ready; the message is one line: what, where, what to do next."""


def project_version(root: Path) -> str:
    """Return the version that pyproject.toml declares."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    return str(project["version"])


def package_version(root: Path) -> str:
    """Return `weft.__version__` as written; the package is read, not imported."""
    source = root / "src" / "weft" / "version.py"
    for statement in ast.parse(source.read_text("utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__version__":
            return str(ast.literal_eval(statement.value))
    raise ReleaseError('src/weft/version.py has no __version__; next: add __version__ = "…"')


def check_package(root: Path, version: str) -> None:
    """Refuse a package whose version differs from the project's."""
    actual = package_version(root)
    if actual != version:
        raise ReleaseError(
            f"src/weft/version.py says {actual}, pyproject.toml {version}; next: make them equal"
        )


def check_changelog(root: Path, version: str) -> None:
    """Refuse a changelog with unreleased entries, or whose newest section is another version's."""
    text = (root / "CHANGELOG.md").read_text("utf-8")
    headings = list(HEADING.finditer(text))
    if headings and headings[0]["version"] == UNRELEASED:
        pending = text[headings[0].end() : headings[1].start() if headings[1:] else len(text)]
        if re.search(r"^\s*[-*] ", pending, re.MULTILINE):
            raise ReleaseError(
                "CHANGELOG.md has entries under Unreleased; "
                f"next: move them to the section of {version}, or raise the version"
            )
        headings = headings[1:]
    if not headings or headings[0]["version"] != version:
        newest = headings[0]["version"] if headings else "none"
        raise ReleaseError(
            f"CHANGELOG.md: the newest section is {newest}, pyproject.toml says {version}; "
            f"next: add a section ## [{version}] - YYYY-MM-DD"
        )
    check_date(headings[0]["date"], version)


def check_date(written: str | None, version: str) -> None:
    """Refuse a section without a date, or with an invalid one."""
    try:
        date.fromisoformat(written or "")
    except ValueError:
        raise ReleaseError(
            f"CHANGELOG.md: the section of {version} has the date {written or 'none'}; "
            f"next: write ## [{version}] - YYYY-MM-DD"
        ) from None


def git(root: Path, *words: str) -> str:
    """Return what a git command prints."""
    result = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    if result.returncode:
        reason = (result.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise ReleaseError(f"git {words[0]} failed in the project's folder: {reason}")
    return result.stdout


def check_tree(root: Path) -> None:
    """Refuse a working tree with uncommitted files."""
    changes = git(root, "status", "--porcelain", "--untracked-files=all").splitlines()
    if changes:
        raise ReleaseError(
            f"{len(changes)} files differ from the last commit, the first is {changes[0][3:]}; "
            "next: commit or remove them"
        )


def check_tag(root: Path, version: str) -> None:
    """Refuse a version that was released from another commit."""
    tag = f"v{version}"
    if git(root, "tag", "--list", tag).strip():
        tagged, head = git(root, "rev-parse", f"{tag}^{{commit}}", "HEAD").split()
        if tagged != head:
            raise ReleaseError(f"{tag} is another commit than HEAD; next: raise the version")


def check(root: Path) -> str:
    """Check everything that needs no build; return the version."""
    version = project_version(root)
    check_package(root, version)
    check_changelog(root, version)
    check_tree(root)
    check_tag(root, version)
    return version


def run_step(what: str, argv: Sequence[str | Path], home: Path | None = None) -> str:
    """Run one step of the release, with its errors on our stderr; return its stdout.

    With `home` it runs there, and its environment has only `HOME` and a default `PATH`.
    """
    environment = {"HOME": str(home), "PATH": os.defpath} if home else None
    result = subprocess.run(
        argv, cwd=home, env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    if result.returncode:
        sys.stderr.write(result.stdout[-SHOWN_CHARS:])
        raise ReleaseError(f"{what} ended with exit code {result.returncode}; its output is above")
    return result.stdout


def build(root: Path, out: Path, version: str) -> tuple[Path, Path]:
    """Build sdist and wheel with the installed hatchling; equal commits give equal bytes."""
    argv = (sys.executable, "-m", "build", "--no-isolation", "--outdir", out, root)
    run_step("the build", argv)
    files = out / f"weft-{version}.tar.gz", out / f"weft-{version}-py3-none-any.whl"
    missing = [path.name for path in files if not path.is_file()]
    if missing:
        raise ReleaseError(f"the build made no {' and no '.join(missing)}")
    return files


def install(wheel: Path, environment: Path, constraints: Path) -> None:
    """Create a virtual environment and install the wheel with its pinned dependencies."""
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    pip = (python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install")
    run_step("pip install", (*pip, wheel, "-c", constraints))


def try_weft(program: Path, version: str, folder: Path) -> str:
    """Check the version of an installed `weft`, run and verify a search; return its head."""
    (folder / "hill.py").write_text(SEARCH, "utf-8")

    def weft(*words: str) -> str:
        return run_step(f"weft {words[0]}", [program, *words], folder)

    reported = weft("--version").strip()
    if reported != f"weft {version}":
        raise ReleaseError(f"the installed program says {reported!r}, not 'weft {version}'")
    outcome = json.loads(
        weft("run", "hill.py:climb", "--out", "run", "--workers", "2", "--json", "-q")
    )
    if outcome["answer"] != ANSWER:
        raise ReleaseError(f"the trial search answered {outcome['answer']!r}, not {ANSWER}")
    weft("verify", "run")
    return str(outcome["head"])


def release(root: Path, out: Path, version: str) -> None:
    """Build, try the wheel in a fresh environment, and print the files."""
    files = build(root, out, version)
    with tempfile.TemporaryDirectory(prefix="weft-release-") as scratch:
        environment, folder = Path(scratch, "venv"), Path(scratch, "trial")
        folder.mkdir()
        install(files[1], environment, root / "constraints.txt")
        head = try_weft(environment / "bin" / "weft", version, folder)
    print(f"the wheel ran a search in a fresh environment, verified, head {head}")
    for path in files:
        print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(root)}")
    print(f"next: git tag -a v{version} -m 'Weft {version}'")


def main() -> int:
    """Check, build and try; return the exit code."""
    parser = argparse.ArgumentParser(description="Check, build and try a release.")
    parser.add_argument("--check", action="store_true", help="stop before the build")
    stop_early = parser.parse_args().check
    try:
        version = check(ROOT)
        print(f"weft {version}: version, changelog and tree agree", flush=True)
        if not stop_early:
            release(ROOT, ROOT / "dist", version)
    except ReleaseError as refusal:
        print(f"release: {refusal}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
