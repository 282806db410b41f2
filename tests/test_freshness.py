"""Which cases of the campaigns were tried on different code: by statements, not by commits."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import asdict
from pathlib import Path

import pytest

from campaigns.__main__ import untried
from campaigns.bugs import BUGS, CONTROL, PREFIX
from campaigns.collect import ROOT, Case
from campaigns.freshness import ASIDE, UNKNOWN, CodeHistory, is_tried, searches_of, statements
from campaigns.page import EndedCase, stale_section, write_page
from campaigns.rows import EVERY_CALL, EVERY_SEED, FRESH_ZOO

MODULE = '''"""What it owns."""
def read(path):
    """Read it."""
    if not path:
        raise ValueError(f"{path} is no plain file", hint="give a path")
    return open(path, mode="rb")
'''
ENGINE, ARC, TEST = "src/weft/runs/run.py", "src/weft/searches/arc/task.py", "tests/test_run.py"
NAMES = ("-c", "user.name=a", "-c", "user.email=a@b")


def git(folder: Path, *words: str) -> str:
    result = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return result.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in (ENGINE, ARC, TEST):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(MODULE)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, *NAMES, "commit", "-qm", "first")
    return tmp_path


def edit(checkout: Path, name: str, old: str, new: str) -> None:
    text = (checkout / name).read_text()
    assert old in text
    (checkout / name).write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [("What it owns", "Other words"), ("Read it.", "Open it."), ("no plain", "no regular"),
     ("give a path", "name it"), ("return", "# why\n    return")],
)  # fmt: skip
def test_words_that_people_read_are_no_change_of_the_code(old: str, new: str) -> None:
    assert statements(MODULE.replace(old, new)) == statements(MODULE) != statements("")


@pytest.mark.parametrize(
    ("old", "new"),
    [('mode="rb"', 'mode="r"'), ("not path", "path"), ("ValueError", "OSError"),
     ("{path}", "{other}")],
)  # fmt: skip
def test_changed_statement_is_a_change_of_the_code(old: str, new: str) -> None:
    assert statements(MODULE.replace(old, new)) != statements(MODULE)


def test_case_is_stale_once_its_engine_search_or_test_has_changed(checkout: Path) -> None:
    first = git(checkout, "rev-parse", "--short=12", "HEAD")
    arc, jobs = f"{EVERY_CALL}[arc]", f"{EVERY_CALL}[jobs]"
    assert CodeHistory(checkout).changed_for(arc, f"{first}-12ab") == []
    edit(checkout, ARC, 'mode="rb"', 'mode="r"')
    assert CodeHistory(checkout).changed_for(arc, first) == [ARC]
    assert CodeHistory(checkout).changed_for(jobs, first) == []
    assert CodeHistory(checkout).changed_for(f"{TEST}::test_x", first) == []
    git(checkout, *NAMES, "commit", "-qam", "second")
    (checkout / ENGINE).unlink()
    edit(checkout, TEST, "path", "place")
    assert CodeHistory(checkout).changed_for(arc, first) == [ENGINE, ARC]
    assert CodeHistory(checkout).changed_for(jobs, first) == [ENGINE]
    assert CodeHistory(checkout).changed_for(f"{TEST}::test_x", "HEAD") == [ENGINE, TEST]


@pytest.mark.parametrize(
    ("old", "new", "is_stale"),
    [("== 1", "== 2", True), ("== 3", "== 4", False), ("LIMIT = 5", "LIMIT = 6", True),
     ("def test_a", "def test_c", True)],
)  # fmt: skip
def test_other_test_of_the_same_file_makes_no_case_stale(
    checkout: Path, old: str, new: str, is_stale: bool
) -> None:
    body = "LIMIT = 5\ndef test_a():\n    assert 1 == 1\ndef test_b():\n    assert 3 == 3\n"
    (checkout / TEST).write_text(body)
    git(checkout, *NAMES, "commit", "-qam", "second")
    edit(checkout, TEST, old, new)
    history = CodeHistory(checkout)
    assert history.changed_for(f"{TEST}::test_a[x]", "HEAD") == [TEST] * is_stale
    assert history.changed_for(TEST, "HEAD") == [TEST]


def test_commit_that_is_not_there_makes_a_case_stale(checkout: Path) -> None:
    history = CodeHistory(checkout)
    assert history.changed_for(EVERY_CALL, "files-123456789012") == [UNKNOWN]
    assert history.commit == git(checkout, "rev-parse", "--short=12", "HEAD")


def test_row_that_names_its_code_depends_on_nothing_else() -> None:
    assert is_tried("src/weft/coordinator/machine.py", EVERY_SEED)
    assert not is_tried("src/weft/worker/loop.py", EVERY_SEED)
    zoo = next(iter(FRESH_ZOO))
    assert is_tried("src/weft/searches/prng/attacks/brute.py", zoo)
    assert not is_tried("src/weft/searches/prng/cli.py", zoo)
    assert not is_tried("src/weft/worker/loop.py", zoo)


def test_package_that_no_search_imports_makes_only_its_own_tests_stale() -> None:
    export = "src/weft/optuna/export.py"
    assert is_tried(export, "tests/samplers/test_example.py::test_x")
    assert not is_tried(export, f"{EVERY_CALL}[prng]")
    imports = re.compile(rf"(import|from) weft\.({'|'.join(ASIDE)})\b")
    weft, faults = ROOT / "src" / "weft", ROOT / "tests" / "faults"
    importing = [path for path in [*weft.rglob("*.py"), *faults.rglob("*.py")]
                 if imports.search(path.read_text("utf-8"))]  # fmt: skip
    assert {path.relative_to(weft).parts[0] for path in importing} == {"__init__.py", *ASIDE}


def test_searches_of_a_case_are_those_of_its_parameter_its_folder_or_its_bug() -> None:
    assert searches_of(f"{EVERY_CALL}[tree]") == ("tree",)
    assert searches_of("tests/searches/prng/test_x.py::test_y[3]") == ("prng",)
    assert searches_of("tests/workers/test_clock.py::test_x") == ()
    assert searches_of(PREFIX + CONTROL) == ("arc", "jobs", "prng", "tree")
    bug = next(bug for bug in BUGS if bug.test.startswith("tests/searches/arc/"))
    assert searches_of(bug.case) == ("arc",)


def test_stale_cases_are_listed_on_the_page_and_run_again(checkout: Path, tmp_path: Path) -> None:
    first = git(checkout, "rev-parse", "--short=12", "HEAD")
    cases = [Case("F1", f"{EVERY_CALL}[{kind}]", 1, 1) for kind in ("arc", "jobs")]
    passed = {"outcome": "passed", "figures": [], "said": ""}
    ended = [EndedCase(case.to_dict(), passed, 1.0, first, 0.0) for case in cases]
    pages = tmp_path / "pages"
    pages.mkdir()
    body = {"where": "", "earlier": {}, "listed": {}, "cases": [asdict(e) for e in ended]}
    (pages / "faults.json").write_text(json.dumps(body))
    fresh = write_page(pages, [], None, CodeHistory(checkout)).read_text()
    assert "None: the engine, the searches and the tests of every row are in commit" in fresh
    assert untried(cases, pages, CodeHistory(checkout)) == []
    edit(checkout, ARC, 'mode="rb"', 'mode="r"')
    history = CodeHistory(checkout)
    assert untried(cases, pages, history) == cases[:1]
    assert "| F1 arc | 1 | `searches/arc/task.py` |" in stale_section(ended, history)
    assert "| F1 jobs |" not in stale_section(ended, history)
    assert untried(cases, pages) == []
