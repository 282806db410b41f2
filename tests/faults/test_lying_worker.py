"""F26: a worker that lies: frames with wrong tickets, repeated, of wrong types, too long.

Its messages are rejected, it is replaced, and the run ends with the ledger of an honest one. If
every worker lies all the time, tasks fail with a named error, but the coordinator never does.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.case import HERE, Case, Search
from tests.support.checker import Reference, check_finished, open_copy
from tests.support.figures import print_figures

STORM = Search("storm", f"{HERE / 'strikers.py'}:storm", {"rounds": 2, "width": 20, "work_ms": 1})
LIES = (
    "foreign-ticket", "repeated", "negative-ticket", "too-many-values", "fewer-times",
    "value-no-text", "unknown-kind", "no-list", "no-json", "huge-frame", "lost-of-nobody",
    "dropped-twice", "wrong-body",
)  # fmt: skip


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Reference:
    case = Case(tmp_path_factory.mktemp("honest") / "case", STORM)
    assert case.run().returncode == 0
    return Reference.of(case.out)


SAMPLE = ("foreign-ticket", "repeated", "too-many-values", "no-json", "huge-frame", "wrong-body")
EVERY = [lie if lie in SAMPLE else pytest.param(lie, marks=pytest.mark.slow) for lie in LIES]


@pytest.mark.parametrize("lie", EVERY)
def test_lie_is_not_believed_and_changes_no_record(
    lie: str, reference: Reference, tmp_path: Path
) -> None:
    """The first three workers lie once each."""
    case = Case(tmp_path / "case", STORM, environment={"WEFT_FAULTS_LIE": f"{lie}:3"})
    ended = case.run()
    assert ended.returncode == 0, ended.stderr
    assert check_finished(case.place, reference) == []
    assert case.leftovers() == []
    with open_copy(case.out) as db:
        reasons = {reason for (reason,) in db.execute("SELECT reason FROM attempts")}
    print_figures("F26", lie=lie, lies=3, violations=0)
    assert reasons <= {"worker-not-believed"}
    liars = list((case.folder / "lies").iterdir())
    assert len(liars) == 3, "two slots have three liars only if those that lied are replaced"


def test_workers_that_only_lie_end_the_run_without_a_wrong_record(tmp_path: Path) -> None:
    case = Case(tmp_path / "case", STORM, environment={"WEFT_FAULTS_LIE": "foreign-ticket:1000000"})
    ended = case.run()
    assert ended.returncode != 0 or ended.outcome["tasks"]["completed"] == 0
    assert "Traceback" not in ended.stderr
    assert case.leftovers() == []
