"""Resuming: refused for a different run, otherwise equal to an uninterrupted run."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest

from tests.cli.conftest import Weft, held_run, interrupt, tree
from tests.support.commands import Told

WHOLE = ["run", "slow:slow", "--json"]


def without_owner(folder: Path) -> dict[str, bytes]:
    return {name: data for name, data in tree(folder).items() if name != ".owner"}


def test_resume_finishes_with_the_head_of_an_unbroken_run(weft: Weft, tmp_path: Path) -> None:
    interrupt(weft, tmp_path)
    result = weft("resume", "r", "--json", "--workers", "3")
    whole = weft(*WHOLE, "--out", "whole")
    assert result.code == 0
    assert result.json["head"] == whole.json["head"]


def test_resume_from_another_folder_imports_what_run_toml_names(weft: Weft, tmp_path: Path) -> None:
    interrupt(weft, tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    assert weft("resume", "../r", cwd=other).code == 0


def test_resume_moved_folder_goes_on(weft: Weft, tmp_path: Path) -> None:
    interrupt(weft, tmp_path)
    (tmp_path / "far" / "away").mkdir(parents=True)
    (tmp_path / "r").rename(tmp_path / "far/away/r")
    result = weft("resume", "far/away/r", "--json")  # slow.py is found in the current folder
    assert result.json["head"] == weft(*WHOLE, "--out", "whole").json["head"]


def test_resume_moved_folder_without_its_search_says_what_to_give(
    weft: Weft, tmp_path: Path
) -> None:
    interrupt(weft, tmp_path)
    far = tmp_path / "far"
    far.mkdir()
    (tmp_path / "r").rename(far / "deep")
    (far / "deep").rename(far / "r")
    shutil.move(tmp_path / "slow.py", far / "slow.py.hidden")
    weft("resume", "far/r").check_one_line(3, "there is no module slow", "--path")
    (tmp_path / "code").mkdir()
    shutil.move(far / "slow.py.hidden", tmp_path / "code/slow.py")
    assert weft("resume", "far/r", "--path", "code").code == 0


def test_resume_copy_is_refused_unless_accepted(weft: Weft, tmp_path: Path) -> None:
    interrupt(weft, tmp_path)
    shutil.copytree(tmp_path / "r", tmp_path / "copy")
    before = without_owner(tmp_path / "copy")
    weft("resume", "copy").check_one_line(3, "is a copy", "--accept copy")
    assert without_owner(tmp_path / "copy") == before
    accepted = weft("resume", "copy", "--accept", "copy", "--json")
    original = weft("resume", "r", "--json")
    assert accepted.json["head"] == original.json["head"]
    assert accepted.json["run"] != original.json["run"]


def test_resume_older_state_is_refused_unless_accepted(weft: Weft, tmp_path: Path) -> None:
    interrupt(weft, tmp_path)
    shutil.copytree(tmp_path / "r", tmp_path / "backup")
    interrupt(weft, tmp_path, last=5)
    shutil.rmtree(tmp_path / "r")
    (tmp_path / "backup").rename(tmp_path / "r")
    weft("resume", "r").check_one_line(3, "is older than it was", "--accept rollback")
    assert weft("resume", "r", "--accept", "rollback").code == 0


def test_resume_changed_code_is_refused_unless_accepted(weft: Weft, tmp_path: Path) -> None:
    interrupt(weft, tmp_path)
    file = tmp_path / "slow.py"
    file.write_text(file.read_text() + "\n# a remark\n")
    before = without_owner(tmp_path / "r")
    for command in (["resume", "r"], ["run", "slow:slow", "--out", "r"]):
        weft(*command).check_one_line(3, "source of package 'slow'", "--accept code")
    assert {k: v for k, v in without_owner(tmp_path / "r").items() if "sqlite" not in k} == {
        k: v for k, v in before.items() if "sqlite" not in k
    }
    assert weft("resume", "r", "--accept", "code").code == 0


def test_resume_search_that_asks_for_other_tasks_diverges(weft: Weft, tmp_path: Path) -> None:
    interrupt(weft, tmp_path)
    file = tmp_path / "slow.py"
    file.write_text(file.read_text().replace("number * 10 + i", "number * 10 + i + 1"))
    result = weft("resume", "r", "--accept", "code")
    result.check_one_line(3, "replay diverged in lane /, round 0", "raise its version")


OTHER = (
    (["--seed", "1"], "seed is 0 there, 1 here"),
    (["--args", '{"rounds": 3}'], "config.args.rounds is 12 there, 3 here"),
    (["--retries", "2"], "config.retries is 0 there, 2 here"),
    (["--strict"], "config.strict is false there, true here"),
    (["--timeout", "9"], "config.timeout_s"),
    (["--budget", "tries=3"], "config.budget"),
    (["--input", "a=slow.py"], "inputs"),
)


@pytest.mark.parametrize("finished", [False, True])
def test_run_other_decision_into_a_used_folder_names_the_field(
    weft: Weft, tmp_path: Path, finished: bool
) -> None:
    interrupt(weft, tmp_path)
    if finished:
        assert weft("resume", "r").code == 0
    before = without_owner(tmp_path / "r")
    for more, field in OTHER:
        result = weft("run", "slow:slow", "--out", "r", *more)
        result.check_one_line(3, "contains a different run", field, "a new --out")
        assert without_owner(tmp_path / "r") == before, more


def test_run_changed_input_is_refused_and_resume_reads_the_copy(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"12345")
    words = ["run", "small:informed", "--input", "table=t.csv", "--budget", "tries=1"]
    first = weft(*words, "--out", "r", "--json")
    (tmp_path / "t.csv").write_bytes(b"changed")
    weft(*words, "--out", "r").check_one_line(3, "inputs.table is")
    (tmp_path / "t.csv").unlink()
    assert weft("resume", "r", "--json").json == first.json


def test_run_other_search_into_a_used_folder_is_refused(weft: Weft, tmp_path: Path) -> None:
    interrupt(weft, tmp_path)
    result = weft("run", "small:squares", "--out", "r")
    result.check_one_line(3, "contains a different run")


def test_resume_damaged_input_object_is_refused(weft: Weft, tmp_path: Path) -> None:
    interrupt(weft, tmp_path, "--input", "table=slow.py")
    [copy] = [p for p in (tmp_path / "r/objects").rglob("*") if p.is_file()]
    copy.chmod(0o644)
    copy.write_bytes(b"other")
    weft("resume", "r").check_one_line(5, "do not match its name")


def test_resume_twice_at_once_second_is_told_who_runs(weft: Weft, tmp_path: Path) -> None:
    with held_run(tmp_path) as running:
        result = weft("resume", "r")
        result.check_one_line(75, f"in use by pid {running.pid} on")


def test_interrupt_by_signal_then_resume_gives_the_same_head(weft: Weft, tmp_path: Path) -> None:
    with held_run(tmp_path) as running:
        running.send_signal(signal.SIGINT)
        out, err = running.communicate()
    Told(running.returncode, out, err).check_one_line(130, "interrupted after", "weft resume r")
    result = weft("resume", "r", "--json")
    whole = weft(*WHOLE, "--out", "whole")
    assert result.json["head"] == whole.json["head"]
    assert result.json["size"] == whole.json["size"]


def test_kill_then_resume_gives_the_same_head(weft: Weft, tmp_path: Path) -> None:
    with held_run(tmp_path) as running:
        running.kill()
        running.communicate()
    assert weft("resume", "r", "--json").json["head"] == weft(*WHOLE, "--out", "w").json["head"]
