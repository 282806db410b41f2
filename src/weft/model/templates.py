"""Placeholders of command templates: `{name}` stands for a value, everything else for itself.

`{{name}}` is the text `{name}`, and `${name}` is left to the shell. Only a name in braces counts,
so JSON, `{}`, `{print $1}` and `{a,b}` need no escape. Values are inserted unchanged: braces in
them have no meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

ENGINE_NAMES = (
    "attempt", "out_dir", "python", "run_id", "seed", "slot", "tmp_dir", "work_dir",
)  # fmt: skip
"""Names that the engine defines for every command."""
_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_PLACEHOLDER = re.compile(
    rf"(?P<shell>\$\{{{_NAME}\}})|\{{\{{(?P<literal>{_NAME})\}}\}}|\{{(?P<name>{_NAME})\}}"
)


def names_in(templates: Iterable[str]) -> tuple[str, ...]:
    """Return the names that templates have placeholders for, each once.

    >>> names_in(["{x}-{y}", "${HOME}", "{{z}}", '{"a": {"b": 1}}', "{x}"])
    ('x', 'y')
    """
    matches = (match for text in templates for match in _PLACEHOLDER.finditer(text))
    return tuple(dict.fromkeys(match["name"] for match in matches if match["name"]))


def fill(template: str, values: Mapping[str, str]) -> str:
    """Replace placeholders by values; raises KeyError for a name without a value.

    >>> fill("{x} {{x}} ${x} {}", {"x": "{y}"})
    '{y} {x} ${x} {}'
    """

    def text(match: re.Match[str]) -> str:
        if match["name"]:
            return values[match["name"]]
        return f"{{{match['literal']}}}" if match["literal"] else match[0]

    return _PLACEHOLDER.sub(text, template)


def text_of(value: object) -> str | None:
    """Return a value as passed to a command: text, or a number as in JSON; None for any other.

    >>> text_of("a b"), text_of(3), text_of(0.5), text_of(True), text_of([1])
    ('a b', '3', '0.5', 'true', None)
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return value if isinstance(value, str) else None


def texts_of(values: Mapping[str, object]) -> dict[str, str]:
    """Return the text of each value that can be inserted into a command, by name."""
    texts = {name: text_of(value) for name, value in values.items()}
    return {name: text for name, text in texts.items() if text is not None}
