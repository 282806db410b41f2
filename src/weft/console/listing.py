"""The list of commands in a group's help: whole summaries, wrapped instead of truncated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typer.core import TyperGroup

MAX_SUMMARY_CHARS = 200


class ListingGroup(TyperGroup):
    """A group of commands whose help lists each with the first sentence of its own help."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands that are not hidden."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        summaries = {
            name: command.get_short_help_str(MAX_SUMMARY_CHARS)
            for name, command in commands.items()
            if command is not None and not command.hidden
        }
        write_commands(formatter, summaries)


def write_commands(formatter: Any, summaries: Mapping[str, str]) -> None:
    """Write a summary for each command name."""
    if summaries:
        with formatter.section("Commands"):
            formatter.write_dl(list(summaries.items()))
