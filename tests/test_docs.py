"""The pages as a whole: the site builds, links resolve, everything shown exists."""

from __future__ import annotations

import importlib
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from tests.cli.test_docs import commands
from tests.support.shown import DOCS, NAMES, ROOT, block_of, tokens
from weft import errors

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


def slug(heading: str) -> str:
    """The anchor that repository browsers and the site assign to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    page_tokens = tokens(page)
    return {
        slug("".join(part.content for part in page_tokens[place + 1].children or ()))
        for place, token in enumerate(page_tokens)
        if token.type == "heading_open"
    }


def broken_links(page: Path) -> Iterator[str]:
    """Links of a page to missing files or missing headings."""
    for token in tokens(page):
        link = str(token.attrGet("href") or token.attrGet("src") or "")
        if not link or re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link


def shown_commands(page: Path) -> Iterator[str]:
    """Every call of `weft` in a line of a block or in inline code."""
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
    words: list[str] = []
    for word in lexer:
        if word in SHELL_ENDS:
            break
        words.append(word)
    return words[1:]


def is_general(words: list[str], known: dict[str, Any]) -> bool:
    """Whether words name no single command: `weft`, `weft --help`, `weft COMMAND`, `weft arc`."""
    if not words or words[0].startswith("-") or words[0].isupper():
        return True
    return len(words) == 1 and any(name.startswith(f"{words[0]} ") for name in known)


def wrong_in(line: str, known: dict[str, Any]) -> str:
    """The parts of a shown command that the program does not have; empty if there are none."""
    words = words_of(line)
    name = next((n for n in (" ".join(words[:2]), *words[:1]) if n in known), None)
    if name is None:
        return "" if is_general(words, known) else f"{line}: no such command"
    options = {o for p in known[name].params for o in (*p.opts, *p.secondary_opts)}
    used_options = {w.split("=")[0].strip("[],") for w in words if re.match(r"\[?--?[a-z]", w)}
    return f"{line}: {' '.join(sorted(used_options - options))}" if used_options - options else ""


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
    assert "copybutton.js" in (tmp_path / "site" / "tutorial.html").read_text("utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_links_of_page_lead_somewhere(name: str) -> None:
    assert list(broken_links(ROOT / name)) == []


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A `b` c!\n[x](#a-b-c) [y](#a) [z](gone.md) [w](page.md#b)\n", "utf-8")
    assert list(broken_links(page)) == ["#a", "gone.md", "page.md#b"]


@pytest.mark.parametrize("name", NAMES)
def test_commands_on_page_exist_with_their_options(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "examples" / "plugin")
    example = importlib.import_module("weft_hello.cli")
    known = {**commands(), "hello": get_command(example.app)}
    assert [w for line in shown_commands(ROOT / name) if (w := wrong_in(line, known))] == []


def test_extras_on_pages_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for name in NAMES:
        groups = re.findall(r"(?:\.|weft)\[([a-z,]+)\]", (ROOT / name).read_text("utf-8"))
        named = {extra for group in groups for extra in group.split(",")}
        assert named <= set(project["optional-dependencies"]), name


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


def exit_codes() -> set[int]:
    """Every exit code of a command."""
    kinds: list[type] = [errors.WeftError, errors.Interrupted]
    for kind in kinds:
        kinds += kind.__subclasses__()
    return {kind.exit_code for kind in kinds} | {0, 1, 4}


def coded(page: str) -> set[int]:
    """The codes in a page's table, or in the README's sentence."""
    [sentence] = re.findall(r"^Exit codes: (.*?)\.\n", page, re.DOTALL | re.M) or [""]
    rows = re.findall(r"^\| (\d+) \|", page, re.MULTILINE)
    return {int(n) for n in (*rows, *re.findall(r"(?:^|·\s)(\d+) ", sentence))}


@pytest.mark.parametrize(
    "name", ["README.md", "docs/cli.md", "docs/guide.md", "docs/operations.md"]
)
def test_every_exit_code_is_on_the_page(name: str) -> None:
    assert coded((ROOT / name).read_text("utf-8")) == exit_codes()


@pytest.mark.parametrize("code", sorted(exit_codes()))
def test_exit_code_that_is_left_out_is_found(code: int) -> None:
    for name, line in (("docs/operations.md", rf"^\| {code} \|.*\n"), ("README.md", rf"\b{code} ")):
        page = (ROOT / name).read_text("utf-8")
        assert code not in coded(re.sub(line, "", page, flags=re.M)), name


def test_tree_names_every_part_and_no_other() -> None:
    tree = block_of("CONTRIBUTING.md", "", "src/weft/\n")
    inside = tree[: tree.index("\nexamples/")]
    source = ROOT / "src" / "weft"
    named = set(re.findall(r"[\w/]+(?:\.py|/)", inside))
    packages = {f"{p.parent.name}/" for p in source.glob("*/__init__.py")}
    modules = {p.name for p in source.glob("*.py")} - {"__init__.py"}
    assert (packages | modules) - named == set()
    files = {p.name for p in source.rglob("*.py")}
    assert {name for name in named if name.endswith(".py")} - files == set()
    pages = set(re.findall(r"^  ([\w-]+\.md)", tree, re.MULTILINE)) | {"index.md"}
    assert pages == {page.name for page in DOCS.glob("*.md")}


def test_readme_tree_names_packages_in_import_order() -> None:
    tree = block_of("README.md", "", "src/weft/\n")
    inside = tree[: tree.index("\nexamples/")]
    named = [name.removesuffix(".py") for name in re.findall(r"^  (\w+(?:\.py)?)", inside, re.M)]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    [contract] = [c for c in contracts if c["name"] == "Imports go one way"]
    layers = [name.strip() for layer in contract["layers"] for name in layer.split("|")]
    places = [layers.index(name) for name in named]
    assert places == sorted(places)


def test_architecture_says_what_every_package_owns() -> None:
    page = (DOCS / "architecture.md").read_text("utf-8")
    packages = {p.parent.name for p in (ROOT / "src" / "weft").glob("*/__init__.py")}
    assert packages - set(re.findall(r"^\| `weft\.(\w+)` \|", page, re.MULTILINE)) == set()


def test_glossary_has_each_word_once_and_in_order() -> None:
    glossary = (DOCS / "architecture.md").read_text("utf-8").partition("## Glossary")[2]
    words = re.findall(r"^\| ([a-z][\w -]*) \|", glossary, re.MULTILINE)[1:]
    assert words == sorted(set(words))


def test_coming_from_page_has_every_earlier_system_and_true_modules() -> None:
    page = (DOCS / "coming-from.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert tuple(rows[: len(SUCCEEDED)]) == SUCCEEDED
    for module in re.findall(r"`(weft(?:\.\w+)+)`", page):
        importlib.import_module(module)
    from weft.searches.arc.synthesis import budget, planner, reach

    for place, kind in [
        (planner, "ParallelPlanner"),
        (budget, "WorkerBudget"),
        (budget, "SearchBudget"),
        (reach, "ReachabilityState"),
    ]:
        assert f"`{kind}`" in page
        assert hasattr(place, kind)


def test_every_decision_is_listed_and_has_its_four_parts() -> None:
    folder = DOCS / "decisions"
    records = sorted(folder.glob("[0-9]*.md"))
    listed = re.findall(
        r"^\| \[(\d+)\]\(([\w.-]+)\)", (folder / "README.md").read_text("utf-8"), re.M
    )
    assert listed == [(str(n), record.name) for n, record in enumerate(records, 1)]
    for number, record in enumerate(records, 1):
        text = record.read_text("utf-8")
        assert record.name.startswith(f"{number:04}-")
        assert text.startswith(f"# {number}. ")
        parts = ["Context", "Decision", "Consequences", "Alternatives"]
        assert re.findall(r"^## (.*)$", text, re.M) == parts, record.name
        assert 20 <= len(text.splitlines()) <= 45, record.name
