"""Find code that has changed since a case was tried on it.

A case was tried on the code of a commit. Its outcome remains valid while the statements that it
exercises are the same: the engine, its search, its own test, and the rest of its file apart from
other tests. Comments, docstrings, help texts, error texts and names of local variables do not
count. `python -m campaigns --stale` repeats the cases whose code has changed.
"""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TypeGuard

from campaigns.bugs import CONTROL_CASE, bug_of
from campaigns.localnames import number_locals
from campaigns.rows import ROWS, row_of

SOURCE = "src/weft/"
SEARCHES = "src/weft/searches/"
KINDS = ("arc", "jobs", "prng", "tree")
ASIDE = {"asktell": "tests/samplers/", "optuna": "tests/samplers/"}
"""Packages that no search and no engine code imports, and the tests that exercise them."""
TEXTS = ("help", "hint")
"""Keyword arguments whose values are texts for people."""
NAMED = 6
"""Maximum number of files that the page names in one row."""
UNKNOWN = "(a commit that this checkout does not have)"


class CodeHistory:
    """The code of a checkout, compared with the commits on which cases were tried."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._changed: dict[str, frozenset[str]] = {}
        self._sources: dict[tuple[str, str], str] = {}

    @property
    def commit(self) -> str:
        """The current commit; empty without git."""
        return (_git(self._root, "rev-parse", "--short=12", "HEAD") or "").strip()

    def changed_for(self, test: str, commit: str) -> list[str]:
        """Return the files that a case exercises and that differ from a commit, sorted."""
        own, name = file_of(test), name_of(test)
        return sorted(path for path in self.changed_since(commit) if is_tried(path, test)
                      and (path != own or self._differs(commit, path, name)))  # fmt: skip

    def changed_since(self, commit: str) -> frozenset[str]:
        """Return the Python files whose statements differ from those of a commit."""
        base = commit.partition("-")[0]
        if base not in self._changed:
            self._changed[base] = self._compare(base)
        return self._changed[base]

    def _compare(self, commit: str) -> frozenset[str]:
        listed = _git(self._root, "diff", "--name-only", "--no-renames", commit, "--",
                      "src/*.py", "tests/*.py")  # fmt: skip
        if listed is None:
            return frozenset({UNKNOWN})
        return frozenset(path for path in listed.splitlines() if self._differs(commit, path))

    def _differs(self, commit: str, path: str, test: str = "") -> bool:
        now = self._now(path)
        before = self._before(commit.partition("-")[0], path)
        return statements(before, test) != statements(now, test)

    def _now(self, path: str) -> str:
        here = self._root / path
        return here.read_text("utf-8") if here.exists() else ""

    def _before(self, commit: str, path: str) -> str:
        if (commit, path) not in self._sources:
            self._sources[commit, path] = _git(self._root, "show", f"{commit}:{path}") or ""
        return self._sources[commit, path]


def is_tried(path: str, test: str) -> bool:
    """Whether a case depends on a file: of the engine, of its search, or its own test file."""
    if path == UNKNOWN:
        return True
    if not path.startswith(SOURCE):
        return path == file_of(test)
    if parts := code_of(test):
        return path.removeprefix(SOURCE).startswith(parts)
    if folder := ASIDE.get(PurePosixPath(path).parts[2]):
        return test.startswith(folder)
    return not path.startswith(SEARCHES) or PurePosixPath(path).parts[3] in searches_of(test)


def searches_of(test: str) -> tuple[str, ...]:
    """Return the searches that a case exercises; the control of the planted bugs exercises all."""
    if test == CONTROL_CASE:
        return KINDS
    path, _, parameters = (bug.test if (bug := bug_of(test)) else test).partition("[")
    named = {*parameters.rstrip("]").split("-"), *path.split("/")[2:3]}
    return tuple(kind for kind in KINDS if kind in named)


def code_of(test: str) -> tuple[str, ...]:
    """Return the only parts of the source that a row's cases exercise, if the row names them."""
    return next((row.code for row in ROWS if row.name == row_of(test)), ())


def file_of(test: str) -> str:
    """Return the file of the test that a case runs."""
    return (bug.test if (bug := bug_of(test)) else test).partition("::")[0]


def name_of(test: str) -> str:
    """Return the function of the test that a case runs; empty for a whole file."""
    test = bug.test if (bug := bug_of(test)) else test
    return test.partition("::")[2].partition("[")[0]


@cache
def statements(source: str, test: str = "") -> str:
    """Return a module's code without names of locals, docstrings, help and error texts.

    With the name of one of its tests, the other tests are left out: they do not affect each other.
    """
    tree = ast.parse(source)
    others = [part for part in tree.body if _is_test(part) and part.name != test]
    if test and len(others) < sum(map(_is_test, tree.body)):
        tree.body = [part for part in tree.body if part not in others]
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [part for part in node.body if not _is_text(part)]
        elif isinstance(node, ast.Raise) or (isinstance(node, ast.keyword) and node.arg in TEXTS):
            for part in ast.walk(node):
                _drop_texts(part)
    number_locals(tree)
    return ast.dump(tree)


def _is_test(node: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef) and node.name.startswith("test_")


def _is_text(node: ast.stmt) -> bool:
    return (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str))  # fmt: skip


def _drop_texts(node: ast.AST) -> None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        node.value = ""
    elif isinstance(node, ast.JoinedStr):
        node.values = [part for part in node.values if isinstance(part, ast.FormattedValue)]


def stale_table(changed: Mapping[str, Iterable[str]], cases: Mapping[str, int]) -> str:
    """Return a table of the rows with changed files and the number of cases tried before."""
    lines = ["| row | cases | changed files |", "|---|---|---|"]
    for row, paths in changed.items():
        named = sorted(path.removeprefix(SOURCE) for path in paths)
        files = ", ".join(f"`{path}`" for path in named[:NAMED])
        files += f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
        lines.append(f"| {row} | {cases[row]} | {files} |")
    return "\n".join(lines)


def _git(root: Path, *words: str) -> str | None:
    """Return the output of git; None if it fails."""
    try:
        result = subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return result.stdout.decode("utf-8", "replace")
