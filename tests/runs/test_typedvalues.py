"""Typed values in real runs: one ledger however it was executed, and the same types on replay."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import weft
from tests.support.waiting import HANG_S
from weft.errors import InputError, Interrupted, ObjectDamaged, SearchInvalid
from weft.inspect.explain import explain
from weft.inspect.replay import replay
from weft.inspect.verify import verify
from weft.runs import world
from weft.runs.resume import resume
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.heads import HeadsList

SEARCH = """
import os, signal
from dataclasses import dataclass
from pathlib import Path
import numpy as np

@dataclass(frozen=True)
class Fit:
    name: str
    error: float
    weights: np.ndarray
    parents: tuple[str, ...] = ()

@weft.task
def fit(data: np.ndarray, start: Fit, raw: bytes, number: int, *, seed: int) -> Fit:
    assert type(start) is Fit and type(raw) is bytes and type(data) is np.ndarray
    trap = os.environ.get("WEFT_TEST_TRAP")
    if trap and number == 5 and not Path(trap).exists():
        Path(trap).touch()
        os.kill(os.getppid(), signal.SIGKILL)
    weights = np.asfortranarray(data * number + start.weights + seed % 5)
    return Fit(f"n{number}", np.float32(weights[0].sum()), weights, (*start.parents, start.name))

@weft.task
def frames(fits: list[Fit]) -> dict:
    import pandas as pd, polars as pl, pyarrow as pa
    errors = [f.error for f in fits]
    return {
        "pandas": pd.DataFrame({"e": errors, "t": [f.name for f in fits]}, index=[9, 8]),
        "polars": pl.DataFrame({"e": errors, "c": pl.Series(["u", "v"], dtype=pl.Categorical)}),
        "arrow": pa.table({"e": errors, "n": [None, 1]}),
        "bytes": [bytearray(b"small"), bytes(5000)],
        "series": pd.Series(errors, name="e"),
    }

@weft.task
def count(tables: dict, nan: np.ndarray) -> list:
    assert np.isnan(nan).all()
    return [type(tables[k]).__module__.partition(".")[0] for k in ("pandas", "polars", "arrow")]

@weft.search(version=1)
def search(start: Fit, data: np.ndarray, rounds: int, raw: bytes):
    assert (type(start), type(data), type(rounds)) == (Fit, np.ndarray, int)
    best = start
    for _ in range(rounds):
        results = yield [fit(data, best, raw, number) for number in range(8)]
        assert all(type(r.value) is Fit and r.value.weights.flags.f_contiguous for r in results)
        assert type(results[0].args["start"]) is Fit
        best = max((r.value for r in results), key=lambda f: (f.error, f.name))
        assert type(best.error) is float and type(best.parents) is tuple
    lazy = yield weft.lazy(3, lambda i: fit(data[:2, :2], Fit("z", 0.0, np.zeros((2, 2))), raw, i))
    assert [type(r.value) for r in lazy] == [Fit] * 3
    [made] = yield [frames([best, start])]
    [counted] = yield [count(made.value, np.full(3, np.nan))]
    return {"kinds": counted.value, "weights": best.weights, "table": made.value["pandas"]}
"""
MAIN = """
if __name__ == "__main__":
    import sys
    start = Fit("start", 0.5, np.ones((40, 40)))
    call = search(start, np.arange(1600.0).reshape(40, 40), np.int64(2), b"raw")
    weft.run(call, out=sys.argv[1], workers=2, seed=3)
"""


def ledger(run: Path) -> str:
    return hashlib.sha256((run / "ledger.jsonl").read_bytes()).hexdigest()


@pytest.fixture
def lab(modules):
    return modules.write(SEARCH + MAIN, "typedlab")


def call(lab):
    start = lab.Fit("start", 0.5, np.ones((40, 40)))
    return lab.search(start, np.arange(1600.0).reshape(40, 40), np.int64(2), b"raw")


def script(lab, run, **environment):
    command = [sys.executable, lab.__file__, str(run)]
    return subprocess.run(command, env={**os.environ, **environment}, check=False, timeout=HANG_S)


def test_ledger_is_one_for_any_workers_hash_seed_kill_and_resume(lab, modules, tmp_path):
    first = weft.run(call(lab), out=tmp_path / "serial", backend="serial", seed=3)
    head = ledger(tmp_path / "serial")
    weft.run(call(lab), out=tmp_path / "8", workers=8, seed=3)
    assert ledger(tmp_path / "8") == head
    # run as a script with two workers, its classes are those of __main__
    trap = {"WEFT_TEST_TRAP": str(tmp_path / "trap")}
    killed = script(lab, tmp_path / "killed", PYTHONHASHSEED="0", **trap)
    assert killed.returncode == -signal.SIGKILL
    assert not RunFolder(tmp_path / "killed").is_finished()
    assert script(lab, tmp_path / "killed", PYTHONHASHSEED="77", **trap).returncode == 0
    assert ledger(tmp_path / "killed") == head

    resumed = resume(tmp_path / "killed", path=modules.path)
    assert resumed.answer["kinds"] == ["pandas", "polars", "pyarrow"]
    assert resumed.answer["weights"].shape == (40, 40)
    pd.testing.assert_frame_equal(resumed.answer["table"], first.answer["table"])
    assert verify(tmp_path / "killed", heads()).objects > 10


def heads():
    return HeadsList(world.heads_folder(), Disk())


# -- what people see ----------------------------------------------------------------------------


@pytest.fixture
def small(modules):
    return modules.write(
        """
        from dataclasses import dataclass
        import numpy as np

        @dataclass
        class Point:
            x: int
            y: np.ndarray | None = None

        @weft.task
        def bare(x: int):
            return Point(x)

        @weft.task
        def nan(x: int) -> float:
            return np.float64("nan")

        @weft.task
        def takes(p, big: np.ndarray | None = None) -> float:
            return 0.5

        @weft.task(name="lab.point")
        def point(x: int, big: np.ndarray | None = None) -> Point:
            return Point(x, np.zeros(2000) + x)

        far = weft.reference("lab.point", __name__ + ":point")

        @weft.search(version=1)
        def one(kind: str, big=None):
            calls = {
                "bare": lambda: bare(1), "nan": lambda: nan(1), "takes": lambda: takes(Point(1)),
                "point": lambda: point(1, big), "far": lambda: far(x=1, big=big),
            }
            [r] = yield [calls[kind]()]
            if not r.ok:
                return weft.Unknown("failed", [r.error.type, np.arange(2)])
            assert type(r.value) is Point
            return [r.value.x, r.value.y]

        @weft.search(version=1)
        def answer():
            yield []
            return Point(1)

        @weft.search(version=1)
        def lanes():
            got = yield weft.lanes({"a": one("point"), "b": one("nan")})
            assert type(got[0][1]) is np.ndarray and type(got[1].detail[1]) is np.ndarray
            return got[0]
        """
    )


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("bare", "value at $: a dataclass 'Point', which no annotation names; annotate it"),
        ("nan", "nan is not a JSON number; return None or a str in its place; inside a NumPy"),
    ],
)
def test_result_without_a_form_fails_with_a_line_that_says_how(small, tmp_path, kind, words):
    run = weft.run(small.one(kind), out=tmp_path / "run", workers=1)
    assert run.answer.detail[0] == "result-invalid"
    assert run.answer.detail[1].tolist() == [0, 1]
    assert words in explain(tmp_path / "run", ":0:0").attempts[0].detail


def test_argument_without_an_annotation_is_refused_where_it_is_passed(small, tmp_path):
    words = (
        "task 0 of round 0 .*takes: value at ..p: a dataclass 'Point', which no annotation names"
    )
    with pytest.raises(SearchInvalid, match=words):
        weft.run(small.one("takes"), out=tmp_path / "run", workers=1)
    with pytest.raises(SearchInvalid, match=r"arguments of search .*'Point', which no annotation"):
        weft.run(small.one("point", small.Point(1)), out=tmp_path / "other", workers=1)
    assert not (tmp_path / "other").exists()


def test_answer_with_a_dataclass_is_refused_with_the_way_out(small, tmp_path):
    with pytest.raises(InputError, match="asdict"):
        weft.run(small.answer(), out=tmp_path / "run", workers=1)


def test_lanes_and_references_get_typed_values(small, tmp_path):
    run = weft.run(small.lanes(), out=tmp_path / "lanes", workers=2)
    assert (run.answer[0], run.answer[1].shape) == (1, (2000,))
    big = np.arange(3000.0)
    direct = weft.run(small.one("point", big), out=tmp_path / "direct", workers=1)
    assert direct.answer[1].tolist() == [1.0] * 2000
    weft.run(small.one("far", big), out=tmp_path / "far", workers=1)
    assert (direct.results()[0].args["big"] == big).all()
    assert type(direct.results()[0].value) is small.Point
    assert replay(tmp_path / "far", path=Path(small.__file__).parent, workers=1).equal


def test_results_of_a_run_whose_module_is_not_loaded_are_dicts(small, modules, tmp_path):
    weft.run(small.one("point"), out=tmp_path / "run", workers=1)
    code = (
        "import sys; import weft; before = len(sys.path);"
        f"r = weft.load({str(tmp_path / 'run')!r}).results()[0];"
        f"assert type(r.value) is dict and r.value['x'] == 1; assert {small.__name__!r} not in"
        " sys.modules; print(r.value['y'].shape)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=HANG_S
    )
    assert (result.stdout, result.stderr) == ("(2000,)\n", "")


def test_damaged_array_is_found_by_verify_and_by_whoever_reads_it(small, tmp_path):
    run = weft.run(small.one("point"), out=tmp_path / "run", workers=1)
    [digest] = {path.parent.name + path.name for path in (tmp_path / "run/objects").rglob("*/*")}
    path = tmp_path / "run" / "objects" / digest[:2] / digest[2:]
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(ObjectDamaged, match="named by record 1"):
        verify(tmp_path / "run", heads())
    with pytest.raises(ObjectDamaged):
        _ = run.results()[0].value


def test_table_among_the_arguments_binds_its_writers_version(modules, tmp_path):
    lab = modules.write(
        """
        @weft.task
        def rows(t) -> int:
            return t.num_rows

        @weft.search(version=1)
        def size(t, n: int):
            [r] = yield [rows(t)]
            return r.value + n
        """
    )
    table = pa.table({"a": range(2000)})
    run = weft.run(lab.size(table, np.int64(1)), out=tmp_path / "run", workers=1)
    assert run.answer == 2001
    first = (tmp_path / "run" / "ledger.jsonl").read_text().partition("\n")[0]
    assert f'"libraries":{{"pyarrow":"{pa.__version__}"}}' in first
    assert weft.run(lab.size(table, 1), out=tmp_path / "run").head == run.head, "1 is numpy's 1"
    described = r"config\.args\.t is pyarrow.* of SHA-256 \w{12}… there, pyarrow.* here; use"
    with pytest.raises(InputError, match=rf"contains a different run: {described}"):
        weft.run(lab.size(table.slice(1), 1), out=tmp_path / "run")


# -- without the libraries ----------------------------------------------------------------------

BLOCKED = "raise ModuleNotFoundError(f'No module named {__name__!r}', name=__name__)\n"


@pytest.fixture
def without(tmp_path):
    """An environment in which none of the libraries can be imported."""
    folder = tmp_path / "blocked"
    for name in ("numpy", "pandas", "polars", "pyarrow"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text(BLOCKED)
    return {**os.environ, "PYTHONPATH": str(folder)}


def python(code, environment, folder):
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, check=False,
        timeout=HANG_S,
    )  # fmt: skip


def test_plain_search_runs_without_numpy_and_imports_none_of_it(without, tmp_path):
    (tmp_path / "plain.py").write_text(
        "import weft\n@weft.task\ndef f(x):\n    return [x, 0.5, b'raw']\n"
        "@weft.search(version=1)\ndef s(n):\n    r = yield [f(i) for i in range(n)]\n"
        "    return [x.value for x in r]\n"
    )
    code = "import sys, weft, plain; print(weft.run(plain.s(2), out='run', workers=1).answer);"
    result = python(f"{code} assert 'numpy' not in sys.modules", without, tmp_path)
    assert (result.stdout, result.stderr) == ("[[0, 0.5, b'raw'], [1, 0.5, b'raw']]\n", "")


def test_stored_array_without_numpy_is_one_line(without, tmp_path):
    (tmp_path / "make.py").write_text(
        "import weft, numpy as np\n"
        "@weft.task\ndef f(x):\n    return np.zeros(3)\n"
        "@weft.search(version=1)\ndef s():\n    r = yield [f(1)]\n    return r[0].ok\n"
    )
    program = "import weft, make; print(weft.run(make.s(), out='run', workers=1).answer)"
    assert python(program, dict(os.environ), tmp_path).stdout == "True\n"
    read = (
        "from weft import WeftError, load\n"
        "try: load('run').results()[0].value\n"
        "except WeftError as error: print(error)"
    )
    line = "a stored numpy.ndarray needs numpy, which is not installed; pip install numpy\n"
    assert python(read, without, tmp_path).stdout == line


def test_worker_that_cannot_read_an_argument_stops_the_run_in_one_line(modules, tmp_path):
    lab = modules.write(
        """
        from weft.model.leaves import Typed

        @weft.task
        def f(x) -> int:
            return 1

        @weft.search(version=1)
        def s():
            r = yield [f(Typed("numpy.ndarray", "float64 (9,)", b"not npy"))]
            return r[0].value
        """
    )
    with pytest.raises(Interrupted, match=r"not an array in .npy format.*weft resume") as stop:
        weft.run(lab.s(), out=tmp_path / "run", workers=1)
    assert "\n" not in str(stop.value)
