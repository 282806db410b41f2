"""What is kept of the output of a test that failed: its end, without the places of this machine."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

TAIL = 4000
"""Characters that are kept."""


def tail_of(text: str, root: Path) -> str:
    """The end of an output, with folders of the checkout, Python, user and system shortened."""
    for place, short in sorted(places(root).items(), key=lambda item: -len(item[0])):
        text = text.replace(f"{place}/", short)
    return text[-TAIL:]


def places(root: Path) -> dict[str, str]:
    """Folders that differ from machine to machine, and what stands for each."""
    named = {tempfile.gettempdir(): "TMP/", "/tmp": "TMP/", str(Path.home()): "~/",
             sys.base_prefix: "PYTHON/", sys.prefix: "PYTHON/", str(root): ""}  # fmt: skip
    return {place: short for place, short in named.items() if place not in ("/", "/usr")}
