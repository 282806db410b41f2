"""docs/cli.md is current, and every command and option is on it and in the README."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import typer

from weft.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "cli.md"


def commands(group: Any = None, before: str = "") -> dict[str, Any]:
    """Every command by its words, those of groups too."""
    found: dict[str, Any] = {}
    for name, command in (group or typer.main.get_command(app)).commands.items():
        inside = hasattr(command, "commands")
        found |= commands(command, f"{before}{name} ") if inside else {before + name: command}
    return found


def test_page_is_what_the_commands_say() -> None:
    done = subprocess.run(
        [sys.executable, "tools/make_docs.py", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_page_has_every_command_and_option() -> None:
    sections = dict(
        re.findall(r"\n## weft ([\w ]+)\n(.*?)(?=\n## |\Z)", PAGE.read_text(), re.DOTALL)
    )
    assert sorted(sections) == sorted(commands())
    for name, command in commands().items():
        for parameter in command.params:
            for word in parameter.opts if parameter.param_type_name == "option" else []:
                assert word == "--help" or f"{word}" in sections[name], f"weft {name} {word}"


def test_commands_explain_themselves() -> None:
    for name, command in commands().items():
        assert command.help, name
        for parameter in command.params:
            assert parameter.help or parameter.name == "help", f"weft {name} {parameter.name}"
        assert any(p.name == "as_json" for p in command.params), f"weft {name} lacks --json"


def test_readme_lists_every_command() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert [name for name in commands() if f"| `weft {name}" not in text] == []
