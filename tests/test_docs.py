"""The pages as a whole: the site builds, links lead somewhere, what is shown exists and runs."""

from __future__ import annotations

import importlib
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.cli.test_docs import commands
from tests.test_guide import BLOCK, ROOT, run_console
from weft import errors

DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
SHELL_ENDS = {";", "|", "||", "&&", "&", ">", ">>", "<"}
SUCCEEDED = (
    "run_arc_parallel",
    "tree_runner",
    "multi_agent_runner",
    "scripts_coordinator",
    "survivor_scorer",
    "GlobalStateTracker",
    "adaptive_meta_optimizer",
    "reinforcement_engine",
)


def tokens(page: Path) -> list[Token]:
    """The parts of a page, those inside paragraphs and table cells too."""
    parsed = MarkdownIt("commonmark").enable("table").parse(page.read_text("utf-8"))
    return [inner for token in parsed for inner in (token, *(token.children or ()))]


def slug(heading: str) -> str:
    """The anchor that repository browsers and the site give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    found = tokens(page)
    return {
        slug("".join(part.content for part in found[place + 1].children or ()))
        for place, token in enumerate(found)
        if token.type == "heading_open"
    }


def broken_links(page: Path) -> Iterator[str]:
    """Links of a page to files that are not there, or to headings that they lack."""
    for token in tokens(page):
        link = str(token.attrGet("href") or token.attrGet("src") or "")
        if not link or re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link


def shown_commands(page: Path) -> Iterator[str]:
    """Every line of a block, and every piece of code in a sentence, that calls `weft`."""
    for token in tokens(page):
        if token.type not in ("fence", "code_inline"):
            continue
        for line in token.content.replace("\\\n", " ").splitlines():
            for part in re.split(r"; |&& |\| ", line.removeprefix("$ ")):
                if part.startswith("weft ") or part == "weft":
                    yield part


def words_of(line: str) -> list[str]:
    """The words of a command line up to its comment, pipe or redirection."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";|&<>")
    lexer.whitespace_split = True
    found: list[str] = []
    for word in lexer:
        if word in SHELL_ENDS:
            break
        found.append(word)
    return found[1:]


def is_general(words: list[str], known: dict[str, Any]) -> bool:
    """Whether words name no single command: `weft`, `weft --help`, `weft COMMAND`, `weft arc`."""
    if not words or words[0].startswith("-") or words[0].isupper():
        return True
    return len(words) == 1 and any(name.startswith(f"{words[0]} ") for name in known)


def wrong_in(line: str, known: dict[str, Any]) -> str:
    """What a shown command has that the program has not; empty when all is there."""
    words = words_of(line)
    name = next((n for n in (" ".join(words[:2]), *words[:1]) if n in known), None)
    if name is None:
        return "" if is_general(words, known) else f"{line}: no such command"
    options = {o for p in known[name].params for o in (*p.opts, *p.secondary_opts)}
    asked = {w.split("=")[0].strip("[],") for w in words if re.match(r"\[?--?[a-z]", w)}
    return f"{line}: {' '.join(sorted(asked - options))}" if asked - options else ""


def test_site_builds_without_a_warning(tmp_path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    [arguments] = re.findall(r"^SITE := (.*)$", makefile, re.MULTILINE)
    assert {"-W", "-n"} <= set(arguments.split())
    built = subprocess.run(
        [sys.executable, *arguments.split(), "-d", tmp_path / "trees", tmp_path / "site"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    for page in DOCS.rglob("*.md"):
        assert (tmp_path / "site" / page.relative_to(DOCS)).with_suffix(".html").is_file(), page


@pytest.mark.parametrize("name", NAMES)
def test_links_of_page_lead_somewhere(name: str) -> None:
    assert list(broken_links(ROOT / name)) == []


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A `b` c!\n[x](#a-b-c) [y](#a) [z](gone.md) [w](page.md#b)\n", "utf-8")
    assert list(broken_links(page)) == ["#a", "gone.md", "page.md#b"]


@pytest.mark.parametrize("name", NAMES)
def test_commands_on_page_exist_with_their_options(name: str) -> None:
    known = commands()
    assert [w for line in shown_commands(ROOT / name) if (w := wrong_in(line, known))] == []


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("weft verify RUN --against C | head -1", False),
        ("weft arc solve x --jobs 2 -q  # --gone", False),
        ("weft arc", False),
        ("weft verify RUN --gone", True),
        ("weft arc gone", True),
        ("weft gone RUN", True),
    ],
)
def test_command_that_does_not_exist_is_found(line: str, wrong: bool) -> None:
    assert bool(wrong_in(line, commands())) is wrong


def test_every_exit_code_of_an_error_is_in_the_tables() -> None:
    kinds = [errors.WeftError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    given = {kind.exit_code for kind in kinds} | {0, 1, 4}
    for name in ("operations.md", "cli.md"):
        page = (DOCS / name).read_text("utf-8")
        assert {int(n) for n in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)} == given, name


def test_operations_page_says_what_its_commands_print(tmp_path: Path) -> None:
    guide = (DOCS / "guide.md").read_text("utf-8")
    [tides] = [text for _, text in BLOCK.findall(guide) if text.startswith("# tides.py\n")]
    (tmp_path / "tides.py").write_text(tides, "utf-8")
    assert run_page("operations.md", tmp_path) == 4


@pytest.mark.xdist_group("arc-runs")
def test_coming_from_page_says_what_its_commands_print(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    assert run_page("coming-from.md", tmp_path) == 1


def run_page(name: str, folder: Path) -> int:
    """Run every console of a page in order; return how many there were."""
    blocks = BLOCK.findall((DOCS / name).read_text("utf-8"))
    consoles = [text for language, text in blocks if language == "console"]
    for text in consoles:
        run_console(text, folder)
    return len(consoles)


def test_coming_from_page_has_every_earlier_system_and_true_modules() -> None:
    page = (DOCS / "coming-from.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert tuple(rows[: len(SUCCEEDED)]) == SUCCEEDED
    for module in re.findall(r"`(weft(?:\.\w+)+)`", page):
        importlib.import_module(module)
    from weft.arc.search import budget, planner, reach

    for place, kind in [
        (planner, "ParallelPlanner"),
        (budget, "WorkerBudget"),
        (budget, "SearchBudget"),
        (reach, "ReachabilityState"),
    ]:
        assert f"`{kind}`" in page
        assert hasattr(place, kind)
