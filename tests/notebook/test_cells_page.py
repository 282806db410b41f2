"""docs/notebooks.md and the example notebook show what a kernel prints."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.notebook.kernels import kernel
from tests.support.shown import ROOT, blocks, check_said, said_by

PAGE = ROOT / "docs" / "notebooks.md"
EXAMPLE = ROOT / "examples" / "notebook" / "cells.ipynb"


def test_cells_of_the_page_print_what_it_shows(tmp_path: Path) -> None:
    cells = blocks(PAGE)
    expected = [text.text if text.language == "text" else "" for text in (*cells[1:], cells[0])]
    with kernel(tmp_path) as book:
        for cell, output in zip(cells, expected, strict=True):
            if cell.language == "py":
                check_said(book.run(cell.text), output)
    shutil.copytree(tmp_path / "runs" / "best", tmp_path / "copy")
    check_said(said_by("weft replay copy -q", tmp_path), blocks(PAGE)[-1].text)


def test_example_prints_what_is_stored_in_it(tmp_path: Path) -> None:
    cells = json.loads(EXAMPLE.read_text("utf-8"))["cells"]
    with kernel(tmp_path) as book:
        for cell in cells:
            if cell["cell_type"] == "code":
                printed = book.run("".join(cell["source"]))
                assert printed == stored_output(cell), cell["source"]


def stored_output(cell: dict[str, list[dict[str, list[str]]]]) -> str:
    """The output of a saved cell, and its final value."""
    texts = []
    for output in cell["outputs"]:
        texts += output.get("text", []) or output["data"]["text/plain"]  # type: ignore[call-overload]
    return "".join(texts).strip()
