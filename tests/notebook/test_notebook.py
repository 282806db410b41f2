"""The example notebook runs from start to end, and our objects display themselves in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import weft
from tests.support.pages import weave
from weft.model.results import Result, TaskError
from weft.searches.arc.values import EMPTY, Grid

ROOT = Path(__file__).resolve().parents[2]
EXECUTE = """\
import nbformat, sys
from nbclient import NotebookClient
book = nbformat.read("run.ipynb", as_version=4)
NotebookClient(book, timeout=120, kernel_name="python3").execute()
nbformat.write(book, "done.ipynb")
"""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The output of each cell, as HTML or as text."""
    folder = tmp_path_factory.mktemp("notebook")
    for file in sorted((ROOT / "examples" / "notebook").iterdir()):
        if file.is_file():
            shutil.copyfile(file, folder / file.name)
    env = {**os.environ, "JUPYTER_PLATFORM_DIRS": "1", "IPYTHONDIR": str(folder / "ipython")}
    result = subprocess.run(
        [sys.executable, "-c", EXECUTE], cwd=folder, env=env, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr[-3000:]
    cells = json.loads((folder / "done.ipynb").read_text("utf-8"))["cells"]
    all_outputs = [out for cell in cells for out in cell.get("outputs", [])]
    assert not any(out["output_type"] == "error" for out in all_outputs)
    displayed = [out["data"] for out in all_outputs if "data" in out]
    texts = ["".join(data.get("text/html", data.get("text/plain", ""))) for data in displayed]
    return [text for text in texts if text]  # progress, if shown, is empty at the end


def test_notebook_shows_a_run_its_results_and_a_grid(outputs: list[str]) -> None:
    run, same, results, best, grid = outputs
    assert "Run of climb:climb" in run
    assert "answered" in run
    assert same == "True"
    assert "results" in results
    assert "climb:score" in results
    assert "Result" in best
    assert grid.count("<rect") == 9


def test_saved_notebook_has_no_outputs() -> None:
    book = json.loads((ROOT / "examples" / "notebook" / "run.ipynb").read_text("utf-8"))
    assert all(not cell.get("outputs") for cell in book["cells"])


def test_hostile_values_are_escaped(tmp_path: Path) -> None:
    run = weft.run(weave.hostile(), out=tmp_path / "<b>run")
    pages = [run._repr_html_(), run.results()._repr_html_()]
    pages += [result._repr_html_() for result in run.results()]
    for page in pages:
        assert "<script" not in page
        assert "<img" not in page
        assert "<b>run" not in page
        assert "\u202e" not in page


def test_unknown_run_and_failed_result_say_so(tmp_path: Path) -> None:
    run = weft.run(weave.hopeless(), out=tmp_path / "run")
    assert "unknown" in run._repr_html_()
    assert "incomplete" in run._repr_html_()
    assert "failed: exception" in run.results()[0]._repr_html_()
    assert [r.index for r in run.results()[2:4]] == [2, 3]


def test_results_are_those_that_the_search_was_given(tmp_path: Path) -> None:
    run = weft.run(weave.naps(2), out=tmp_path / "run")
    results = run.results()
    assert len(results) == 24
    assert [r.value for r in results[:12]] == [r.args["x"] for r in results[:12]] == list(range(12))
    assert "the first 20 of them" in results._repr_html_()


def test_long_value_is_cut() -> None:
    result = Result(0, "0" * 64, "m:f", "{}", f'"{"x" * 5000}"', None)
    assert len(result._repr_html_()) < 2500
    failed = Result(0, "0" * 64, "m:f", "{}", None, TaskError("timeout", "run"))
    assert failed.outcome_text == "failed: timeout"


def test_grid_leaves_empty_cells_open() -> None:
    assert Grid(1, 3, bytes([1, EMPTY, 2]))._repr_html_().count("<rect") == 2
