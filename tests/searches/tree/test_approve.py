"""A run that asks a person: it waits, is answered, killed, resumed, and decides the same."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.searches.tree.conftest import CONFIG, Wood
from tests.searches.tree.test_kills import left_over
from tests.support.forked import BegunCommand
from weft.errors import WeftError
from weft.inspect.report.view import RunView
from weft.searches.tree.approvals import WaitingEval, unanswered, waiting_evals
from weft.searches.tree.report import lines, pages
from weft.searches.tree.search import NAME

pytestmark = pytest.mark.xdist_group("tree-approve")
ASKING = CONFIG.replace("max_depth = 1", "max_depth = 1\nbeam_width = 1") + "[approve]\n"
CHOICE = {"up-a.md": False, "up-b.md": True}


def begin(wood: Wood, out: str) -> BegunCommand:
    return wood.begin("tree", "run", "tree.toml", "--out", out, "-q", "--json")


def waiting(wood: Wood, out: str) -> list[WaitingEval]:
    """The evals that wait for an answer now; none before the run has started."""
    try:
        return unanswered(waiting_evals(wood.folder / out, wood.load(out)))
    except (WeftError, OSError, StopIteration):
        return []


def wait_for_question(wood: Wood, out: str, process: BegunCommand) -> list[WaitingEval]:
    while not (question := waiting(wood, out)):
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    return question


def answered(
    wood: Wood, out: str, choice: Mapping[str, bool], *words: str
) -> tuple[int, dict[str, object]]:
    """Run a search and answer all its questions; return its exit code and what it printed."""
    command = ("tree", "run", "tree.toml", "--out", out, "-q", "--json", *words)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(wood.apart, *command)
        while not running.done():
            for item in waiting(wood, out):
                flag = "--yes" if choice[item.idea_path] else "--no"
                by = ("--by", f"somebody else {time.monotonic_ns()}")
                result = wood.weft("tree", "approve", out, item.name, flag, "--note", "so", *by)
                assert result.code == 0, result
            time.sleep(0.1)
    result = running.result()
    assert result.out, result
    return result.code, result.json


def test_person_is_asked_about_the_best_and_one_ledger_comes_of_it(wood: Wood, chaos: bool) -> None:
    wood.plant(ASKING)
    runs = {"serial": ("--parallel-backend", "serial"), "two": ("--max-parallel-evals", "2")}
    runs |= {"eight": ("--max-parallel-evals", "8")} if chaos else {}
    for out, words in runs.items():
        code, _ = answered(wood, out, CHOICE, *words)
        assert code == 0
    assert len({wood.ledger(out) for out in runs}) == 1, "who decides, and when, is not in it"
    assert wood.verdicts("two") == {
        "up-a.md": "approval-rejected", "up-b.md": "promoted n1", "down-b.md": "regressed",
    }  # fmt: skip
    ledger = (wood.folder / "two" / "ledger.jsonl").read_text()
    assert '"feedback":"so"' in ledger
    assert "somebody else" not in ledger
    output = wood.weft("tree", "why", "two", "e2").out
    assert "NO  approval-rejected so" in output
    assert "decided by somebody else" in output
    other, _ = answered(wood, "other", {"up-a.md": True})
    assert other == 0
    assert wood.verdicts("other")["up-a.md"] == "promoted n1"
    assert wood.ledger("other") != wood.ledger("two"), "what is decided is in it"


def test_answer_given_while_nothing_runs_is_found_on_resume(wood: Wood) -> None:
    wood.plant(ASKING)
    with begin(wood, "r") as process:
        [first] = wait_for_question(wood, "r", process)
        os.kill(process.pid, signal.SIGKILL)
    assert first.idea_path == "up-a.md"
    assert wood.weft("tree", "approve", "r", "--no", "--note", "so").code == 0
    second = wood.weft("tree", "approve", "r", "e2", "--yes")
    assert second.code == 3
    assert "e2 was already rejected, by " in second.err
    listed = wood.weft("tree", "approve", "r", "--json").json["waiting"]
    assert [(w["eval_id"], w["decision"]["approved"]) for w in listed] == [(2, False)]
    assert answered(wood, "r", CHOICE)[0] == 0
    result = wood.weft("tree", "approve", "r", "--yes")
    assert result.code == 3
    assert "no eval waits for a person" in result.err
    assert answered(wood, "whole", CHOICE)[0] == 0
    assert wood.ledger("r") == wood.ledger("whole")
    assert left_over(wood.folder / "r") == []


def test_what_waits_is_listed_shown_and_on_the_page(wood: Wood) -> None:
    wood.plant(ASKING)
    with begin(wood, "r") as process:
        [item] = wait_for_question(wood, "r", process)
        try:
            listed = wood.weft("tree", "approve", "r")
            assert "e2     up-a.md on n0, 52, before 12" in listed.out
            assert "decide  weft tree approve r e2 --yes" in listed.out
            result = wood.weft("tree", "approve", "r", "e2")
            assert '+  "a": 5,' in result.out
            assert unanswered([item]), "nothing was decided: this is no terminal"
            assert wood.weft("tree", "approve", "r", "e9", "--yes").code == 3
            assert wood.weft("tree", "approve", "r", "e2", "--json").code == 2
            view = RunView(wood.folder / "r", NAME)
            command = f"weft tree approve {wood.folder / 'r'} e2 --yes"
            assert any(command in line for line in lines(view))
            assert command in pages(view)[0].html
            assert "e2 waits for a person" in wood.weft("status", "r").out
        finally:
            os.kill(process.pid, signal.SIGINT)
            out, err = process.communicate()
    assert process.returncode == 130, (out, err)


def test_before_the_score_all_are_asked_and_a_limit_refuses(wood: Wood) -> None:
    wood.plant(ASKING + 'before = "score"\n')
    choice = {"up-a.md": True, "up-b.md": False, "down-b.md": False}
    code, report = answered(wood, "r", choice)
    assert code == 0
    assert wood.verdicts("r")["up-b.md"] == "approval-rejected"
    [scored] = [e for e in report["evals"] if e["score"] is not None]  # type: ignore[attr-defined]
    assert scored["idea_path"] == "up-a.md"
    words = ("--set", "approve.recorded=true", "--set", 'recorded_from="r"')
    assert wood.run("again", *words).code == 0
    assert wood.verdicts("again") == wood.verdicts("r")
    late = wood.run("late", "--set", "approve.timeout_s=0.5", "--set", 'approve.before="promotion"')
    assert late.code == 1
    assert wood.verdicts("late")["up-a.md"] == "timeout"
    refusal = wood.run("ray", "--parallel-backend", "ray")
    assert refusal.code in (2, 3)
    assert "[approve] waits in the run's folder" in refusal.err
