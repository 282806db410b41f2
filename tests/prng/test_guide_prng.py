"""docs/prng.md is true: its commands print what it says, its defaults are the defaults."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from tests.test_guide import BLOCK, ROOT, check_said, said_by
from weft.cli import prnganalyse
from weft.prng.attacks import ALL

GUIDE = (ROOT / "docs" / "prng.md").read_text("utf-8")
pytestmark = pytest.mark.xdist_group("prng-runs")


def test_commands_of_the_guide_print_what_it_says(tmp_path: Path) -> None:
    [text] = [body for language, body in BLOCK.findall(GUIDE) if language == "console"]
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, expected = part.partition("\n")
        said = said_by(["bash", "-c", command], tmp_path)
        if expected.strip():
            check_said(said, expected)


def test_defaults_of_the_guide_are_the_defaults() -> None:
    defaults = inspect.signature(prnganalyse.analyse).parameters
    for name, stated in re.findall(r"^\| `--([a-z]+)` \| ([^|]+) \|", GUIDE, re.M):
        assert str(defaults[name].default) == stated, name


def test_guide_names_every_attack() -> None:
    for attack in ALL:
        assert f"`{attack.name}`" in GUIDE, attack.name
