"""What different rules would answer on training tasks as they are: a section of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Figures = Mapping[str, Any]
NAMES = {
    "whole": "confidence, all features",
    "behaviour": "without behaviour: what steps and outputs keep",
    "support": "without support: pairs, tests, independent programs, lists",
    "behaviour+support": "without both",
}


def section(part: Figures) -> str:
    """Return the section of the page."""
    models, rule = part["models"], part["earlier_rule"]
    asked = sorted(models["whole"], key=int)
    rows = [
        f"| {NAMES[name]} | " + " | ".join(_cell(models[name][least]) for least in asked) + " |"
        for name in NAMES
    ]
    now, then = part["versions"]["this"], part["versions"]["earlier"]
    return f"""\
## Rules compared on training tasks

`python tools/compare_arc_rules.py`: {part["tasks"]} training tasks (every 4th by name), searched
by version 7 and by the last one whose price rule needed no confidence, in one process each, on
{part["machine"]}. First guesses right: {now["pass1"]} and {then["pass1"]}; one of two right:
{now["pass2"]} and {then["pass2"]}; {part["moved"]} tasks have their true output at another place;
{now["cpu_s"]:.0f} and {then["cpu_s"]:.0f} CPU s. Right / wrong at a least confidence; the models
were fitted on puzzles made of all training tasks, these among them, so only differences count:

| rule | {" | ".join(f"{int(least) / 1000:g}" for least in asked)} |
|---|{"---|" * len(asked)}
{chr(10).join(rows)}

The price rule of the earlier version: {_cell(rule)}.
"""


def _cell(count: Figures) -> str:
    return f"{count['right']} / {count['wrong']}"
