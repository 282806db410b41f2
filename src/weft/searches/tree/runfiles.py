"""Files beside the config that belong to a run: scorers, scripts, and those `harness` declares.

    {work_dir}/score.py ─► input harness/score.py of the run ─► {harness_dir}/score.py on the slot

The genesis binds their bytes, and every stage works with its own copy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping

from weft.model.values import Object

PREFIX = "harness/"
"""Prefix of their names among the inputs of a run."""
SHIPPED = "weft_harness.py"
"""Name of Weft's own harness among them."""
_WORDS = re.compile(r"\{work_dir\}/(?P<name>.+)", re.DOTALL)
_EMBEDDED = re.compile(
    r"(?P<dir>\{work_dir\}|\$WEFT_WORK_DIR|\$\{WEFT_WORK_DIR\})/(?P<name>[\w.+@/-]+)"
)
_SHIPPED = re.compile(r"\{harness\}|\$\{?WEFT_HARNESS\b")
COPIES = {
    "{work_dir}": "{harness_dir}",
    "$WEFT_WORK_DIR": "$WEFT_HARNESS_DIR",
    "${WEFT_WORK_DIR}": "${WEFT_HARNESS_DIR}",
}


def commit_input(number: int) -> str:
    """Return the name of a root's commit among the inputs of a run."""
    return f"root-commit/{number}" if number else "root-commit"


def names_harness(word: str) -> bool:
    """Whether a word of a command, or a shell line, refers to Weft's own harness."""
    return _SHIPPED.search(word) is not None


def run_files(inputs: Mapping[str, Object]) -> dict[str, Object] | None:
    """Return these files among the inputs of a run by name; None if there are none."""
    files = {n.removeprefix(PREFIX): o for n, o in sorted(inputs.items()) if n.startswith(PREFIX)}
    return files or None


def names_in(word: str) -> Iterator[str]:
    """Yield the names in the config's folder to which a word or a shell line refers."""
    whole = _WORDS.fullmatch(word)
    if whole:
        yield whole["name"]
    for match in _EMBEDDED.finditer(word):
        if whole is None or match["name"] != whole["name"]:
            yield match["name"]


def with_copies(word: str, names: Collection[str]) -> str:
    """Return a word of a command with files replaced by the run's copies."""
    whole = _WORDS.fullmatch(word)
    if whole and whole["name"] in names:
        return f"{{harness_dir}}/{whole['name']}"
    return _EMBEDDED.sub(_replacement(names), word)


def _replacement(names: Collection[str]) -> Callable[[re.Match[str]], str]:
    def replace(match: re.Match[str]) -> str:
        known = match["name"] in names
        return f"{COPIES[match['dir']] if known else match['dir']}/{match['name']}"

    return replace
