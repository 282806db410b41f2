"""docs/prng.md is complete: its defaults are the real ones, and it names every attack."""

from __future__ import annotations

import inspect
import re

from tests.support.shown import ROOT
from weft.searches.prng.attacks import ALL
from weft.searches.prng.cli import analyse

GUIDE = (ROOT / "docs" / "prng.md").read_text("utf-8")


def test_defaults_of_the_guide_are_the_defaults() -> None:
    defaults = inspect.signature(analyse).parameters
    for name, stated in re.findall(r"^\| `--([a-z]+)` \| ([^|]+) \|", GUIDE, re.M):
        assert str(defaults[name].default) == stated, name


def test_guide_names_every_attack() -> None:
    for attack in ALL:
        assert f"`{attack.name}`" in GUIDE, attack.name
