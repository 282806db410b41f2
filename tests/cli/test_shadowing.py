"""A search in a file named like a standard module is found by run, resume and replay."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import SMALL, Weft
from tests.support.commands import run_apart
from weft import loaded


@pytest.mark.parametrize("name", ["queue", "statistics"])
def test_search_named_like_a_standard_module_runs_resumes_and_replays(
    weft: Weft, tmp_path: Path, name: str
) -> None:
    place, away = tmp_path / "code", tmp_path / "away"
    place.mkdir()
    away.mkdir()
    (place / f"{name}.py").write_text(SMALL)
    for call in (weft, lambda *words, cwd: run_apart(cwd, *words)):  # with and without it loaded
        out = tmp_path / f"{name}-{call is weft}"
        outcome = call("run", f"{name}:squares", "--out", out, "--json", cwd=place)
        assert outcome.code == 0, outcome
        replayed = call("replay", out, "--json", cwd=away)
        assert (replayed.code, replayed.json["replayed_head"]) == (0, outcome.json["head"]), (
            replayed
        )
    result = call("run", f"{name}:squares", "--out", "begun", "--wall-limit", "0.0001", cwd=place)
    assert result.code == 130, result
    resumed = call("resume", place / "begun", "--json", cwd=away)
    assert (resumed.code, resumed.json["head"]) == (0, outcome.json["head"]), resumed


@pytest.mark.parametrize("name", ["time", "json", "signal"])
def test_file_with_the_name_of_a_module_that_weft_needs_is_refused(
    weft: Weft, tmp_path: Path, name: str
) -> None:
    place = tmp_path / "code"
    place.mkdir()
    (place / f"{name}.py").write_text(SMALL)
    result = weft("run", f"{name}:squares", "--path", place, "--out", "r")
    result.check_one_line(3, f"{name}.py", "is taken by", "rename")
    assert not (tmp_path / "r").exists()


def imported_names(path: Path) -> set[str]:
    names = set[str]()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names & sys.stdlib_module_names


def test_names_that_are_refused_are_those_that_the_engine_imports() -> None:
    source = Path(loaded.__file__).parent
    packages = ("console", "coordinator", "ledger", "model", "runs", "storage", "worker")
    files = [*source.glob("*.py"), *(f for p in packages for f in (source / p).rglob("*.py"))]
    assert set().union(*map(imported_names, files)) <= loaded.ENGINE_NEEDS
