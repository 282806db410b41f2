"""Find ways in which candidate code could decide its own score, from a scorer's command and source.

A scorer executes candidate code in its own process if it imports a module of the repository or is a
test runner. Its imports can be shadowed if Python searches the candidate's folder first. Neither is
always a problem, nor always detected: these are warnings, and the harness avoids both.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from weft.searches.tree.config import Stage
from weft.searches.tree.runfiles import names_harness

RUNNERS = ("pytest", "py.test", "nosetests", "nose2", "unittest", "tox", "nox")
LOADERS = ("importlib", "runpy", "imp")
_PYTHON = re.compile(r"python[0-9.]*")
_SHELL_PYTHON = re.compile(r"\b(python[0-9.]*|\$WEFT_PYTHON\"?)\s+(?!-\w*[IP])")
_SHELL_RUNNER = re.compile(rf"(?<![\w/.-])({'|'.join(map(re.escape, RUNNERS))})(?![\w/.-])")

ReadFile = Callable[[str], str]
"""Returns the source of a file: of the root, or of the config's folder for `{work_dir}/…`."""


@dataclass(frozen=True, slots=True)
class PythonCommand:
    """A Python command line: what it runs, and whether its module search path is isolated."""

    module: str = ""
    script: str = ""
    is_isolated: bool = False
    """Whether -I or -P is given."""


def weaknesses(stage: Stage, files: Sequence[str], read: ReadFile) -> list[str]:
    """Return the ways in which candidate code could decide the result of a stage's command.

    `files` are the paths of the root; `read` returns the source of one, or of a file beside the
    config for a path that begins with {work_dir}/.
    """
    if stage.format != "weft" and not stage.has_channel:
        return [f"an evaluator of {stage.format} executes candidate code in its own process"]
    if stage.argv[:2] == ("/bin/sh", "-c"):
        return list(_of_shell(stage.argv[2]))
    command = python_command(stage.argv)
    if command is None:
        runner = PurePosixPath(stage.argv[0]).name
        return [_runs_tests(runner)] if runner in RUNNERS else []
    return list(_of_python(command, stage, files, read))


def python_command(argv: Sequence[str]) -> PythonCommand | None:
    """Return what a Python command line runs; None for another program."""
    if argv[0] != "{python}" and not _PYTHON.fullmatch(PurePosixPath(argv[0]).name):
        return None
    words, flags = list(argv[1:]), ""
    while words and words[0].startswith("-"):
        letters = re.fullmatch(r"-([^-cmWX]*)([cmWX]?)(.*)", words.pop(0), re.DOTALL)
        if letters is None:  # a long option
            continue
        flags += letters[1]
        value = letters[3] or (words.pop(0) if letters[2] and words else "")
        if letters[2] in ("c", "m"):
            return PythonCommand(value if letters[2] == "m" else "", "", _isolated(flags))
    if words and names_harness(words[0]):
        words.pop(0)
    return PythonCommand("", words[0] if words else "", _isolated(flags))


def _isolated(flags: str) -> bool:
    return "I" in flags or "P" in flags


def _of_shell(line: str) -> Iterator[str]:
    if runner := _SHELL_RUNNER.search(line):
        yield _runs_tests(runner[1])
    if _SHELL_PYTHON.search(line):
        yield _can_be_shadowed("python")


def _of_python(
    command: PythonCommand, stage: Stage, files: Sequence[str], read: ReadFile
) -> Iterator[str]:
    if command.module in RUNNERS:
        yield _runs_tests(command.module)
    script = command.script.removeprefix("{worktree}/")
    is_candidate = os.path.normpath(script) in files
    if not command.is_isolated and (is_candidate or not script):
        yield _can_be_shadowed(script or f"-m {command.module}".removesuffix("-m "))
    if not command.is_isolated and "PYTHONPATH" in stage.env:
        yield _can_be_shadowed("PYTHONPATH")
    if is_candidate or script.startswith("{work_dir}/"):
        yield from _of_source(script, files, read)


def _of_source(script: str, files: Sequence[str], read: ReadFile) -> Iterator[str]:
    try:
        imported = _imported(ast.parse(read(script)))
    except (SyntaxError, ValueError, OSError):
        return
    known = modules_of(files)
    own = sorted(name for name in imported if name in known and name not in sys.stdlib_module_names)
    if own:
        yield f"{script} imports {', '.join(own)} of the candidate into its own process"
    loaders = sorted(imported.intersection(LOADERS))
    if loaders and not own:
        yield f"{script} uses {loaders[0]}: does it execute candidate code in its own process?"


def modules_of(files: Sequence[str]) -> set[str]:
    """Return the names under which the root's Python files can be imported; membership only."""
    names = set[str]()
    for file in files:
        if file.endswith(".py"):
            names.update(file.removesuffix(".py").split("/"))
    return names


def _imported(tree: ast.Module) -> set[str]:
    names = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "__import__":
            names.add("importlib")
    return names


def _runs_tests(runner: str) -> str:
    return f"{runner} executes candidate code, and its conftest.py or the like, in its own process"


def _can_be_shadowed(what: str) -> str:
    return (
        f"{what} without -I looks for modules in the candidate's folder first: a new json.py there"
        " would be executed"
    )
