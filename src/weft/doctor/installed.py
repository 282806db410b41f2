"""Checks of the interpreter and of the software installed."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import sqlite3
import sys
from collections.abc import Callable

from weft.doctor.result import NOTE, OK, PROBLEM, CheckResult
from weft.lazy_imports import missing_packages

MIN_PYTHON = (3, 11)
WAL_RESET_FIXED = (3, 51, 3)
WAL_RESET_BACKPORTS = ((3, 44, 6), (3, 50, 7))
"""SQLite's WAL-reset bug (sqlite.org/wal.html) needs two connections that write or checkpoint."""
EXTRA_USES = {
    "arc": "weft arc",
    "prng": "weft prng",
    "tree": "weft tree",
    "serve": "weft serve",
    "ray": "other machines",
    "ml": "weft prng pipeline",
    "optuna": "Optuna's samplers",
    "gpu": "kernels on a GPU",
    "torch": "PyTorch in weft prng pipeline",
}
"""What each extra is for."""


def check_system(name: str = sys.platform) -> CheckResult:
    """The system is Linux, whose process control and locks Weft needs."""
    if name == "linux":
        return CheckResult("system", OK, f"Linux {os.uname().release}, {os.uname().machine}")
    return CheckResult("system", PROBLEM, f"{name} is not Linux", "use Linux, or a container of it")


def check_python(version: tuple[int, ...] = sys.version_info[:3]) -> CheckResult:
    """The interpreter is new enough."""
    text = ".".join(map(str, version))
    if version >= MIN_PYTHON:
        return CheckResult("python", OK, text)
    least = ".".join(map(str, MIN_PYTHON))
    return CheckResult(
        "python", PROBLEM, f"{text} is older than {least}", f"install Python {least}"
    )


def check_packages(
    requirements: list[str] | None = None,
    installed: Callable[[str], str] = importlib.metadata.version,
) -> CheckResult:
    """The packages that Weft needs are installed and not too old."""
    declared = importlib.metadata.requires("weft") if requirements is None else requirements
    needed = [_requirement(text) for text in declared or [] if "extra ==" not in text]
    faults = [fault for name, least in needed if (fault := _fault(name, least, installed))]
    if faults:
        return CheckResult("packages", PROBLEM, "; ".join(faults), "pip install --upgrade weft")
    return CheckResult("packages", OK, f"{len(needed)} packages, none too old")


def _requirement(text: str) -> tuple[str, str]:
    """Split `name>=1.2`; other conditions are left to pip."""
    name = re.match(r"[\w.-]+", text)
    least = re.search(r">=\s*([\w.]+)", text)
    return name.group() if name else text, least.group(1) if least else "0"


def _fault(name: str, least: str, installed: Callable[[str], str]) -> str:
    try:
        version = installed(name)
    except importlib.metadata.PackageNotFoundError:
        return f"{name} is not installed"
    return f"{name} {version} is older than {least}" if _older(version, least) else ""


def _older(version: str, least: str) -> bool:
    """Compare release numbers.

    >>> _older("4.9", "4.10"), _older("2.0rc1", "2"), _older("1", "1.0")
    (True, False, False)
    """
    releases = [[int(n) for n in re.findall(r"(?:^|\.)(\d+)", text)] for text in (version, least)]
    width = max(map(len, releases))
    actual, required = ([*r, *[0] * (width - len(r))] for r in releases)
    return actual < required


def check_sqlite(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> CheckResult:
    """SQLite is new enough; its WAL-reset bug is harmless, as the manifest has one writer."""
    text = ".".join(map(str, version))
    if version < (3, 24, 0):
        return CheckResult("sqlite", PROBLEM, f"{text} lacks upsert", "use a newer Python build")
    fixed = any(fix <= version < (*fix[:2], 99) for fix in WAL_RESET_BACKPORTS)
    if version < WAL_RESET_FIXED and not fixed:
        return CheckResult(
            "sqlite", OK, f"{text}; its WAL-reset bug needs two writers, a run has one"
        )
    return CheckResult("sqlite", OK, text)


def check_git(which: Callable[[str], str | None] = shutil.which) -> CheckResult:
    """Git is installed; only `weft tree` needs it."""
    if which("git") is None:
        return CheckResult("git", NOTE, "not found; weft tree needs it", "install git")
    return CheckResult("git", OK, "found, for weft tree")


def check_extras(missing: Callable[[str], list[str]] = missing_packages) -> CheckResult:
    """Extras that some commands need; a user's own search needs none of them."""
    lacking = [name for name in EXTRA_USES if missing(name)]
    installed = [name for name in EXTRA_USES if name not in lacking]
    detail = f"installed: {', '.join(installed) or 'none'}"
    if lacking:
        detail += f"; not: {', '.join(f'{name} ({EXTRA_USES[name]})' for name in lacking)}"
    return CheckResult("extras", OK, detail)
