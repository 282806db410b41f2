"""The examples on the pages: their blocks, the commands in them, and how a page is followed.

A `console` is followed line by line: `$ command`, then its output. `…` stands for anything within
a line, and alone on a line for any number of lines. A Python block whose first line is
`# NAME.py` is written to that file. Refers to no page by name.
"""

from __future__ import annotations

import atexit
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.support.door import Door
from tests.support.forked import SEARCHES
from tests.support.waiting import HANG_S

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TOP = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
PAGES = sorted([*DOCS.rglob("*.md"), *(ROOT / name for name in TOP)])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
ANY = "…"
FILE = re.compile(r"# (\w+\.py)\n")
CALL = re.compile(r"(?:weft|make|python3?|pip|ssh|git|pytest|(?:\S*/)?bin/\w+)(?: |$)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced or indented block of a page."""

    language: str
    text: str

    @property
    def file(self) -> str | None:
        """The name of the file that a Python block represents."""
        named = FILE.match(self.text)
        return named[1] if self.language == "python" and named else None

    def calls(self) -> list[str]:
        """The lines that call a program, without prompts and comments."""
        lines = self.text.replace("\\\n", " ").splitlines()
        bare = (re.sub(r"\s+# .*", "", line.removeprefix("$ ")) for line in lines)
        return [" ".join(line.split()) for line in bare if CALL.match(line)]


def tokens(page: Path) -> list[Token]:
    """The tokens of a page, including those inside paragraphs and table cells."""
    parsed = MarkdownIt("commonmark").enable("table").parse(page.read_text("utf-8"))
    return [inner for token in parsed for inner in (token, *(token.children or ()))]


def blocks(page: Path) -> list[Block]:
    """Every block of a page, in order."""
    fenced = (token for token in tokens(page) if token.type in ("fence", "code_block"))
    return [Block(token.info, token.content) for token in fenced]


def consoles(page: Path) -> list[str]:
    """The texts of a page's consoles."""
    return [block.text for block in blocks(page) if block.language == "console"]


def block_of(page: str, language: str, begin: str = "") -> str:
    """The only block of a page in a language that begins with these words."""
    all_blocks = blocks(ROOT / page)
    [text] = [b.text for b in all_blocks if b.language == language and b.text.startswith(begin)]
    return text


def trimmed(text: str) -> str:
    """Lines without whitespace at their ends, and without blank lines at either end."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"


def check_said(said: str, expected: str) -> None:
    """Compare output with what a page shows."""
    pattern = re.escape(trimmed(expected))
    pattern = re.sub(rf"^{ANY}\n", r"(?:.*\\n)*?", pattern.replace("\\\n", "\n"), flags=re.M)
    pattern = pattern.replace(ANY, ".+?")
    assert re.fullmatch(pattern, trimmed(said)), f"expected:\n{expected}\ngot:\n{said}"


@cache
def door() -> Door:
    """The `weft` of all shell lines; it stays open until this process ends."""
    new_door = Door(*SEARCHES)
    atexit.register(new_door.close)
    return new_door


def said_by(line: str, folder: Path) -> str:
    """stdout and stderr of a shell line, with the package's commands on the path."""
    places = (str(door().folder), str(Path(sys.executable).parent), os.environ["PATH"])
    path = os.pathsep.join(places)
    result = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env={**os.environ, "PATH": path, "CI": "true"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=HANG_S,
    )
    return result.stdout


def run_console(text: str, folder: Path) -> None:
    """Run each `$ command` and compare its output with the lines below it."""
    for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = step.replace("\\\n", " ").partition("\n")
        check_said(said_by(command, folder), expected)


def follow(page: Path, folder: Path) -> None:
    """Follow a page in order: write its files, run its consoles."""
    for block in blocks(page):
        if block.file:
            (folder / block.file).write_text(block.text, "utf-8")
        elif block.language == "console":
            run_console(block.text, folder)


def not_followed(page: Path) -> list[str]:
    """Calls and Python blocks that are not executed when the page is followed."""
    all_blocks = blocks(page)
    text = "".join(b.text for b in all_blocks if b.language == "console")
    text += "".join(b.text.partition("\n")[2] for b in all_blocks if b.file)
    unfollowed: list[str] = []
    for block in all_blocks:
        if block.language == "python":
            known = block.file and Path(block.file).stem in text
            unfollowed += [] if known else [block.text.splitlines()[0]]
        elif block.language != "console":
            unfollowed += block.calls()
    return unfollowed
