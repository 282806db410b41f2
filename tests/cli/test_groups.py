"""Option groups: each field is an option, and the command receives the whole group."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from weft.console.groups import with_groups


@dataclass(frozen=True, slots=True)
class Place:
    out: Annotated[str, typer.Option(help="Where to.")]
    accept: Annotated[list[str], typer.Option()] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Search:
    names: Annotated[list[str] | None, typer.Argument()] = None
    depth: Annotated[int, typer.Option(min=1)] = 4


app = typer.Typer(rich_markup_mode=None)


@app.command()
@with_groups
def solve(
    search: Search, first: Annotated[int, typer.Option()], place: Place, last: bool = False
) -> None:
    """Solve something."""
    print(search, first, place, last)


def invoke(line: str) -> tuple[int, str]:
    outcome = CliRunner().invoke(app, line.split())
    return outcome.exit_code, outcome.output


def test_fields_become_options_and_the_command_gets_groups() -> None:
    line = "a b --out x --accept c --accept d --depth 2 --first 1 --last"
    assert invoke(line) == (
        0,
        f"{Search(['a', 'b'], 2)} 1 {Place('x', ['c', 'd'])} True\n",
    )


def test_defaults_of_fields_hold_and_are_not_shared() -> None:
    invoke("--out x --first 1 --accept c")
    assert invoke("--out x --first 1") == (0, f"{Search(None, 4)} 1 {Place('x', [])} False\n")


@pytest.mark.parametrize("line", ["--first 1", "--out x", "--out x --first 1 --depth 0"])
def test_missing_or_invalid_option_is_a_usage_error(line: str) -> None:
    assert invoke(line)[0] == 2


def test_help_has_the_command_and_its_options_in_order() -> None:
    code, text = invoke("--help")
    assert code == 0
    assert "Solve something." in text
    places = [text.index(name) for name in ("--depth", "--first", "--out", "--accept", "--last")]
    assert places == sorted(places)


def test_group_whose_field_is_a_parameter_too_is_refused() -> None:
    def clash(depth: int, search: Search) -> None: ...

    with pytest.raises(ValueError, match="depth"):
        with_groups(clash)
