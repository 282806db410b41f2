"""`weft.load`: a run in every state, its results as rows and frames, and its methods."""

from __future__ import annotations

import csv
import hashlib
import json
import subprocess
import sys
import tracemalloc
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import weft
from tests.inspect.runs import copy_of
from tests.support.modules import ModuleFolder
from weft.errors import Damaged, InputError, RunFolderInvalid, RunLocked, UsageError
from weft.inspect.listing import list_runs
from weft.inspect.results import read_results
from weft.inspect.status import status
from weft.storage.folder import RunFolder

SEARCH = """
@weft.task
def work(x: int, name: str = "a"):
    weft.note(half=x / 2)
    if x == 3:
        raise ValueError("no")
    return {"y": x * x, "third": x / 3, "big": 2**70 if x == 1 else x}

@weft.task
def pair(x: int):
    return [x, x + 1]

def branch(n):
    results = yield [work(x) for x in range(n)]
    return sum(r.value["y"] for r in results if r.ok)

@weft.search(version=1)
def table(n: int = 5):
    sums = yield weft.lanes({"b": branch(n), "a": branch(2)})
    yield [pair(x) for x in range(3)]
    return sums

@weft.task
def plain(x: int):
    return x

@weft.search(version=1)
def many(n: int):
    yield weft.lazy(n, plain)
    return n
"""


STORED = """
@weft.task
def store(size: int) -> weft.Object:
    return weft.put(b"x" * size)

@weft.search(version=1)
def stored(size: int):
    results = yield [store(size)]
    return {"object": [results[0].value], "content": b"y" * size}
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    folder = ModuleFolder(tmp_path_factory.mktemp("code"))
    yield folder
    folder.close()


@pytest.fixture(scope="module")
def searches(modules):
    return modules.write(SEARCH)


@pytest.fixture(scope="module")
def tabled(tmp_path_factory, searches) -> Path:
    out = tmp_path_factory.mktemp("tabled") / "run"
    weft.run(searches.table(n=5), out=out, workers=2, seed=4)
    return out


def ledger_results(run: Path) -> list[dict]:
    lines = (run / "ledger.jsonl").read_text().splitlines()
    return [record["body"] for line in lines if (record := json.loads(line))["kind"] == "result"]


def test_loaded_run_is_what_weft_run_returned(tmp_path: Path, searches) -> None:
    finished = weft.run(searches.table(n=4), out=tmp_path / "run", seed=9)
    loaded = weft.load(tmp_path / "run")
    assert loaded == finished
    assert isinstance(finished, weft.Run)
    assert (loaded.state, loaded.status, loaded.exit_code) == ("finished", "answered", 0)
    assert (loaded.args, loaded.seed, loaded.answer) == ({"n": 4}, 9, [5, 1])
    assert loaded.verify().root == loaded.head
    assert loaded.report(tmp_path / "page.html").read_text("utf-8").startswith("<!doctype html>")
    assert loaded.resume() == loaded
    assert loaded.to_dict()["state"] == "finished"


def test_answer_with_objects_and_large_values_has_a_json_form(tmp_path: Path, modules) -> None:
    finished = weft.run(modules.write(STORED).stored(size=100_000), out=tmp_path / "run")
    [answer] = finished.answer["object"]
    assert finished.read(answer) == b"x" * 100_000
    for run in (finished, weft.load(tmp_path / "run")):
        facts = json.loads(json.dumps(run.to_dict()))
        named = {"object": [{"$o": answer.digest}], "content": "100000 bytes"}
        assert facts["answer"] == named
        assert answer.digest in run._repr_html_()


def test_results_are_those_of_the_ledger_in_its_order(tabled: Path) -> None:
    recorded = ledger_results(tabled)
    rows = weft.load(tabled).results()
    assert len(rows) == len(recorded) == 10
    places = [(row.lane, row.round, row.index) for row in rows]
    assert places == [(body["lane"], body["round"], body["index"]) for body in recorded]
    assert [row.state for row in rows] == [
        "failed" if "error" in b else "completed" for b in recorded
    ]
    assert rows[0].notes == {"half": 0.0}
    assert rows[-1].value == [2, 3]
    assert [row.key for row in rows[2:5]] == [rows[i].key for i in (2, 3, 4)]
    with pytest.raises(IndexError):
        rows[10]


def test_results_are_selected_by_lane_and_round(tabled: Path) -> None:
    run = weft.load(tabled)
    assert [row.lane for row in run.results("a")] == ["/a", "/a"]
    assert [row.function.partition(":")[2] for row in run.results("/", round=1)] == ["pair"] * 3
    assert list(run.results(lane="none")) == []


def test_results_without_manifest_come_from_the_ledger(tabled: Path, tmp_path: Path) -> None:
    run = copy_of(tabled, tmp_path / "run")
    (run / "manifest.sqlite").unlink()
    loaded, whole = weft.load(run), weft.load(tabled)
    assert (loaded.state, loaded.answer, loaded.args) == ("finished", whole.answer, {"n": 5})
    same = [(a.key, a.outcome_text) for a in loaded.results()]
    assert same == [(b.key, b.outcome_text) for b in whole.results()]
    assert loaded.results()[3].how.run_s is None
    frame = loaded.results().to_frame("polars")
    assert frame["attempts"].null_count() == 10


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frame_has_typed_columns(tabled: Path, kind: str) -> None:
    pytest.importorskip(kind)
    frame = weft.load(tabled).results().to_frame(kind)
    names = list(frame.columns)
    assert names[:8] == ["lane", "round", "index", "key", "function", "state", "arg.name", "arg.x"]
    assert names[8:12] == ["value.big", "value.third", "value.y", "value"]
    assert names[12:15] == ["error", "error.stage", "exit_code"]
    assert names[-1] == "note.half"
    columns = {name: list(frame[name]) for name in names}
    assert columns["value.big"][1] == str(2**70)
    assert columns["value.y"][:3] == [0, 1, 4]
    assert columns["value.third"][1] == 1 / 3
    assert columns["error"][3] == "exception"
    assert columns["value"][-1] == "[2,3]"
    assert all(at.tzinfo is not None for at in columns["finished_at"])
    assert "int" in str(frame["arg.x"].dtype).lower()


def test_frame_of_no_results_has_the_fixed_columns(tabled: Path) -> None:
    frame = weft.load(tabled).results("none").to_frame("polars")
    assert frame.shape == (0, 15)
    with pytest.raises(UsageError, match="'excel'"):
        weft.load(tabled).results().to_frame("excel")


def test_missing_package_is_one_line_with_the_command(tabled: Path) -> None:
    code = (
        "import sys, weft\n"
        "sys.modules['pandas'] = sys.modules['polars'] = sys.modules['pyarrow'] = None\n"
        f"rows = weft.load({str(tabled)!r}).results()\n"
        "for call in (rows.to_frame, lambda: rows.to_parquet('x.parquet')):\n"
        "    try: call()\n"
        "    except weft.WeftError as error: print(error)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    lines = result.stdout.splitlines()
    assert lines == [
        "a data frame needs pandas or polars; pip install pandas",
        "Parquet needs pyarrow or polars; pip install pyarrow",
    ]


def test_iterating_results_keeps_memory_flat(tmp_path: Path, searches) -> None:
    peaks = []
    for count in (4_000, 12_000):
        run = weft.run(searches.many(count), out=tmp_path / str(count), workers=2)
        sum(1 for _ in run.results())  # warm-up
        tracemalloc.start()
        assert sum(row.value for row in run.results()) == count * (count - 1) // 2
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0], peaks


def test_interrupted_run_shows_what_it_has_and_is_resumed(snapshots, tmp_path: Path) -> None:
    run = copy_of(snapshots[len(snapshots) // 2], tmp_path / "run")
    before = hashlib.sha256((run / "ledger.jsonl").read_bytes()).hexdigest()
    loaded = weft.load(run)
    assert (loaded.state, loaded.status, loaded.exit_code) == ("interrupted", "interrupted", 130)
    assert loaded.answer is None
    assert 0 < len(loaded.results()) == loaded.completed + loaded.failed
    assert hashlib.sha256((run / "ledger.jsonl").read_bytes()).hexdigest() == before
    finished = loaded.resume(accept=["copy"])
    assert finished.state == "finished"


def test_run_repr_is_one_line_with_its_outcome() -> None:
    answer = {"x": [1, np.arange(3)]}
    run = weft.Run("id", "m:s", Path("r"), answer, "", 9, 3, 1, timing_dependent=False)
    assert (
        repr(run) == '<Run r of m:s: answer {"x": [1, "array int64 (3,)"]}; 3 completed, 1 failed>'
    )
    assert repr(replace(run, answer="a" * 999)).startswith(f'<Run r of m:s: answer "{"a" * 119}…; ')
    unknown = replace(run, answer=weft.Unknown("ambiguous", [1, 2]))
    assert repr(unknown) == "<Run r of m:s: unknown, ambiguous; 3 completed, 1 failed>"
    stopped = replace(run, answer=None, state="interrupted")
    assert repr(stopped) == "<Run r of m:s: interrupted; 3 completed, 1 failed>"


def test_running_run_is_loaded_and_not_resumed(snapshots, tmp_path: Path) -> None:
    run = copy_of(snapshots[-2], tmp_path / "run")
    with RunFolder(run).locked("here"):
        loaded = weft.load(run)
        assert loaded.state == "running"
        with pytest.raises(RunLocked):
            loaded.resume()


def test_damaged_run_raises_as_verify_does(tabled: Path, tmp_path: Path) -> None:
    run = copy_of(tabled, tmp_path / "run")
    loaded = weft.load(run)
    for name in ("ledger.jsonl", "manifest.sqlite"):
        (run / name).chmod(0o644)
    ledger = run / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes().replace(b'"y":4}', b'"y":5}', 1))
    with pytest.raises(Damaged):
        loaded.verify()
    (run / "manifest.sqlite").write_bytes(b"not a database" * 100)
    with pytest.raises(Damaged):
        weft.load(run)
    with pytest.raises(RunFolderInvalid, match="not a run folder"):
        weft.load(tmp_path)


def test_sealed_run_is_not_tabulated(tabled: Path, tmp_path: Path) -> None:
    run = copy_of(tabled, tmp_path / "run")
    toml = run / "run.toml"
    toml.write_text(toml.read_text().replace("[execution]", '[execution]\ntags = ["sealed-views"]'))
    with pytest.raises(InputError, match="sealed"):
        read_results(run).to_csv(tmp_path / "rows.csv")
    assert not (tmp_path / "rows.csv").exists()


def test_retry_failed_in_python_returns_a_loaded_run(tabled: Path, tmp_path: Path) -> None:
    retried = weft.load(tabled).retry_failed(out=tmp_path / "again")
    assert (retried.state, retried.failed, retried.answer) == ("finished", 1, [21, 1])
    assert sum(row.how.node == "reused" for row in retried.results()) == 9


def test_cells_are_plain_values_and_text_of_any_depth(tmp_path: Path, modules) -> None:
    module = modules.write("""
        @weft.task
        def odd(x: int):
            cases = [{"$a": 1.5}, {"list": [0.5, {"z": 2**80}]}, weft.put(b"x"), 2**20000, None]
            return cases[x]

        @weft.search(version=1)
        def oddities():
            yield [odd(x) for x in range(5)]
    """)
    run = weft.run(module.oddities(), out=tmp_path / "run")
    frame = run.results().to_frame("polars")
    assert frame["value.$a"].to_list() == [1.5, None, None, None, None]
    values = frame["value"].to_list()
    assert values[1] == f'{{"list":[0.5,{{"z":{2**80}}}]}}'
    assert values[2].startswith('{"$o":"')
    assert values[3].startswith('{"$i":"0x1000')
    assert values[4] is None


@dataclass(frozen=True)
class Fit:
    """A result with fields."""

    slope: float
    data: bytes


@weft.task
def fitted(x: int) -> Fit:
    return Fit(x / 2, bytes(x))


@weft.search(version=1)
def fits(count: int):
    yield weft.Plan(best="max", key="slope")
    results = yield [fitted(x) for x in range(count)]
    return results[-1].value.slope


def test_typed_values_are_readable_in_tables_lists_and_progress(tmp_path: Path) -> None:
    run = weft.run(fits(4), out=tmp_path / "run", workers=2)
    with run.results().to_csv(tmp_path / "table.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["value.slope"], row["value.data"]) for row in rows][2:] == [
        ("1.0", "2 bytes"),
        ("1.5", "3 bytes"),
    ]
    [entry] = list_runs(tmp_path)
    assert entry.answer == "1.5"
    assert status(run.out).progress.best == 1.5
