"""Shorten the output of a failed test to its end, without paths of this machine."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

TAIL = 4000
"""Number of characters kept."""


def tail_of(text: str, root: Path) -> str:
    """Return the end of an output, with paths of checkout, Python, user and system shortened."""
    for place, short in sorted(places(root).items(), key=lambda item: -len(item[0])):
        text = text.replace(f"{place}/", short)
    return text[-TAIL:]


def places(root: Path) -> dict[str, str]:
    """Return the machine-dependent folders, with the replacement of each."""
    named = {tempfile.gettempdir(): "TMP/", "/tmp": "TMP/", str(Path.home()): "~/",
             sys.base_prefix: "PYTHON/", sys.prefix: "PYTHON/", str(root): ""}  # fmt: skip
    return {place: short for place, short in named.items() if place not in ("/", "/usr")}
