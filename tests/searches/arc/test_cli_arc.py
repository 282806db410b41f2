"""`weft arc solve` end to end: one ledger however it is executed; bad input is refused."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.arcruns import (
    TASKS,
    TINY,
    Here,
    as_json,
    hopeless,
    named_set,
    run_tasks,
    shrunk,
    solved,
    write_tasks,
)
from tests.support.commands import COMMAND, Told
from tests.support.waiting import HANG_S, wait_until
from tests.workers.lab import arrival_order, ledger_digest, rows
from weft.model.values import canonical
from weft.searches.arc.recorded import read_run
from weft.storage.manifest import Manifest

pytestmark = pytest.mark.xdist_group("arc-runs")
Words = tuple[str, ...]
SMALL = ("--max-programs", "300", "--max-depth", "3")
NAMED = "6150a2bd"
"""A training task with grids of 3 x 3 that is solved immediately."""
PUZZLES = (solved(), hopeless(1, 3, 4), shrunk())
"""One is solved immediately; the others run search parts of every kind."""
ENOUGH = 6


def apart(*words: str | Path, **env: str) -> Told:
    """Run a command in a separate process."""
    result = subprocess.run(
        [*COMMAND, *map(str, words)],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=HANG_S,
    )
    return Told(result.returncode, result.stdout, result.stderr)


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Words:
    """The words of a command on small puzzles."""
    data = write_tasks(tmp_path_factory.mktemp("arc") / "data", PUZZLES)
    return ("arc", "solve", "--data", str(data), *SMALL)


@pytest.fixture(scope="module")
def reference(words: Words, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The serial run whose ledger all others must equal."""
    out = tmp_path_factory.mktemp("arc") / "serial"
    result = apart(*words, "--backend", "serial", "--out", out, PYTHONHASHSEED="0")
    assert result.code == 0, result
    return out


@pytest.fixture(scope="module")
def named_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of a named task from an installed set."""
    out = tmp_path_factory.mktemp("arc") / "named"
    run_tasks(out, [named_set("arc-agi-1", "training").find(NAMED)])
    return out


# -- one ledger --------------------------------------------------------------------------------


def check_parity(reference: Path, others: dict[int, Path]) -> None:
    """Check that the orders of arrival differ while tasks and ledgers are the same."""
    orders = {workers: arrival_order(out) for workers, out in others.items()}
    expected = arrival_order(reference)
    assert all(sorted(order) == sorted(expected) for order in orders.values())
    assert len({expected, *orders.values()}) > 1, "the orders of arrival did not differ"
    digest = ledger_digest(reference)
    wrong = [workers for workers, out in others.items() if ledger_digest(out) != digest]
    assert wrong == [], f"another ledger with {wrong} workers"


def test_one_ledger_for_all_workers_and_hash_seeds(
    words: Words, reference: Path, tmp_path: Path, chaos: bool
) -> None:
    """`make chaos` adds 1 and 8 workers; the next test resumes a killed run with one."""
    functions = {name for (name,) in rows(reference, "SELECT function FROM tasks")}
    parts = (
        "shallow", "tables", "firsts", "steps", "lists", "choices", "each", "view", "viewtables",
        "slice", "assemble", "omit", "guess", "examine", "conclude",
    )  # fmt: skip
    assert functions == {f"arc.{part}" for part in parts}
    others = {workers: tmp_path / str(workers) for workers in ((1, 2, 8) if chaos else (2,))}
    for workers, out in others.items():
        result = apart(*words, "--workers", str(workers), "--out", out, PYTHONHASHSEED=str(workers))
        assert result.code == 0, result
    check_parity(reference, others)


def test_killed_run_ends_with_the_same_ledger(
    words: Words, reference: Path, tmp_path: Path
) -> None:
    outs = (tmp_path / f"run{number}" for number in range(5))
    tasks = len(arrival_order(reference))
    out = next(out for out in outs if killed_midway(words, out, tasks))
    assert ledger_digest(out) != ledger_digest(reference)
    result = apart(*words, "--jobs", "1", "--out_base", out)
    assert result.code == 0, result
    assert ledger_digest(out) == ledger_digest(reference)


def killed_midway(words: Words, out: Path, tasks: int) -> bool:
    """Kill a run after some of its tasks; return False if it finished anyway."""
    command = [*COMMAND, *words, "--jobs", "2", "--out_base", str(out)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: completed(out) >= ENOUGH, "some tasks")
        process.send_signal(signal.SIGKILL)
    return completed(out) < tasks


def completed(run: Path) -> int:
    """The number of tasks that the manifest of a live run lists as completed."""
    if not (run / "manifest.sqlite").is_file():
        return 0
    db = sqlite3.connect(f"file:{run / 'manifest.sqlite'}?mode=ro", uri=True, timeout=10)
    try:
        sql = "SELECT count(*) FROM tasks WHERE state = 'completed'"
        return int(db.execute(sql).fetchone()[0])
    except sqlite3.OperationalError:  # still being created
        return 0
    finally:
        db.close()


def test_recording_in_arrival_order_is_noticed(
    tmp_path: Path, weft: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = write_tasks(tmp_path / "data", [hopeless(seed, 2, 3) for seed in range(3)])
    words = ("arc", "solve", "--data", data, *SMALL, "-q", "--without", "lists")
    weft(*words, "--backend", "serial", "--out", tmp_path / "serial")
    slices = [function for (function,) in rows(tmp_path / "serial", "SELECT function FROM tasks")]
    assert slices.count("arc.slice") >= 10, "no order to get wrong"
    in_task_order = Manifest.recorded

    def in_arrival_order(self: Manifest, first: int, end: int) -> Any:
        sql = "SELECT id, finished_at FROM tasks WHERE id >= ? AND id < ?"
        arrivals = dict(self.query(sql, first, end))
        # last arrivals first: with two workers, arrival order may equal task order
        for batch in in_task_order(self, first, end):
            yield sorted(batch, key=lambda row: -(arrivals[row[0]] or 0))

    monkeypatch.setattr(Manifest, "recorded", in_arrival_order)
    weft(*words, "--workers", "2", "--out", tmp_path / "planted")
    assert ledger_digest(tmp_path / "planted") != ledger_digest(tmp_path / "serial")


# -- one ledger wherever the tasks come from -----------------------------------------------------


def test_tasks_from_a_set_a_clone_and_files_give_one_ledger(
    named_run: Path, tmp_path: Path, weft: Here
) -> None:
    """File names make no difference: they are stored only outside the ledger."""
    task = named_set("arc-agi-1", "training").find(NAMED)
    write_tasks(tmp_path / "clone" / "data" / "training", [task])
    write_tasks(tmp_path / "mine", [type(task)("z0", task.train, task.test, task.truth)])
    challenges = {task.name: as_json(task.without_truth())}
    (tmp_path / "x_training_challenges.json").write_text(json.dumps(challenges))
    sources = {
        "set": ("arc-agi-1", NAMED),
        "clone": (tmp_path / "clone",),
        "mine": (tmp_path / "mine",),
        "file": (tmp_path / "mine" / "z0.json",),
        "challenges": (tmp_path / "x_training_challenges.json",),
    }
    for name, source in sources.items():
        out = tmp_path / f"run-{name}"
        weft("arc", "solve", "--arc_root", *source, *TINY, "-q", "--out", out)
        assert ledger_digest(out) == ledger_digest(named_run), name
    [item], [expected] = read_run(tmp_path / "run-mine").items, read_run(named_run).items
    assert (item.task.name, expected.task.name) == ("z0", NAMED)
    assert item.answer == expected.answer


# -- output --------------------------------------------------------------------------------------


def test_results_submission_and_check(
    words: Words, reference: Path, tmp_path: Path, weft: Here
) -> None:
    file = tmp_path / "submission.json"
    result = weft(*words, "--backend", "serial", "--out", reference, "--submission", file, "--json")
    assert result.code == 0
    body = result.json
    assert body["out"] == str(reference)
    assert body["outcomes"]["SOLVED"] >= 1
    names = sorted(task.name for task in PUZZLES)
    assert [r["name"] for r in body["results"]] == names
    assert {"run", "search", "status", "answer", "head", "size", "tasks", "timing_dependent"} <= (
        body.keys()
    )
    assert body["telemetry"]["programs"] > 0
    submitted = json.loads(file.read_bytes())
    assert list(submitted) == names
    assert any(
        all(
            truth.rows() in entry.values()
            for truth, entry in zip(t.truth, submitted[t.name], strict=True)
        )
        for t in PUZZLES
    )
    checked = weft("arc", "check", reference, "--json")
    assert checked.code == 0
    assert checked.json["checked"] == checked.json["exact"] > 1


def test_tampered_program_is_found(small_run: Path, tmp_path: Path, weft: Here) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(small_run, copy)
    ledger = copy / "ledger.jsonl"
    ledger.chmod(0o644)
    text = ledger.read_text()
    program = canonical("return mirror_down(I)\n")[1:-1]
    assert program in text
    ledger.write_text(text.replace(program, canonical("return mirror_right(I)\n")[1:-1]))
    result = weft("arc", "check", copy)
    assert result.code == 1
    assert "WRONG   plain: 0 of 4 pairs, and other test outputs" in result.out
    ledger.write_text(text.replace(program, canonical("return nosuch_down(I)\n")[1:-1]))
    refusal = "WRONG   plain: program, line 1: there is no operator nosuch_down in this version"
    assert refusal in weft("arc", "check", copy).out
    assert weft("verify", copy).code == 5


def test_hand_written_program_is_run_on_a_task(tmp_path: Path, weft: Here) -> None:
    file = tmp_path / "program.txt"
    file.write_text("# every cell becomes a copy\nreturn outer_filled(I)\n")
    assert weft("arc", "check", file, "007bbfb7").code == 0
    result = weft("arc", "check", file, "00d62c1b")
    assert result.code == 1
    assert "0 of 5 pairs" in result.out
    weft("arc", "check", file).check_one_line(2, "weft arc check FILE TASK")
    file.write_text("return nosuch(I)\n")
    result = weft("arc", "check", file, "007bbfb7")
    result.check_one_line(3, "line 1", "no operator nosuch", "docs/arc-language.md")


def test_nothing_solved_is_exit_code_1(tmp_path: Path, weft: Here) -> None:
    data = write_tasks(tmp_path / "data", [hopeless(0, 2, 3)])
    result = weft("arc", "solve", "--data", data, *TINY, "--out", tmp_path / "run")
    assert result.code == 1
    assert "lost" in result.out


def test_bench_counts_and_keeps_evaluation_tasks_to_itself(tmp_path: Path, weft: Here) -> None:
    write_tasks(tmp_path / "data" / "evaluation", TASKS)
    words = ("arc", "bench", "--data", tmp_path / "data", "--split", "evaluation", *TINY)
    result = weft(*words, "--out", tmp_path / "shut", "-v")
    assert result.code == 0
    assert "answered 1  right 1  wrong 0  unknown 2  of 3  precision 100.0%" in result.out
    for name in ("plain", "torn", "lost"):
        assert name not in result.out
    assert read_run(tmp_path / "shut").sealed
    body = weft(*words, "--out", tmp_path / "shut", "--json").json
    assert "results" not in body
    assert body["score"]["right"] == 1
    assert "plain" in weft(*words, "--out", tmp_path / "shut", "-v", "--reveal").out
    data = write_tasks(tmp_path / "one" / "evaluation", [hopeless(0, 2, 3)]).parent
    words = ("arc", "bench", "--data", data, "--split", "evaluation", *TINY)
    weft(*words, "--out", tmp_path / "open", "--reveal")
    assert read_run(tmp_path / "open").tags == ("evaluation",)
    result = weft("arc", "learn", tmp_path / "open", "--bank", tmp_path / "bank.json")
    result.check_one_line(3, "evaluation")


def test_classic_spellings_mean_the_same(tmp_path: Path, weft: Here, small_run: Path) -> None:
    data = write_tasks(tmp_path / "data", TASKS)
    result = weft(
        "arc", "solve", "--arc_root", data, "--jobs", "2", "--max_programs", "400", "--max_depth",
        "2", "--competitor-programs", "400", "--out_base", tmp_path / "run",
    )  # fmt: skip
    assert result.code == 0
    assert ledger_digest(tmp_path / "run") == ledger_digest(small_run)


def test_defaults_are_stated_in_help(weft: Here) -> None:
    text = " ".join(weft("arc", "solve", "--help").out.split())
    for default in ("60000", "40000", "6000", "arc-agi-1"):
        assert default in text


# -- bad input -----------------------------------------------------------------------------------


def bad_task(**changes: Any) -> str:
    return json.dumps({**as_json(solved()), **changes})


GRID = solved().train[0].input.rows()
BAD = {
    "not JSON": ("{", "x.json"),
    "no pairs": (bad_task(train=[]), "train"),
    "missing pair": (bad_task(train=[{"input": GRID}]), "output"),
    "ragged": (bad_task(train=[{"input": [[1], [1, 2]], "output": GRID}]), "row 1 has 2 cells"),
    "colour 10": (bad_task(test=[{"input": [[10]]}]), "10 is not a colour"),
    "empty grid": (bad_task(test=[{"input": []}]), "no rows"),
    "31 rows": (bad_task(test=[{"input": [[0]] * 31}]), "at most 30"),
    "wrong keys": (bad_task(tests=[]), "tests"),
    "a million cells": (bad_task(test=[{"input": [[0] * 1000] * 1000}]), "at most 30"),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_bad_data_is_refused_and_nothing_is_created(name: str, tmp_path: Path, weft: Here) -> None:
    text, message = BAD[name]
    (tmp_path / "x.json").write_text(text)
    result = weft("arc", "solve", "--data", tmp_path / "x.json", "--out", tmp_path / "run")
    result.check_one_line(3, "x.json", message)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.json"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--data", "nosuch"], 3, "arc-agi-2"),
        (["--split", "test"], 3, "training and evaluation"),
        (["nosuch"], 3, "no task 'nosuch'"),
        (["puzzle.json"], 3, "--data puzzle.json"),
        (["."], 3, "--data ."),
        (["--no-prune", "colour", "007bbfb7"], 2, "shape, palette, stage"),
        (["--max-programs", "0"], 2, "--max-programs"),
        (["--submission", "nosuch/a.json", "007bbfb7"], 3, "no folder nosuch"),
    ],
)
def test_bad_words_are_refused_and_nothing_is_created(
    words: list[str], code: int, said: str, tmp_path: Path, weft: Here
) -> None:
    result = weft("arc", "solve", *words, "--out", tmp_path / "run")
    result.check_one_line(code, said)
    assert list(tmp_path.iterdir()) == []


def test_run_of_other_tasks_is_refused(small_run: Path, tmp_path: Path, weft: Here) -> None:
    data = write_tasks(tmp_path / "data", [solved()])
    before = ledger_digest(small_run)
    result = weft("arc", "solve", "--data", data, *TINY, "--out", small_run, "-q")
    result.check_one_line(3, "contains a different run")
    assert ledger_digest(small_run) == before


def test_task_twice_in_a_set_is_searched_once(tmp_path: Path) -> None:
    twin = type(solved())("twin", solved().train, solved().test, solved().truth)
    run = run_tasks(tmp_path / "run", [solved(), twin])
    assert run.completed == run_tasks(tmp_path / "one", [solved()]).completed
