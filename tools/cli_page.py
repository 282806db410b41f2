"""Render docs/cli.md from the declarations of the command line."""

from __future__ import annotations

from typing import Any

from weft.main import commands

HEAD = """\
# Command line

Generated from the commands by `make docs`; do not edit.

`weft COMMAND --help` prints the same. Results go to stdout, progress and messages to stderr. Every
error is one line, `weft: what and why; what to do next`; `-vv` adds a traceback. Progress bars and
colour appear only on a terminal; `NO_COLOR` turns colour off, `CI` both. `-q` leaves only
results and errors: no progress, no messages, no warnings.

`weft --install-completion` sets up completion of commands, options and file names for bash, zsh and
fish; `weft --show-completion` prints what it would install.

| exit code | meaning |
|---|---|
| 0 | answered; or checked and consistent |
| 1 | finished without an answer; two runs differ |
| 2 | usage: an option is wrong or missing |
| 3 | bad input: a file, a search, arguments, a folder with another run |
| 4 | no answer because tasks failed, or more than half failed unexpectedly |
| 5 | ledger, manifest or object damaged |
| 70 | a bug in Weft |
| 75 | locked, or out of a resource: try again |
| 130 | interrupted; `weft resume` continues |
"""
INDEX = """
## All commands

| command | does |
|---|---|
"""


def render() -> str:
    """Return the page: an index, then a section per command, options as they are declared."""
    known = commands_of(commands())
    index = "".join(_index_row(name, command) for name, command in known.items())
    sections = (_section(name, command) for name, command in known.items())
    return f"{HEAD}{INDEX}{index}{''.join(sections)}"


def commands_of(group: Any, before: str = "") -> dict[str, Any]:
    """Return every command by its full name; groups are expanded into their commands."""
    by_name: dict[str, Any] = {}
    for name, command in group.commands.items():
        inside = hasattr(command, "commands")
        by_name |= commands_of(command, f"{before}{name} ") if inside else {before + name: command}
    return by_name


def _index_row(name: str, command: Any) -> str:
    """Link a command, with the first paragraph of its help."""
    summary = " ".join(command.help.partition("\n\n")[0].split())
    return f"| [`weft {name}`](#weft-{name.replace(' ', '-')}) | {_escaped(summary)} |\n"


def _section(name: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option"]
    words = [_usage_word(p) for p in arguments] + [
        f"{p.opts[0]} {p.metavar}" for p in options if p.required
    ]
    usage = " ".join(["weft", name, *words, "[OPTIONS]"])
    rows = [f"| `{_escaped(p.metavar)}` | {_cell(p)} |" for p in arguments]
    rows += [f"| `{_option(p)}` | {_cell(p)} |" for p in options if p.name != "help"]
    table = "\n".join(["| | |", "|---|---|", *rows])
    text = "\n\n".join(" ".join(part.split()) for part in command.help.split("\n\n"))
    return f"\n## weft {name}\n\n```\n{usage}\n```\n\n{text}\n\n{table}\n"


def _usage_word(argument: Any) -> str:
    return argument.metavar if argument.required else f"[{argument.metavar}]"


def _option(option: Any) -> str:
    value = "" if option.is_flag or option.count else f" {option.metavar}"
    negative = f" / {', '.join(option.secondary_opts)}" if option.secondary_opts else ""
    return ", ".join(option.opts) + negative + _escaped(value)


def _escaped(text: str) -> str:
    """Escape a text for a table cell."""
    return text.replace("|", "\\|")


def _cell(parameter: Any) -> str:
    """Return the help text, with the default if it is informative."""
    default = parameter.default
    has_default = (
        not callable(default)
        and default not in (None, False, [], (), "")
        and parameter.show_default
    )
    return _escaped(parameter.help) + (f" Default: `{default}`." if has_default else "")
