"""docs/guide.md is true: its files run, its commands print what it says; so do the docstrings."""

from __future__ import annotations

import doctest
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
ANY = "…"


def blocks() -> list[tuple[str, str]]:
    """Language and text of every block of the guide, in order."""
    return BLOCK.findall((ROOT / "docs" / "guide.md").read_text("utf-8"))


def check_said(said: str, expected: str) -> None:
    """Compare line by line; `…` in what is expected stands for anything."""
    pattern = re.escape(expected.strip()).replace(re.escape(ANY), ".+?")
    assert re.fullmatch(pattern, said.strip()), f"expected:\n{expected}\ngot:\n{said}"


def said_by(command: list[str], folder: Path) -> str:
    """stdout and stderr of a command, with the package's commands at hand."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path, "CI": "true"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    return done.stdout


def run_console(text: str, folder: Path) -> None:
    """Run each `$ command` and compare what it prints with the lines below it."""
    for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = step.partition("\n")
        check_said(said_by(["bash", "-c", command], folder), expected)


def test_guide_files_and_commands_do_what_it_says(tmp_path: Path) -> None:
    last, shown = "", []
    for language, text in blocks():
        if language == "python":
            last = text.split("\n", 1)[0].removeprefix("# ")
            (tmp_path / last).write_text(text, "utf-8")
        elif language == "text" and not text.startswith("weft: "):
            check_said(said_by([sys.executable, last], tmp_path), text)
            shown.append(last)
        elif language == "console":
            run_console(text, tmp_path)
    files = ["primes.py", "early.py", "climbers.py", "words.py", "shaky.py", "wordcount.py"]
    assert shown == files


def test_guide_quotes_the_refusal_of_an_iterator() -> None:
    from weft.errors import SearchInvalid
    from weft.model.tasks import make_round

    with pytest.raises(SearchInvalid) as refused:
        make_round(x for x in ())  # type: ignore[var-annotated]
    assert ("text", f"weft: {refused.value}\n") in blocks()


MODULES = sorted(
    ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
    for path in (ROOT / "src" / "weft").rglob("*.py")
    if re.search(r"^\s*>>> ", path.read_text("utf-8"), re.M)
)


@pytest.mark.parametrize("name", ["weft.define", *(m for m in MODULES if m != "weft.define")])
def test_docstring_examples_hold(name: str) -> None:
    failed, tried = doctest.testmod(module := importlib.import_module(name))
    assert tried > 0, module
    assert failed == 0
