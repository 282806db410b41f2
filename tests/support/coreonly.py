"""An environment with Weft installed from its wheel, its declared dependencies, and no extra.

The dependencies are hard-linked from this environment, following the metadata of the wheel and
then their own: the versions are those of constraints.txt, and no package index is used.
`make release` and `python -m benchmarks install` install the wheel with pip alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.commands import Told
from tests.support.waiting import HANG_S

ROOT = Path(__file__).resolve().parents[2]
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this project with the installed hatchling."""
    argv = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder, ROOT]
    result = subprocess.run(argv, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    [wheel] = folder.glob("weft-*.whl")
    return wheel


def dependencies(declared: Distribution) -> dict[str, Distribution]:
    """Every distribution that this one needs without extras, by canonical name, except itself."""
    needed: dict[str, Distribution] = {}
    waiting = [(declared, frozenset[str]())]
    while waiting:
        owner, extras = waiting.pop()
        for requirement in map(Requirement, owner.requires or ()):
            marker = requirement.marker
            if marker and not any(marker.evaluate({"extra": e}) for e in (*extras, "")):
                continue
            name = canonicalize_name(requirement.name)
            if name not in needed:
                needed[name] = distribution(name)
                waiting.append((needed[name], frozenset(requirement.extras)))
    return needed


def link(package: Distribution, target: Path) -> None:
    """Link the files of an installed distribution into another site-packages folder."""
    for file in package.files or ():
        source = Path(str(file.locate()))
        if ".." in file.parts or not source.is_file():  # a script, or bytecode not written yet
            continue
        place = target / file
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source, place)
        except OSError:  # another file system
            shutil.copy2(source, place)


class CoreOnly:
    """The environment, and a working folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        environment = folder / "environment"
        venv.create(environment, with_pip=False)
        [self.packages] = environment.glob("lib/python3.*/site-packages")
        self.python = environment / "bin" / "python"
        wheel = build_wheel(folder)
        install = [*PIP, "--python", self.python, "install", "--no-deps", "--no-index", wheel]
        result = subprocess.run(install, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        [installed] = self.packages.glob("weft-*.dist-info")
        self.dependencies = dependencies(Distribution.at(installed))
        for package in self.dependencies.values():
            link(package, self.packages)

    def weft(self, *words: object) -> Told:
        """Run a command as a new user would: of our environment only PATH is inherited."""
        result = subprocess.run(
            [self.python.with_name("weft"), *map(str, words)],
            cwd=self.folder,
            env={"HOME": str(self.folder), "PATH": os.environ["PATH"], "CI": "true"},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=HANG_S,
        )
        return Told(result.returncode, result.stdout, result.stderr)

    def size_bytes(self) -> int:
        """Size of everything installed: Weft, its dependencies and their bytecode."""
        return sum(p.stat().st_size for p in self.packages.rglob("*") if p.is_file())
