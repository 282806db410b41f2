"""docs/cli.md covers every command and option; the README names every command and group."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from weft import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "cli.md"


def commands(group: Any = None, before: str = "") -> dict[str, Any]:
    """Every command by its words, including those of groups."""
    by_name: dict[str, Any] = {}
    for name, command in (group or main.commands()).commands.items():
        inside = hasattr(command, "commands")
        by_name |= commands(command, f"{before}{name} ") if inside else {before + name: command}
    return by_name


def undocumented(page: str, known: dict[str, Any]) -> Iterator[str]:
    """Commands without a section on the page, and options missing from their section."""
    matches = re.findall(r"\n## weft ([\w -]+)\n(.*?)(?=\n## |\Z)", page, re.DOTALL)
    sections = dict(matches)
    for name, command in known.items():
        if name not in sections:
            yield f"weft {name}"
            continue
        options = (p for p in command.params if p.param_type_name == "option")
        words = {w for option in options for w in option.opts} - {"--help"}
        documented = set(re.findall(r"--?[a-z][\w-]*", sections[name]))
        yield from (f"weft {name} {word}" for word in sorted(words - documented))


def unexplained(known: dict[str, Any]) -> Iterator[str]:
    """Commands and options without a help text."""
    for name, command in known.items():
        if not command.help:
            yield f"weft {name}"
        yield from (
            f"weft {name} {p.name}" for p in command.params if not (p.help or p.name == "help")
        )


def unlisted(readme: str, known: dict[str, Any]) -> list[str]:
    """Commands and groups of commands that the README's table does not name."""
    table = readme.partition("## Commands")[2].partition("\n\n[")[0]
    named = set(re.findall(r"`weft (\w+)`", table))
    return sorted({name.split()[0] for name in known} - named)


@pytest.fixture
def planted() -> dict[str, Any]:
    """Commands of a program with no documentation; one of them has a known name."""
    app = typer.Typer()

    @app.command()
    def verify(run: str, against: str = "", deeper: bool = False) -> None:
        """Check a run."""

    @app.command()
    def unheard(run: str) -> None: ...

    return commands(get_command(app))


def test_page_has_every_command_and_option() -> None:
    assert list(undocumented(PAGE.read_text("utf-8"), commands())) == []


def test_commands_explain_themselves() -> None:
    assert list(unexplained(commands())) == []
    for name, command in commands().items():
        assert any(p.name == "as_json" for p in command.params), f"weft {name} lacks --json"


def test_readme_names_every_command_and_group() -> None:
    assert unlisted((ROOT / "README.md").read_text("utf-8"), commands()) == []


def test_command_and_option_without_a_word_are_found(planted: dict[str, Any]) -> None:
    page = PAGE.read_text("utf-8")
    assert list(undocumented(page, planted)) == ["weft verify --deeper", "weft unheard"]
    messages = list(unexplained(planted))
    assert {"weft unheard", "weft unheard run", "weft verify deeper"} <= set(messages)
    assert unlisted((ROOT / "README.md").read_text("utf-8"), planted) == ["unheard"]
