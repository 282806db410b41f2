"""Checks, before anything starts, that a machine has what a command needs.

Whatever is missing here would be missing on every attempt: interpreter, program, folder, script,
variable. The rule for where a job's paths may lead is applied again on the slot.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from weft.worker.command import expand
from weft.worker.confine import containing, leaves, lies_below
from weft.worker.environment import environment

PATIENCE_S = 60.0
OWN_FOLDERS = ("{out_dir}", "{tmp_dir}")
"""The folders of each attempt, as templates name them; created when it begins."""


@dataclass(frozen=True, slots=True)
class Need:
    """One command's needs; paths are templates."""

    where: str
    """Identifies the command in messages."""
    program: str
    cwd: str
    script: str = ""
    script_sha256: str = ""
    target: str = ""
    """The file it is expected to write."""
    search_path: str = ""
    """The PATH that the command sets for itself, if any."""
    env_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JobPlace:
    """Where the paths of a job may lead on a node."""

    folder: str
    allow_paths: tuple[str, ...] = ()
    own: tuple[str, ...] = OWN_FOLDERS
    """Folders of the attempt itself."""

    def problem(self, script: str, cwd: str, target: Path | None) -> str:
        """Return why a job may not run with these paths; empty if it may."""
        allowed = (self.folder, *self.allow_paths, *self.own)
        for name, path in (("script", script), ("cwd", cwd)):
            if path and not lies_below(path, allowed):
                return f"{name} {path} is not in script_path; declare its folder in allow_paths"
        if target is None:
            return ""
        root = containing(target, (*self.own, cwd, self.folder))
        if root is None or leaves(target.parent, root):
            return f"expected_output {target} is not inside the job's folder, links resolved"
        return ""

    def is_outside(self, target: Path, cwd: str) -> bool:
        """Whether a file that was written is outside the job's folders, links resolved."""
        root = containing(target, (*self.own, cwd, self.folder))
        return root is None or leaves(target, root)


def find_problem(
    folder: str, python: str, allow_paths: Sequence[str], needs: Sequence[Need]
) -> str:
    """Return the first thing that this machine lacks, in one line; empty if nothing."""
    check = _Check(folder, python or sys.executable, tuple(allow_paths))
    for need in needs:
        if why := check.of(need):
            return f"{need.where}: {why}"
    return ""


@dataclass(slots=True)
class _Check:
    """Checks each path once, however many commands name it."""

    folder: str
    python: str
    allow_paths: tuple[str, ...]
    _answers: dict[tuple[str, ...], str] = field(default_factory=dict)

    def of(self, need: Need) -> str:
        names = {"work_dir": self.folder, "python": self.python}
        cwd, script, target = (expand(t, names) for t in (need.cwd, need.script, need.target))
        program, search_path = (expand(t, names) for t in (need.program, need.search_path))
        place = JobPlace(self.folder, self.allow_paths)
        return (
            place.problem(script, cwd, Path(target) if target else None)
            or self._once(_folder_problem, cwd)
            or self._once(_script_problem, script, need.script_sha256)
            or (self._once(_python_problem, self.python) if program == self.python else "")
            or self._once(_program_problem, program, cwd, search_path)
            or _variable_problem(need.env_from, environment())
        )

    def _once(self, check: Callable[..., str], *paths: str) -> str:
        key = (check.__name__, *paths)
        if key not in self._answers:
            self._answers[key] = check(*paths)
        return self._answers[key]


def _is_template(path: str) -> bool:
    """Whether a path contains a name that only an attempt can expand."""
    return "{" in path


def _folder_problem(cwd: str) -> str:
    if _is_template(cwd) or Path(cwd).is_dir():
        return ""
    return f"cwd {cwd} {'is not a folder' if os.path.lexists(cwd) else 'does not exist'}"


def _script_problem(script: str, recorded: str) -> str:
    if not script or _is_template(script):
        return ""
    try:
        with Path(script).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"script {script}: {error.strerror}"
    return "" if recorded in ("", digest) else f"script {script} differs from the one here"


def _program_problem(program: str, cwd: str, search_path: str) -> str:
    if _is_template(program):
        return ""
    if "/" in program:
        if _is_template(cwd) and not program.startswith("/"):
            return ""
        program = os.path.join(cwd, program)  # noqa: PTH118 - as exec would, links left alone
    if shutil.which(program, path=search_path or None):
        return ""
    return f"program {program} is not there or cannot be executed"


def _python_problem(python: str) -> str:
    argv = [python, "-c", "print('ready')"]
    try:
        process = subprocess.run(argv, capture_output=True, timeout=PATIENCE_S, check=False)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        why = getattr(error, "strerror", None) or f"no answer for {PATIENCE_S:.0f} s"
        return f"the interpreter {python} cannot be run ({why}): see python_env in the node file"
    if b"ready" in process.stdout:
        return ""
    return f"{python} is not a Python interpreter: see python_env in the node file"


def _variable_problem(names: Sequence[str], variables: Mapping[str, str]) -> str:
    missing = [name for name in names if name not in variables]
    return f"variable {missing[0]} of env_from is not set" if missing else ""
