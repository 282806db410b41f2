"""A search's title and a run's answer in words, the same on every page. Pure.

>>> title_of("buckets:best_multiplier")
'Best multiplier'
>>> answer_lines({"best": 0.25, "trial": 7})
['best 0.25, trial 7']
"""

from __future__ import annotations

from collections.abc import Mapping

from weft.inspect.report.text import clip, counted, shown_value
from weft.model.values import JsonValue, Value
from weft.product import products

MAX_LINES, LINE_BYTES = 8, 400
"""Limits of an answer in words."""
ONE_LINE_CHARS = 90
MAX_ITEMS = 12
MAX_DEPTH = 3
DIGITS = 6
"""Significant digits of a number in a sentence; the recorded answer beside it has all of them."""


STUDY = "optuna.study"
"""The search that can evaluate any task; its title names that task."""


def title_of(search: str, args: JsonValue = None) -> str:
    """Return a search's title: as its product defines it, or its function's name in words."""
    if search == STUDY:
        objective = _objective(args)
        return f"Optuna study of {_plain_name(objective)}" if objective else "Optuna study"
    for product in products():
        name = product.former_names.get(search, search)
        if name in product.titles:
            return product.titles[name]
    words = _plain_name(search)
    return words[:1].upper() + words[1:]


def _objective(args: JsonValue) -> str:
    """Return the name of the task that a study evaluates; empty if it cannot be read."""
    for name in ("plan", "objective", "task"):
        args = args.get(name) if isinstance(args, dict) else None
    return args if isinstance(args, str) else ""


def _plain_name(search: str) -> str:
    """Return the last part of `module:function` or `product.search` as words."""
    name = search.rpartition(":")[2].rpartition(".")[2] or search
    return name.replace("_", " ").replace("-", " ").strip() or search


def answer_lines(value: Value) -> list[str]:
    """Describe an answer in a few lines; lists of runs show only the first."""
    plain = shown_value(value)
    lines = _lines(plain)
    if len(lines) > MAX_LINES:
        lines = [*lines[: MAX_LINES - 1], f"and {len(lines) - MAX_LINES + 1:,} more"]
    return [clip(line, LINE_BYTES) for line in lines]


def unknown_lines(reason: str, detail: Value) -> list[str]:
    """Describe why there is no answer."""
    lines = answer_lines(detail) if detail else []
    if len(lines) == 1:
        return [clip(f"{reason}: {lines[0]}", LINE_BYTES)]
    return [reason, *lines[: MAX_LINES - 1]]


def _lines(value: JsonValue) -> list[str]:
    whole = _words(value)
    if len(whole) <= ONE_LINE_CHARS:
        return [whole]
    if isinstance(value, dict):
        return [_named(name, item) for name, item in value.items()]
    if isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        return [counted(len(value), "item"), *map(_words, value)]
    return [whole]


def _words(value: JsonValue, depth: int = 0) -> str:
    if isinstance(value, dict):
        if depth >= MAX_DEPTH:
            return counted(len(value), "value")
        return ", ".join(_named(name, item, depth) for name, item in value.items()) or "empty"
    if isinstance(value, list):
        if depth >= MAX_DEPTH:
            return counted(len(value), "value")
        separator = "; " if any(isinstance(item, dict) for item in value) else ", "
        words = separator.join(_words(item, depth + 1) for item in value[:MAX_ITEMS])
        more = f" and {len(value) - MAX_ITEMS:,} more" if len(value) > MAX_ITEMS else ""
        return (words + more) or "an empty list"
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.{DIGITS}g}" if 1e-4 <= abs(value) < 1e6 else str(value)
    return str(value) if str(value) else "an empty text"


def _named(name: str, value: JsonValue, depth: int = 0) -> str:
    if isinstance(value, dict) and {"number", "params", "value"} <= value.keys():  # a trial
        sentence = f"{name.replace('_', ' ')} value {_words(value['value'])}"
        return f"{sentence} of trial {value['number']}: {_words(value['params'], depth + 1)}"
    nested = isinstance(value, Mapping | list)
    return f"{name.replace('_', ' ')}{':' if nested else ''} {_words(value, depth + 1)}"
